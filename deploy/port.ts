/** Checks a port before anything is started, so that a busy one is one line and not a platform's stack trace. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { CliError } from './cli-error.ts'

/** The same port when 127.0.0.1 can listen on it, a free one for 0. Throws `CliError` when it cannot. */
export async function freePort(port: number): Promise<number> {
  const server = createServer()
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') throw busyPort(port)
    throw new CliError(`cannot listen on port ${port} (${code}): pass another --port`)
  }
  const { port: free } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return free
}

export function busyPort(port: number): CliError {
  return new CliError(`port ${port} is in use: stop what listens there or pass another --port`)
}

/** Run by `mayfly dev`: `host.ts <bundle> <entry>` serves a server on `PORT` of 127.0.0.1 until a signal ends it. */

import { pathToFileURL } from 'node:url'
import { type FetchServer, serve } from '../../../adapters/node.ts'
import { noFetch } from '../../project/entry.ts'
import { whatToWrite } from '../../project/not-a-server.ts'
import { defaultOf } from '../../run/default-export.ts'
import { loadReason } from '../../run/load-reason.ts'

// Makes stack traces refer to the user's own files.
process.setSourceMapsEnabled(true)

const [, , bundle = '', entry = ''] = process.argv
const running = await serve(await load(), { port: Number(process.env.PORT) }).catch((error: unknown) =>
  end(loadReason(error)),
)
const stop = (): void => void running.close().then(() => process.exit(0))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)

/** Ends this process with a one-line message if there is no server to serve. */
async function load(): Promise<FetchServer> {
  try {
    const server = defaultOf((await import(pathToFileURL(bundle).href)) as { default?: unknown })
    if (isFetchServer(server)) return server
    return end(`TypeError: ${noFetch(entry, whatToWrite(server)).message}`)
  } catch (error) {
    return end(loadReason(error))
  }
}

function end(reason: string): never {
  process.stderr.write(`${reason}\n`)
  process.exit(1)
}

function isFetchServer(value: unknown): value is FetchServer {
  return typeof value === 'object' && value !== null && 'fetch' in value && typeof value.fetch === 'function'
}

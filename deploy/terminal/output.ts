/** stdout and stderr: whether everything that was written has arrived. */
import { setTimeout as delay, setImmediate } from 'node:timers/promises'

export interface OutputFailure {
  readonly stream: NodeJS.WriteStream
  readonly error: NodeJS.ErrnoException
}

/** A stderr that nobody reads must not keep the process. */
const STDERR_MS = 1000
const POLL_MS = 5

let failure: OutputFailure | undefined

/** Calls `onFailure` each time that something cannot be written. */
export function watchOutput(onFailure: () => void): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      failure ??= { stream, error }
      onFailure()
    })
}

/** Waits until all output has arrived or failed, and returns the first failure. */
export async function flushOutput(): Promise<OutputFailure | undefined> {
  await flush(process.stdout)
  await Promise.race([flush(process.stderr), delay(STDERR_MS)])
  return failure
}

/** Writes nothing: a server that this process started may be using the same stream. */
async function flush(stream: NodeJS.WriteStream): Promise<void> {
  while (stream.writableLength > 0 && failure?.stream !== stream) await delay(POLL_MS)
  // An error is emitted after the write.
  await setImmediate()
}

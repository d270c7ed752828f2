/** Reserves stdout for protocol messages: other output of the process goes to stderr. */
import { Writable } from 'node:stream'

export interface DivertedStdout {
  /** Writes to the real stdout. */
  readonly output: Writable
  /** Restores stdout. */
  restore(): void
}

type Replaced = Partial<Record<'write' | 'end' | 'destroy' | 'destroySoon' | 'cork' | 'uncork', unknown>>

/** Streams that are diverted. */
const diverted = new WeakMap<object, true>()

/**
 * Diverts `process.stdout`, and with it `console`, to stderr. Throws if it is already diverted. Does not divert writes to the file
 * descriptor itself: `fs.writeSync(1, …)`, or a child process with `stdio: 'inherit'`.
 */
export function divertStdout(): DivertedStdout {
  const { stdout, stderr } = process
  if (diverted.has(stdout)) {
    throw new Error(
      'This process already serves a client over stdin and stdout: close that connection first.',
    )
  }
  diverted.set(stdout, true)
  const write = stdout.write.bind(stdout)
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      write(chunk, done)
    },
  })
  const toStderr = (...args: Parameters<typeof stderr.write>): boolean => {
    const hasRoom = stderr.write(...args)
    // Writers wait for `drain` of stdout.
    if (!hasRoom) stderr.once('drain', () => stdout.emit('drain'))
    return hasRoom
  }
  const stay = (): typeof stdout => stdout
  const replaced: Replaced = {
    write: toStderr,
    // The real `end` would also end the client's stream.
    end: (...args: unknown[]) => {
      if (typeof args[0] !== 'function' && args[0] !== undefined) {
        toStderr(...(args as Parameters<typeof stderr.write>))
      } else if (typeof args[0] === 'function') args[0]()
      return stdout
    },
    destroy: stay,
    destroySoon: stay,
    cork: stay,
    uncork: stay,
  }
  const before = Object.keys(replaced).map(
    (name) => [name, Object.getOwnPropertyDescriptor(stdout, name)] as const,
  )
  Object.assign(stdout, replaced)
  // `output` reports a client that has disconnected.
  stdout.off('error', ignore).on('error', ignore)
  return {
    output,
    restore: () => {
      diverted.delete(stdout)
      for (const [name, descriptor] of before) {
        delete (stdout as Replaced)[name as keyof Replaced]
        if (descriptor !== undefined) Object.defineProperty(stdout, name, descriptor)
      }
    },
  }
}

function ignore(): void {}

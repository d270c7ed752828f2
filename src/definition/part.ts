/**
 * Parts of the server that most calls never touch, each a module that is loaded at its first use: its `load` has one literal
 * `import()`, so that bundlers split there. test/_parts.ts lists them all.
 */
import { textOf } from './error-text.ts'
import { ANSWER_TIMEOUT_MS, withTimeout } from './timeout.ts'

/** Imports a part. A function of a module, since the part is remembered by it. */
export type LoadPart<Part extends object> = () => Promise<Part>

/**
 * A part that could not be loaded. The client gets `-32603`, and the operator this message. The next use loads it again; Node 20 remembers a
 * failure until it is restarted, Node 22 that of a file which the part imports.
 */
export class PartError extends Error {
  override readonly name = 'PartError'
}

/**
 * The loaded modules, never their promises: on workerd, a promise of one request must not be awaited by another, and a failure would
 * last.
 */
const loaded = new WeakMap<LoadPart<object>, object>()

/** The part, or a promise of it at its first use. @throws PartError after 10 seconds, or if its file is missing. */
export function part<Part extends object>(load: LoadPart<Part>): Part | Promise<Part> {
  return (loaded.get(load) as Part | undefined) ?? loadNow(load)
}

/** Uses a part: at once if it is loaded, so that nothing is later than it was without parts. @throws PartError as `part`. */
export function withPart<Part extends object, Result>(
  load: LoadPart<Part>,
  use: (part: Part) => Result | Promise<Result>,
): Result | Promise<Result> {
  const known = part(load)
  return known instanceof Promise ? known.then(use) : use(known)
}

async function loadNow<Part extends object>(load: LoadPart<Part>): Promise<Part> {
  try {
    const imported = await withTimeout(load(), ANSWER_TIMEOUT_MS, 'module')
    loaded.set(load, imported)
    return imported
  } catch (cause) {
    throw new PartError(
      `A part of Mayfly could not be loaded: ${textOf(cause)}. Deploy all files of the bundle beside each other, and restart the server.`,
      { cause },
    )
  }
}

/** Work that other threads do for this one: digests, signatures, keys. It takes any number of turns of the event loop. */
const THREAD = Symbol.for('mayfly.test.outside')

/** A promise may have to settle in each before the next digest begins. */
const QUIET_TURNS = 10

interface Outside {
  count: number
  /** Node's, which a test may replace. */
  readonly immediate: typeof setImmediate
}

type Work = (...given: unknown[]) => Promise<unknown>

const global = globalThis as { [THREAD]?: Outside }
global[THREAD] ??= countOutside()
const outside = global[THREAD]

/** Resolves when no other thread works for this one. */
export async function settled(): Promise<void> {
  for (let quiet = 0; quiet < QUIET_TURNS; quiet = outside.count > 0 ? 0 : quiet + 1)
    await new Promise((resolve) => outside.immediate(resolve))
}

function countOutside(): Outside {
  const counted: Outside = { count: 0, immediate: setImmediate }
  const done = (): void => void counted.count--
  const subtle = SubtleCrypto.prototype as unknown as { [name: string]: Work }
  for (const name of Object.getOwnPropertyNames(subtle)) {
    const { value, ...descriptor } = Object.getOwnPropertyDescriptor(subtle, name)!
    if (name === 'constructor' || typeof value !== 'function') continue
    const counting = function (this: unknown, ...given: unknown[]): unknown {
      const work: unknown = (value as Work).apply(this, given)
      if (work instanceof Promise) {
        counted.count++
        work.then(done, done)
      }
      return work
    }
    Object.defineProperty(subtle, name, { ...descriptor, value: counting })
  }
  return counted
}

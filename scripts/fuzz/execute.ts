/**
 * Runs one input of one target, with the promises that hold for all of them: it ends, soon, and nothing is left behind.
 */
import { type Input, promise, type Target } from './target.ts'

/** Milliseconds after which nothing more is waited for. */
const HANG_MS = 10_000

/** Milliseconds of the processor's time: how busy the machine is besides does not count. */
const MAX_CPU_MS = 1000

/** What a polluted prototype would have more of. */
const PROTOTYPES = [Object.prototype, Array.prototype, Function.prototype, String.prototype]
const MEMBERS = PROTOTYPES.map((prototype) => Reflect.ownKeys(prototype).length)

/** What came of it. @throws what the target throws; Finding where it takes too long, or leaves something behind. */
export async function execute(target: Target, input: Input): Promise<string> {
  const before = process.cpuUsage()
  const work = target.run(input)
  const outcome = work instanceof Promise ? await withinTime(work) : work
  const { user, system } = process.cpuUsage(before)
  const tookMs = (user + system) / 1000
  promise(tookMs < MAX_CPU_MS, `it took ${Math.round(tookMs)} ms of the processor's time`)
  PROTOTYPES.forEach((prototype, index) => {
    promise(Reflect.ownKeys(prototype).length === MEMBERS[index], 'a prototype is polluted')
  })
  return outcome
}

/** What came of it, or the finding. */
export async function tryOut(target: Target, input: Input): Promise<string | Error> {
  try {
    return await execute(target, input)
  } catch (error) {
    return error instanceof Error
      ? error
      : new Error(`something was thrown that is no error: ${String(error)}`)
  }
}

async function withinTime(work: Promise<string>): Promise<string> {
  let timer: NodeJS.Timeout | undefined
  const hang = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`it hangs: no end within ${HANG_MS} ms`)), HANG_MS)
  })
  try {
    return await Promise.race([work, hang])
  } finally {
    clearTimeout(timer)
  }
}

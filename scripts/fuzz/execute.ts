/**
 * Runs one input of one target, and checks what holds for all of them: it ends soon, and leaves nothing behind.
 */
import { type Input, promise, type Target } from './target.ts'

/** Milliseconds after which a run counts as hanging. */
const HANG_MS = 10_000

/** Milliseconds of CPU time of this thread, so that other load on the machine does not count. */
const MAX_CPU_MS = 1000

/** How often an input that took too long is run again: garbage collection may have slowed the first run. */
const MEASUREMENTS = 3

/** What a polluted prototype would have more of. */
const PROTOTYPES = [Object.prototype, Array.prototype, Function.prototype, String.prototype]
const MEMBERS = PROTOTYPES.map((prototype) => Reflect.ownKeys(prototype).length)

/** The outcome. @throws what the target throws; Finding if it takes too long, or leaves something behind. */
export async function execute(target: Target, input: Input): Promise<string> {
  const first = await measure(target, input)
  let { tookMs } = first
  for (let again = 1; again < MEASUREMENTS && tookMs >= MAX_CPU_MS; again++) {
    tookMs = Math.min(tookMs, (await measure(target, input)).tookMs)
  }
  promise(tookMs < MAX_CPU_MS, `it takes ${Math.round(tookMs)} ms of the processor's time, each time`)
  PROTOTYPES.forEach((prototype, index) => {
    promise(Reflect.ownKeys(prototype).length === MEMBERS[index], 'a prototype is polluted')
  })
  return first.outcome
}

async function measure(target: Target, input: Input): Promise<{ outcome: string; tookMs: number }> {
  const before = process.threadCpuUsage()
  const work = target.run(input)
  const outcome = work instanceof Promise ? await withinTime(work) : work
  const { user, system } = process.threadCpuUsage(before)
  return { outcome, tookMs: (user + system) / 1000 }
}

/** The outcome, or the finding. */
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

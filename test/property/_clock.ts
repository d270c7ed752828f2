/**
 * A clock that is advanced, for runs of seconds in milliseconds. Code may run on a machine whose clock differs, and which may be paused: its
 * timers and answers wait, as those of a frozen process.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { vi } from 'vitest'

export class Machine {
  /** Milliseconds by which its clock is ahead. */
  readonly skewMs: number
  #pausedUntil = 0

  constructor(skewMs = 0) {
    this.skewMs = skewMs
  }

  get isPaused(): boolean {
    return this.#pausedUntil > trueNow()
  }

  pause(ms: number): void {
    this.#pausedUntil = trueNow() + ms
  }

  /** Resolves when it is not paused. */
  async resumed(): Promise<void> {
    while (this.isPaused) await new Promise((resolve) => originals.setTimeout(resolve, this.#leftMs))
  }

  /** Runs it, and all that follows from it, on this machine. */
  run<Result>(work: () => Result): Result {
    return machines.run(this, work)
  }

  /** As `setTimeout`, but nothing fires while the machine is paused. */
  setTimeout(fire: () => void, ms: number): ReturnType<typeof setTimeout> {
    const inContext = AsyncLocalStorage.snapshot()
    const ring = (): void => {
      if (cleared.has(timer)) return
      if (this.isPaused) originals.setTimeout(ring, this.#leftMs)
      else inContext(fire)
    }
    const timer = originals.setTimeout(ring, ms)
    return timer
  }

  get #leftMs(): number {
    return this.#pausedUntil - trueNow()
  }
}

const machines = new AsyncLocalStorage<Machine>()
const cleared = new WeakSet<object>()
const immediate = setImmediate

/** The functions of the clock that is advanced, which know no machines. */
let originals = { now: Date.now, setTimeout, setInterval, clearTimeout, clearInterval }

/** What the clock waits for, since it takes real time: or a lease could end while a busy machine is late. */
let outside = 0
let whenBack: (() => void) | undefined

/** The time without the skew of a machine. */
export function trueNow(): number {
  return originals.now()
}

/** Does what takes real time, such as a question to a real server, while the clock stands still. It is on no machine. */
export async function standingStill<Answer>(act: () => Promise<Answer>): Promise<Answer> {
  outside++
  try {
    return await machines.exit(act)
  } finally {
    if (--outside === 0) whenBack?.()
  }
}

export function startClock(): void {
  for (const name of ['digest', 'encrypt', 'decrypt', 'importKey', 'deriveKey', 'deriveBits'] as const) {
    const original = crypto.subtle[name].bind(crypto.subtle) as (...args: unknown[]) => Promise<unknown>
    vi.spyOn(crypto.subtle, name).mockImplementation(((...args: unknown[]) =>
      standingStill(() => original(...args))) as never)
  }
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  const { setTimeout, setInterval, clearTimeout, clearInterval } = globalThis
  originals = { now: Date.now, setTimeout, setInterval, clearTimeout, clearInterval }
  Date.now = () => originals.now() + (machines.getStore()?.skewMs ?? 0)
  Object.assign(globalThis, {
    setTimeout(fire: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) {
      const machine = machines.getStore()
      return machine?.setTimeout(() => fire(...args), ms) ?? originals.setTimeout(fire, ms, ...args)
    },
    setInterval(fire: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) {
      const machine = machines.getStore()
      const inContext = AsyncLocalStorage.snapshot()
      return originals.setInterval(() => machine?.isPaused || inContext(fire, ...args), ms)
    },
    clearTimeout(timer: object | undefined) {
      if (typeof timer === 'object') cleared.add(timer)
      originals.clearTimeout(timer as never)
    },
  })
}

export function stopClock(): void {
  if (!vi.isFakeTimers()) return
  Date.now = originals.now
  const { now: _now, ...timers } = originals
  Object.assign(globalThis, timers)
  vi.restoreAllMocks()
  vi.useRealTimers()
}

let waiting = 0
let isDriven = false

/** Lets `ms` pass for all that wait. */
export async function wait(ms: number): Promise<void> {
  const isOver = new Promise<void>((resolve) => {
    waiting++
    originals.setTimeout(() => {
      waiting--
      resolve()
    }, ms)
  })
  void machines.exit(drive)
  await isOver
}

/** Lets promises settle between the steps of the clock. */
async function drive(): Promise<void> {
  if (isDriven) return
  isDriven = true
  while (waiting > 0) {
    do {
      // Without turns meanwhile, which would keep a core busy.
      if (outside > 0)
        await new Promise<void>((resolve) => {
          whenBack = resolve
        })
      for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => immediate(resolve))
    } while (outside > 0)
    vi.advanceTimersByTime(1)
  }
  isDriven = false
}

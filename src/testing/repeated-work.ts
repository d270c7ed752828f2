/**
 * Tells a developer of work that a tool did again because it runs from its start with each answer. Watches only such calls, and what they do
 * before an answer that they already have: what `fetch` sends, and time that passes outside of the context.
 *
 * Which call a `fetch` belongs to is in its stack: engines list the functions that await the calling code.
 */
import { warn } from '../definition/json-line.ts'
import type { AnyTool } from '../definition/tool.ts'
import type { Context } from '../request/context.ts'
import { DEVELOPMENT, type Development, development } from '../request/development.ts'

/** Milliseconds outside of the context that count as work. Reads from a cache take less. */
const WORK_MS = 100
/** More stack frames than a tool is likely to nest. */
const STACK_DEPTH = 200
/** The members of a context that ask, or run steps. */
const OWN = ['elicit', 'createMessage', 'listRoots', 'askAsSent', 'step', 'sleep', 'waitFor'] as const
const ASKING: ReadonlySet<string> = new Set(['elicit', 'createMessage', 'listRoots', 'askAsSent'])

type Work = () => unknown

/** Named functions, which stacks show. Methods with fixed names, since not every engine shows others. */
const NAMED = {
  async mayflyOwnWork(work: Work): Promise<unknown> {
    return await work()
  },
}

/** One for each watched call; while all are taken, other calls are not watched. */
const MARKERS = {
  async mayflyCallA(work: Work): Promise<unknown> {
    return await work()
  },
  async mayflyCallB(work: Work): Promise<unknown> {
    return await work()
  },
  async mayflyCallC(work: Work): Promise<unknown> {
    return await work()
  },
  async mayflyCallD(work: Work): Promise<unknown> {
    return await work()
  },
}
type Marker = keyof typeof MARKERS

// Tests may replace them.
const { setTimeout: setTimer } = globalThis
const { now: readClock } = performance
const now = (): number => readClock.call(performance)

const running = new Map<Marker, WatchedCall>()
/** By what the user wrote: each is told once. */
const told = new WeakSet<object>()

/** Watches the servers of this process. */
export function watchRepeatedWork(): void {
  if (development() !== undefined) return
  const watcher: Development = {
    runTool(name, execute, context, run) {
      const answers = answersOf(context)
      if (answers === 0 || told.has(execute!)) return run()
      const marker = (Object.keys(MARKERS) as Marker[]).find((one) => !running.has(one))
      if (marker === undefined) return run()
      return new WatchedCall(marker, name, execute!, context, answers).run(run)
    },
  }
  Object.defineProperty(globalThis, DEVELOPMENT, { value: watcher, configurable: true })
}

/** How many answers the call has had from its start. */
function answersOf(context: Context): number {
  const { rounds } = context.parts.wire
  if (rounds === undefined) return 0
  return new Set([...Object.keys(rounds.journal.answers), ...Object.keys(rounds.responses)]).size
}

class WatchedCall {
  readonly #marker: Marker
  readonly #name: string
  readonly #execute: NonNullable<AnyTool['execute']>
  readonly #context: Context
  /** Answers that the tool has not got yet in this run. */
  #left: number
  readonly #work: string[] = []
  /** Running members of the context. */
  #inside = 0
  #startedAt = 0
  /** Whether the tool has waited for anything but the context since then. */
  #hasWaited = false
  #timerAt: string | undefined

  constructor(
    marker: Marker,
    name: string,
    execute: NonNullable<AnyTool['execute']>,
    context: Context,
    answers: number,
  ) {
    this.#marker = marker
    this.#name = name
    this.#execute = execute
    this.#context = context
    this.#left = answers
  }

  get #isRunning(): boolean {
    return running.get(this.#marker) === this
  }

  async run(run: Work): Promise<unknown> {
    for (const member of OWN) this.#wrap(member)
    running.set(this.#marker, this)
    install()
    const end = (): void => this.#end()
    this.#context.signal.addEventListener('abort', end, { once: true })
    try {
      this.#leave()
      return await MARKERS[this.#marker](run)
    } finally {
      end()
    }
  }

  /** `fetch` or a timer was called by the tool. */
  note(what: 'fetch' | 'setTimeout', args: readonly unknown[], at: string): void {
    if (what === 'fetch') this.#work.push(`${describeFetch(args)} at ${at}`)
    else if (Number(args[1]) >= WORK_MS) this.#timerAt = at
  }

  #end(): void {
    if (this.#isRunning) running.delete(this.#marker)
    if (running.size === 0) uninstall()
  }

  /** The tool runs on its own from now on. */
  #leave(): void {
    this.#hasWaited = false
    this.#timerAt = undefined
    this.#startedAt = now()
    // A timer fires only if the tool waits for an event.
    setTimer(() => {
      this.#hasWaited = this.#inside === 0
    }, 0)
  }

  #enter(): void {
    const ms = now() - this.#startedAt
    if (this.#inside > 0 || !this.#hasWaited || ms < WORK_MS) return
    const at = this.#timerAt ?? placeOf(new Error().stack)
    if (at !== undefined) this.#work.push(`${Math.round(ms)} ms of work before ${at}`)
  }

  #wrap(member: (typeof OWN)[number]): void {
    const context = this.#context as unknown as { [member: string]: (...args: unknown[]) => Promise<unknown> }
    const call = context[member]
    if (call === undefined) return
    const wrapped = (...args: unknown[]): Promise<unknown> => {
      if (!this.#isRunning) return call.apply(context, args)
      this.#enter()
      this.#inside++
      const done = NAMED.mayflyOwnWork(() => call.apply(context, args))
      const settle = (isAnswer: boolean) => (): void => {
        this.#inside--
        if (isAnswer && this.#isRunning) this.#answered()
        this.#leave()
      }
      done.then(settle(ASKING.has(member)), settle(false))
      return done
    }
    Object.defineProperty(context, member, { value: wrapped, configurable: true, writable: true })
  }

  /** The tool got an answer that it already had: all that it did before, it did again. */
  #answered(): void {
    if (this.#work.length > 0) {
      told.add(this.#execute)
      const text = `Tool "${this.#name}" ran again with the user's answer, and repeated what is before the question: ${this.#work.slice(0, 3).join('; ')}. Put it into ctx.step(name, fn), or ask first.`
      warn(text)
      this.#context.log('warning', text, 'mayfly')
    }
    if (--this.#left <= 0 || this.#work.length > 0) this.#end()
  }
}

function describeFetch([input, init]: readonly unknown[]): string {
  const { method = 'GET', url } = (
    typeof input === 'object' && input !== null ? input : {}
  ) as Partial<Request>
  const sent = (init as RequestInit | undefined)?.method ?? method
  const address = String(url ?? input)
  return `fetch (${sent.toUpperCase()} ${URL.canParse(address) ? new URL(address).host : 'a relative URL'})`
}

/** Reads only the cache. */
const isCached = ([, init]: readonly unknown[]): boolean =>
  /^(?:only-if-cached|force-cache)$/.test((init as RequestInit | undefined)?.cache ?? '')

const WATCHED = ['fetch', 'setTimeout'] as const
type Watched = (typeof WATCHED)[number]
type Globals = { [name in Watched]: (...args: unknown[]) => unknown }

const replaced = new Map<Watched, { readonly original: unknown; readonly proxy: unknown }>()

/** While a call is watched. Proxies, so that the spies of tests keep their members. */
function install(): void {
  const globals = globalThis as unknown as Globals
  for (const name of WATCHED) {
    if (replaced.has(name) || typeof globals[name] !== 'function') continue
    const original = globals[name]
    const proxy = new Proxy(original, {
      apply(target, self, args: unknown[]) {
        if (name !== 'fetch' || !isCached(args)) attribute(name, args)
        return Reflect.apply(target, self, args)
      },
    })
    if (Reflect.set(globals, name, proxy)) replaced.set(name, { original, proxy })
  }
}

function uninstall(): void {
  const globals = globalThis as unknown as Globals
  for (const [name, { original, proxy }] of replaced)
    if (globals[name] === proxy) Reflect.set(globals, name, original)
  replaced.clear()
}

function attribute(name: Watched, args: readonly unknown[]): void {
  const limit = Error.stackTraceLimit
  Reflect.set(Error, 'stackTraceLimit', STACK_DEPTH)
  const stack = String(new Error().stack)
  Reflect.set(Error, 'stackTraceLimit', limit)
  if (stack.includes('mayflyOwnWork')) return
  const call = [...running].find(([marker]) => stack.includes(marker))?.[1]
  call?.note(name, args, placeOf(stack) ?? 'an unknown line')
}

/** The line of the user's code that called: the first frame outside of packages, after the two of this module. */
function placeOf(stack: string | undefined): string | undefined {
  const places = String(stack)
    .split('\n')
    .filter((line) => /^\s*at /.test(line))
    .slice(2)
    .map((line) => /([^\s()]+:\d+:\d+)\)?$/.exec(line)?.[1])
    .filter((place) => place !== undefined)
  const own = places.find((place) => !/node_modules|^node:/.test(place)) ?? places[0]
  return own?.replace(/^file:\/\//, '')
}

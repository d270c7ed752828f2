/** What a server under test has done and written down, and how a test tells its code what to do. */
import { textOf } from '../../src/definition/error-text.ts'
import {
  type AuditEntry,
  type CallContext,
  type LogEntry,
  ProtocolError,
  type RateLimiter,
  type ToolMiddleware,
} from '../../src/index.ts'

/** What code can throw that no answer can carry. */
export const FAILURES = {
  bigint: () => new ProtocolError(-32000, 'x', { amount: 1n }),
  cycle: () => {
    const data: Record<string, unknown> = {}
    data.self = data
    return new ProtocolError(-32000, 'x', data)
  },
  header: () => new ProtocolError(-32000, 'x', undefined, { status: 400, headers: { 'x-city': '東京' } }),
  status: () => new ProtocolError(-32000, 'x', undefined, { status: 99 }),
  nothing: () => Object.create(null),
  textless: () => ({
    toString: () => {
      throw new Error('no text')
    },
  }),
} as const

export type Failure = keyof typeof FAILURES

/** What happens in the code of a server: `say` has run, `wait` has begun, its signal has aborted. */
export type Happening = 'say' | 'wait' | 'aborted' | 'rule' | 'later' | 'big'

export class Probe {
  readonly happened: Happening[] = []
  readonly audit: AuditEntry[] = []
  readonly log: LogEntry[] = []
  /** The texts of the faults that were reported. */
  readonly reports: string[] = []
  /** Tokens that were verified. */
  verified = 0
  /** Keys that the rate limiter has counted, and how many calls it lets in. */
  readonly counted: string[] = []
  allowed = Number.POSITIVE_INFINITY
  /** What the server's code throws from now on. */
  failure: Failure | undefined
  /** Whether the log, the audit trail and `onError` reject. */
  cannotWrite = false
  /** Whether what makes a server leaves work behind that fails. */
  leavesWork = false
  /** Tells those who listen that a resource has changed. */
  update: (uri: string) => void = () => {}
  #release = new Set<() => void>()

  count(what: Happening): number {
    return this.happened.filter((one) => one === what).length
  }

  /** Forgets what has happened so far, such as what it took to connect. */
  forget(): void {
    for (const list of [this.happened, this.audit, this.log, this.reports, this.counted]) list.length = 0
    this.verified = 0
  }

  /** Ends every call that waits, with a result. */
  release(): void {
    for (const end of this.#release) end()
    this.#release.clear()
  }

  throwIfTold(): void {
    if (this.failure !== undefined) throw FAILURES[this.failure]()
  }

  // What servers are made of.

  readonly limiter: RateLimiter = {
    limit: (key) => {
      this.counted.push(key)
      return this.counted.length <= this.allowed ? { ok: true } : { ok: false, retryAfterSeconds: 7 }
    },
  }

  /** Refuses what it is told to refuse, shouts what the tool says, and gives it other words. */
  readonly use: readonly ToolMiddleware<CallContext>[] = [
    async ({ auth, input, signal }, next) => {
      signal.throwIfAborted()
      if (input.text === 'refuse') throw new Error(`refused for ${auth?.clientId}`)
      if (input.text === 'edit') {
        input.text = 'edited'
        const edited = await next()
        for (const block of edited.content) if (block.type === 'text') block.text += '?'
        edited._meta = { ...edited._meta, seen: true }
        return edited
      }
      const result = await next()
      return { ...result, _meta: { ...result._meta, seen: true } }
    },
    async ({ toolName, arguments: given }, next) => {
      if (toolName !== 'say') return next()
      if (given.text === 'own') return 'its own'
      return next({ ...given, text: `${given.text}!` })
    },
  ]

  readonly write = {
    log: (entry: LogEntry) => this.#written(this.log.push(entry)),
    audit: { record: (entry: AuditEntry) => this.#written(this.audit.push(entry)) },
    onError: (error: unknown) => this.#written(this.reports.push(textOf(error))),
  }

  #written(_count: number): Promise<never> | undefined {
    return this.cannotWrite ? Promise.reject(new Error('cannot be written')) : undefined
  }

  /** Goes on until it is released or aborted. */
  wait(signal: AbortSignal): Promise<string> {
    return new Promise((resolve, reject) => {
      const end = (): void => resolve('released')
      this.#release.add(end)
      signal.addEventListener('abort', () => {
        this.#release.delete(end)
        this.happened.push('aborted')
        reject(signal.reason)
      })
      this.happened.push('wait')
    })
  }

  /** A subscription to a bus stands for a call that goes on. */
  hold(): () => void {
    this.throwIfTold()
    this.happened.push('wait')
    return () => void this.happened.push('aborted')
  }
}

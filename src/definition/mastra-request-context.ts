/**
 * The `requestContext` that Mastra's tools, agents and workflows read: the methods of its `RequestContext`, without its class.
 */
import type { RequestContext } from './context.ts'

/** What Mastra shows of the caller, beside `ctx.mcp.extra` by member: `user`, where the verifier attached one. */
export class MastraRequestContext {
  /** What Mayfly knows of the request. Never stored or traced: the caller's token is in it. */
  readonly #given: Map<string, unknown>
  readonly #set = new Map<string, unknown>()

  constructor(context: RequestContext) {
    this.#given = new Map(Object.entries(context.mcp.extra))
    const user = context.auth?.extra?.user
    if (user !== undefined) this.#given.set('user', user)
  }

  get(key: string): unknown {
    return this.#set.has(key) ? this.#set.get(key) : this.#given.get(key)
  }

  set(key: string, value: unknown): void {
    this.#set.set(key, value)
  }

  has(key: string): boolean {
    return this.#set.has(key) || this.#given.has(key)
  }

  delete(key: string): boolean {
    const wasGiven = this.#given.delete(key)
    return this.#set.delete(key) || wasGiven
  }

  clear(): void {
    this.#given.clear()
    this.#set.clear()
  }

  entries(): IterableIterator<[string, unknown]> {
    return new Map([...this.#given, ...this.#set]).entries()
  }

  keys(): IterableIterator<string> {
    return new Map(this.entries()).keys()
  }

  values(): IterableIterator<unknown> {
    return new Map(this.entries()).values()
  }

  /** A method, as in Mastra. */
  size(): number {
    return new Map(this.entries()).size
  }

  forEach(callback: (value: unknown, key: string, map: Map<string, unknown>) => void): void {
    new Map(this.entries()).forEach(callback)
  }

  get all(): Record<string, unknown> {
    return Object.fromEntries(this.entries())
  }

  getRaw(key: string): unknown {
    return this.get(key)
  }

  setRaw(key: string, value: unknown): void {
    this.set(key, value)
  }

  hasRaw(key: string): boolean {
    return this.has(key)
  }

  deleteRaw(key: string): boolean {
    return this.delete(key)
  }

  /** What is stored with a workflow's run. */
  toJSON(): Record<string, unknown> {
    return Object.fromEntries(this.#set)
  }

  /** What traces show. */
  serializeForSpan(): Record<string, unknown> {
    return this.toJSON()
  }
}

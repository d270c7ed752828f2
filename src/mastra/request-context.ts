/**
 * The `requestContext` that Mastra's tools, agents and workflows read: the methods of its `RequestContext`, without its class.
 */
import type { AuthInfo } from '../definition/context.ts'
import type { SdkExtra } from '../sdk/extra.ts'

/** Contains the members of `ctx.mcp.extra` by name, and `user` if the verifier attached one. */
export class MastraRequestContext {
  readonly #values: Map<string, unknown>
  /** The names set by tools. Only these are stored and traced, since the built-in values contain the caller's token. */
  readonly #given: Set<string>

  constructor(extra: SdkExtra, auth: AuthInfo | undefined) {
    this.#values = new Map(Object.entries({ ...extra, 'mcp.extra': extra }))
    const user = auth?.extra?.user
    if (user !== undefined) this.#values.set('user', user)
    this.#given = new Set(this.#values.keys())
  }

  // biome-ignore lint/suspicious/noExplicitAny: see RequestContextValues.
  get(key: string): any {
    return this.#values.get(key)
  }

  set(key: string, value: unknown): void {
    this.#given.delete(key)
    this.#values.set(key, value)
  }

  has(key: string): boolean {
    return this.#values.has(key)
  }

  delete(key: string): boolean {
    return this.#values.delete(key)
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

  clear(): void {
    this.#values.clear()
  }

  keys(): IterableIterator<string> {
    return this.#values.keys()
  }

  values(): IterableIterator<unknown> {
    return this.#values.values()
  }

  entries(): IterableIterator<[string, unknown]> {
    return this.#values.entries()
  }

  /** A method, as in Mastra. */
  size(): number {
    return this.#values.size
  }

  forEach(callback: (value: unknown, key: string, map: Map<string, unknown>) => void): void {
    this.#values.forEach(callback)
  }

  get all(): Record<string, unknown> {
    return Object.fromEntries(this.#values)
  }

  /** The values that are stored with a workflow's run. */
  toJSON(): Record<string, unknown> {
    return Object.fromEntries(Array.from(this.#values).filter(([key]) => !this.#given.has(key)))
  }

  /** The values that traces show. */
  serializeForSpan(): Record<string, unknown> {
    return this.toJSON()
  }
}

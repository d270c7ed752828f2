import { AsyncLocalStorage } from 'node:async_hooks'
import { type Context, ROOT_CONTEXT } from '@opentelemetry/api'

/** What @opentelemetry/context-async-hooks does, as far as it is needed. */
export class Contexts {
  readonly #storage = new AsyncLocalStorage<Context>()
  active = () => this.#storage.getStore() ?? ROOT_CONTEXT
  with = <A extends unknown[], R>(own: Context, work: (...args: A) => R, self?: unknown, ...args: A): R =>
    this.#storage.run(own, () => work.apply(self, args))
  bind = <T>(_own: Context, target: T): T => target
  enable = () => this
  disable = () => this
}

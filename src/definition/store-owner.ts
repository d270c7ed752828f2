/** The server that a bus or a store belongs to. It is made before its server, which tells it who it is when it takes it. */
import { serverName } from './server-name.ts'
import { stageOf } from './stage.ts'

export interface StoreOwner {
  /** The server's `id`. */
  readonly id: string
  /**
   * What tables, prefixes, channels, keys and queues contain by default: `mayfly_shop`, or `mayfly_shop__staging` where `MAYFLY_STAGE` is
   * `staging`. The stage is decided with the first call: call it when the name is needed, not before.
   *
   * @throws TypeError for an invalid stage.
   */
  name(): string
  /** What marks each row of a shared place: `shop`, or `shop@staging`. */
  tag(): string
  /**
   * Looks for `MAYFLY_STAGE` in these variables, until there is one. The server calls it with those of each request; a store that can read
   * the variables of its process passes them, since tasks may run before any request.
   *
   * @throws TypeError for an invalid stage, and for one that comes after `name()` was used without it.
   */
  see(variables: unknown): void
}

export function createStoreOwner(id: string): StoreOwner {
  let stage: string | undefined
  let name: string | undefined
  let seen: unknown
  const nameOf = (): string => {
    name ??= serverName(id, stage)
    return name
  }
  return {
    id,
    name: nameOf,
    tag() {
      nameOf()
      return stage === undefined ? id : `${id}@${stage}`
    },
    see(variables) {
      if (stage !== undefined || variables === seen) return
      const found = stageOf(variables)
      seen = variables
      if (found === undefined) return
      if (name !== undefined)
        throw new TypeError(
          `MAYFLY_STAGE is "${found}", but a store of server "${id}" was used before it was known: use it in a request, or set the variable for the whole process.`,
        )
      stage = found
    },
  }
}

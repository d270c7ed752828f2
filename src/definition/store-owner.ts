/** The server that a bus, a store or a sealed state belongs to. A store is made before its server, which tells it who it is when it takes it. */
import { serverName } from './server-name.ts'
import { stageIn } from './stage.ts'

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
  /** The stage. Undefined: production. Decided with the first call, like `name()`. */
  stage(): string | undefined
  /** What marks each row of a shared place: `shop`, or `shop@staging`. An `@` of the id is doubled: no other server has the same. */
  tag(): string
  /**
   * Looks for `MAYFLY_STAGE` in these variables, then in those of the process, until there is one. The server calls it with those of each
   * request; a store when it is attached, since tasks may run before any request.
   *
   * @throws TypeError for an invalid stage, and for one that comes after `name()`, `tag()` or `stage()` was used without it.
   */
  see(variables: unknown): void
}

export function createStoreOwner(id: string): StoreOwner {
  let stage: string | undefined
  let name: string | undefined
  // In a list, since none at all are variables, too: then those of the process count.
  let seen: readonly unknown[] = []
  const nameOf = (): string => {
    name ??= serverName(id, stage)
    return name
  }
  return {
    id,
    name: nameOf,
    stage() {
      nameOf()
      return stage
    },
    tag() {
      nameOf()
      const own = id.replaceAll('@', '@@')
      return stage === undefined ? own : `${own}@${stage}`
    },
    see(variables) {
      if (seen.length > 0 && variables === seen[0]) return
      const found = stageIn(variables)
      if (found !== undefined && found !== stage) {
        // Not seen then: the next request with these variables is refused, too.
        if (name !== undefined)
          throw new TypeError(
            `MAYFLY_STAGE is "${found}", but server "${id}" named a store or sealed a state before it was known: set it for the whole process, or pass the variables with each request.`,
          )
        stage = found
      }
      seen = [variables]
    },
  }
}

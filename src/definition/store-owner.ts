/** The server that a bus, a store or a sealed state belongs to. A store is made before its server, which tells it who it is when it takes it. */
import { serverName } from './server-name.ts'
import { stageIn, stageOf } from './stage.ts'

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
   * Looks for `MAYFLY_STAGE` in these variables. The server calls it with those of each request. Those of the process are read with the name,
   * where no others had it: on workerd, reading them first loads Node's `process`, which costs more than all else of a first call.
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
    if (name === undefined) {
      stage ??= stageIn(undefined)
      name = serverName(id, stage)
    }
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
      const found = stageOf(variables)
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

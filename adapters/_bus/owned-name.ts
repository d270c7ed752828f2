/** What a bus or a store calls its channels, keys and tables: the name that its code gives it, or that of the server that takes it. */
import type { StoreOwner } from '../../src/definition/store-owner.ts'

export interface OwnedName {
  /** Called by the server. @throws TypeError if the default name would be that of another server. */
  attach(owner: StoreOwner): void
  /** @throws TypeError if there is neither a name nor an owner. */
  get(): string
}

/**
 * @param what The function that made it, for errors.
 * @param option The option that gives it a name.
 * @param given The value of that option.
 * @param toName Makes the default of the owner's name.
 */
export function createOwnedName(
  what: string,
  option: string,
  given: string | undefined,
  toName: (name: string) => string = (name) => name,
): OwnedName {
  let owner: StoreOwner | undefined
  return {
    attach(taker) {
      if (given === undefined && owner !== undefined && owner.id !== taker.id)
        throw new TypeError(
          `One ${what} was given to the servers "${owner.id}" and "${taker.id}": make one for each, or share it on purpose with "${option}".`,
        )
      owner = taker
    },
    get() {
      if (given !== undefined) return given
      if (owner === undefined)
        throw new TypeError(
          `This ${what} belongs to no server, whose name it would use: pass it to MCPServer first, or give it "${option}", such as "${toName('mayfly_shop')}".`,
        )
      return toName(owner.name())
    },
  }
}

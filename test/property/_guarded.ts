/** Asks for a resource of a server that knows no scopes, whose host does. */
import { ProtocolError } from '../../src/definition/protocol-error.ts'
import type { Access } from '../../src/request/access.ts'
import { checkAccess, type GuardedNames } from '../../src/sdk/guarded.ts'

/** A caller whose token has no scope at all. */
export const NO_SCOPES: Access = {
  isAnonymous: false,
  isKnown: true,
  allows: ({ scopes = [] }) => scopes.length === 0,
  refusal: () => new ProtocolError(-32600, 'Forbidden', undefined, { status: 403 }),
}

export function isRefused(uri: string, resources: GuardedNames['resources'], access = NO_SCOPES): boolean {
  try {
    checkAccess('resources/read', { uri }, access, { ...(resources && { resources }) })
    return false
  } catch (error) {
    if (error instanceof ProtocolError) return true
    throw error
  }
}

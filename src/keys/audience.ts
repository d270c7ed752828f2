/** Which server, and which of its stages, a key is for: several may share a store. */
import { requireStage, stageIn } from '../definition/stage.ts'
import type { KeyStore, StoredKey } from './store.ts'

export interface Audience {
  /** The `id` of the server. */
  readonly server: string
  /** Its `MAYFLY_STAGE`. Undefined: production. */
  readonly stage?: string
}

/** The part of a store that one server may use. */
export interface AudienceStore extends KeyStore {
  readonly audience: Audience
}

/** @throws TypeError without a server, and for an invalid stage. */
export function audienceOf(server: string | undefined, env: unknown): Audience {
  if (server === undefined)
    throw new TypeError(
      'apiKeys needs "server", a name for this server, which its keys are for: an MCPServer has an "id" for that, fromSdk, fromNode and honoAuth do not.',
    )
  const stage = stageIn(env)
  return { server, ...(stage !== undefined && { stage }) }
}

/** The same for a stage that is given. Empty: production. @throws TypeError for an empty server, and for an invalid stage. */
export function toAudience(server: string, stage: string | undefined): Audience {
  if (server.trim() === '') throw new TypeError('"server" is empty: it is the "id" of an MCPServer.')
  if (stage === undefined || stage === '') return { server }
  requireStage(stage, '"stage"')
  return { server, stage }
}

export function isFor(
  { server, stage }: Audience,
  key: Partial<Pick<StoredKey, 'server' | 'stage'>>,
): boolean {
  return key.server === server && (key.stage ?? undefined) === stage
}

/** For people, such as `shop (staging)`. */
export function describeAudience({ server, stage }: Partial<Audience>): string {
  return stage === undefined ? (server ?? '') : `${server} (${stage})`
}

/**
 * A store whose new keys are for `audience`. Keys of others are neither read, listed nor revoked; those that name no server are, since they
 * are accepted nowhere and someone has to see them.
 */
export function storeFor(store: KeyStore, audience: Audience): AudienceStore {
  const isOwn = (key: StoredKey): boolean => key.server === undefined || isFor(audience, key)
  const read = async (id: string): Promise<StoredKey | undefined> => {
    const key = await store.read(id)
    return key && isOwn(key) ? key : undefined
  }
  return {
    audience,
    read,
    create: (key) => store.create({ ...key, ...audience }),
    async list(options) {
      const page = await store.list(options)
      return { ...page, keys: page.keys.filter(isOwn) }
    },
    revoke: async (id, revokedAt) => (await read(id)) !== undefined && store.revoke(id, revokedAt),
    ...(store.use !== undefined && { use: (id, at) => store.use!(id, at) }),
    get fault() {
      return store.fault
    },
    ...(store.isLocal !== undefined && { isLocal: store.isLocal }),
    ...(store.variable !== undefined && { variable: store.variable }),
  }
}

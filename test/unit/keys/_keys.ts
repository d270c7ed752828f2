/** Servers whose callers have API keys, and stores that are counted. */
import type { MCPServerConfig } from '../../../src/index.ts'
import { type ApiKeysOptions, apiKeys, createMemoryKeyStore, type KeyStore } from '../../../src/keys.ts'
import { createServer } from '../_client.ts'

export interface CountedStore extends KeyStore {
  readonly reads: string[]
  readonly uses: [id: string, at: number][]
}

/** A store in memory, with what it was asked. */
export function counted(given: Partial<KeyStore> = {}): CountedStore {
  const store = createMemoryKeyStore()
  const reads: string[] = []
  const uses: [string, number][] = []
  return {
    ...store,
    read(id) {
      reads.push(id)
      return store.read(id)
    },
    use: async (id, at) => {
      uses.push([id, at])
      await store.use!(id, at)
    },
    ...given,
    reads,
    uses,
  }
}

export function keyed(
  store: ApiKeysOptions['store'],
  options: Partial<ApiKeysOptions> = {},
  config: Partial<MCPServerConfig> = {},
) {
  return createServer({ auth: apiKeys({ store, ...options }), ...config })
}

/**
 * The entry point `mayfly-mcp/keys`: API keys that a store has, as `auth` of a server, and what makes and revokes them. The stores are in
 * the entry points of their engines.
 */
export {
  type CreatedKey,
  createKeyAdmin,
  type KeyAdmin,
  type KeyAdminOptions,
  type KeyInfo,
  type KeyListOptions,
  type NewKeyOptions,
} from './keys/admin.ts'
export { type ApiKeysOptions, apiKeys } from './keys/api-keys.ts'
export { environmentKeyStore } from './keys/environment.ts'
export { createMemoryKeyStore } from './keys/memory.ts'
export type { KeyPage, KeyStore, StoredKey } from './keys/store.ts'

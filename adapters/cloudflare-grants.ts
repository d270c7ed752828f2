/** Grants of sign-in in a Durable Object. */
import type { GrantStore } from '../src/sign-in/store/store.ts'
import type { DurableObjectNamespace, StorageState } from './_cloudflare/durable-object.ts'
import { type DurableObjectKeyedOptions, KeyedObject, openKeyedObject } from './_cloudflare/keyed.ts'

/** Options of `durableObjectGrants`. */
export type DurableObjectGrantsOptions = DurableObjectKeyedOptions

/**
 * The Durable Object class: export it from your Worker and bind it.
 *
 * ```toml
 * [[durable_objects.bindings]]
 * name = "GRANTS"
 * class_name = "MayflyGrants"
 *
 * [[migrations]]
 * tag = "mayfly-grants-1"
 * new_sqlite_classes = ["MayflyGrants"]
 * ```
 */
export class MayflyGrants extends KeyedObject {
  constructor(state: StorageState) {
    super(state, 'grants')
  }
}

/**
 * Creates a store of grants from the binding of `MayflyGrants`, for `signIn` of `mayfly-mcp/sign-in`. All entries of a name are in one object.
 * While it fails, the store rejects within `timeoutMs` (default 5000); a rejected commit may still succeed, and may be repeated.
 *
 * ```ts
 * signIn({ store: (env: Env) => durableObjectGrants(env.GRANTS), upstream, scopes })
 * ```
 *
 * @throws TypeError without a binding.
 */
export function durableObjectGrants(
  namespace: DurableObjectNamespace,
  options?: DurableObjectGrantsOptions,
): GrantStore {
  const maker = { name: 'durableObjectGrants', type: 'MayflyGrants', entries: 'grants' } as const
  return openKeyedObject({ ...maker, page: 'docs/sign-in-reference.md' }, namespace, options)
}

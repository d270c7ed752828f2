/** The suite of every store of grants, in memory. */
import { createMemoryGrants } from '../../../../src/sign-in/store/memory.ts'
import type { GrantStore } from '../../../../src/sign-in/store/store.ts'
import { grantStoreSuite } from './_suite.ts'

grantStoreSuite('memory', async () => {
  const stores = new Map<string, GrantStore>()
  return {
    async connect({ prefix }) {
      const store = stores.get(prefix) ?? createMemoryGrants()
      stores.set(prefix, store)
      return { store, close() {} }
    },
    stop() {},
  }
})

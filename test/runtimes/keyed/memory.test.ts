/** The suite of every transactional store, in memory. */
import type { KeyedStore } from '../../../src/keyed/store.ts'
import { createMemoryEvents } from '../../../src/mcp-events/store/memory.ts'
import { createMemoryGrants } from '../../../src/sign-in/store/memory.ts'
import { keyedStoreSuite } from './_suite.ts'

for (const [name, create] of Object.entries({ grants: createMemoryGrants, events: createMemoryEvents }))
  keyedStoreSuite(`${name} in memory`, async () => {
    const stores = new Map<string, KeyedStore>()
    return {
      async connect({ prefix }) {
        const store = stores.get(prefix) ?? create()
        stores.set(prefix, store)
        return { store, close() {} }
      },
      stop() {},
    }
  })

/** The shop as a Worker: people sign in, with a Durable Object for their grants, and machines have keys in KV. */
import { anyOf } from 'mayfly-mcp/auth'
import {
  type DurableObjectNamespace,
  durableObjectGrants,
  type KVNamespace,
  kvKeyStore,
} from 'mayfly-mcp/cloudflare'
import { apiKeys } from 'mayfly-mcp/keys'
import { createShop, shopSignIn } from './_sign-in-shop.ts'

export { MayflyGrants } from 'mayfly-mcp/cloudflare'

interface Env {
  readonly KEYS: KVNamespace
}

const people = shopSignIn(({ GRANTS }) => durableObjectGrants(GRANTS as DurableObjectNamespace))
const machines = apiKeys({ store: ({ KEYS }: Env) => kvKeyStore(KEYS), scopes: ['shop'], cacheMs: 0 })

export default createShop(anyOf([people, machines]))

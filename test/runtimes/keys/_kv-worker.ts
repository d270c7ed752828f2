/** In workerd: does what a store of this Worker's KV does, and serves a server with its keys. */

import { type KVNamespace, kvKeyStore } from '../../../adapters/cloudflare.ts'
import { createMemoryBus, createTool, MCPServer } from '../../../src/index.ts'
import { apiKeys } from '../../../src/keys.ts'

interface Env {
  readonly KEYS: KVNamespace
}

const server = new MCPServer({
  id: 'shop',
  name: 'Shop',
  version: '1.0.0',
  log: false,
  bus: createMemoryBus(),
  auth: apiKeys({ store: (env: Env) => kvKeyStore(env.KEYS), cacheMs: 0 }),
  tools: { whoami: createTool({ id: 'whoami', execute: (_input, ctx) => String(ctx.auth?.clientId) }) },
})

export default {
  async fetch(request: Request, env: Env, context: unknown): Promise<Response> {
    if (new URL(request.url).pathname !== '/call') return server.fetch(request, env, context)
    const { method, args } = (await request.json()) as { method: 'read'; args: [string] }
    try {
      return Response.json({ value: await kvKeyStore(env.KEYS)[method](...args) })
    } catch (error) {
      return Response.json({ error: (error as Error).message, isTypeError: error instanceof TypeError })
    }
  },
}

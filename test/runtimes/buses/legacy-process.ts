/** One of several processes that share a secret and a Redis. Arguments: the library, the URL of Redis, and `http.maxListenMs`. */
import { Redis } from 'ioredis'
import { createResource, createTool, MCPServer } from 'mayfly-mcp'
import { serve } from 'mayfly-mcp/node'
import { redisBus, redisSubscriptions } from 'mayfly-mcp/redis'
import { createClient } from 'redis'

const [library, url, maxListenMs] = process.argv.slice(2) as ['redis' | 'ioredis', string, string]

async function connect() {
  if (library === 'ioredis') {
    const publisher = new Redis(url)
    return { bus: redisBus({ publisher, subscriber: new Redis(url) }), client: publisher }
  }
  const client = await createClient({ url }).connect()
  const subscriber = await client.duplicate().connect()
  return { bus: redisBus({ publisher: client, subscriber }), client }
}

const { bus, client } = await connect()
const server: MCPServer = new MCPServer({
  id: 'news',
  name: 'News',
  version: '1.0.0',
  log: false,
  secret: 'a secret that all the processes share',
  bus,
  subscriptions: redisSubscriptions({ client, ttlMs: 60_000 }),
  http: { maxListenMs: Number(maxListenMs) },
  resources: [createResource({ uriTemplate: 'note://{name}', read: () => 'Nothing happened' })],
  tools: {
    touch: createTool({
      id: 'touch',
      execute: async () => {
        for (const uri of ['note://1', 'note://2']) await server.resources.notifyUpdated({ uri })
        await server.tools.notifyListChanged()
        return 'touched'
      },
    }),
  },
})
const served = await serve(server, { port: 0 })
process.send?.(served.url)

/** One of two processes that share only a bus. Arguments: the bus, and the URL of its server. Sends its own URL to its parent. */
import { connect } from '@nats-io/transport-node'
import { Redis } from 'ioredis'
import { type Bus, createTool, jsonSchema, MCPServer } from 'mayfly-mcp'
import { natsBus } from 'mayfly-mcp/nats'
import { serve } from 'mayfly-mcp/node'
import { postgresBus } from 'mayfly-mcp/postgres'
import { redisBus } from 'mayfly-mcp/redis'
import { Pool } from 'pg'
import postgres from 'postgres'
import { createClient } from 'redis'

const BUSES: { readonly [name: string]: (url: string) => Bus | Promise<Bus> } = {
  'Redis (redis)': async (url) => {
    const publisher = await createClient({ url }).connect()
    return redisBus({ prefix: 'bench', publisher, subscriber: await publisher.duplicate().connect() })
  },
  'Redis (ioredis)': (url) =>
    redisBus({ prefix: 'bench', publisher: new Redis(url), subscriber: new Redis(url) }),
  'Postgres (postgres)': (url) =>
    postgresBus({ prefix: 'bench', client: postgres(url, { onnotice: () => {}, fetch_types: false }) }),
  'Postgres (pg)': (url) => postgresBus({ prefix: 'bench', client: new Pool({ connectionString: url }) }),
  NATS: async (url) =>
    natsBus({ prefix: 'bench', client: await connect({ servers: url, maxReconnectAttempts: -1 }) }),
}

const [name, url] = process.argv.slice(2) as [string, string]

const publish = createTool({
  id: 'publish',
  description: 'Publishes an update of each URI',
  inputSchema: jsonSchema<{ uris: string[] }>({
    type: 'object',
    properties: { uris: { type: 'array', items: { type: 'string' } } },
    required: ['uris'],
  }),
  execute: async ({ uris }) => {
    await Promise.all(uris.map((uri) => server.resources.notifyUpdated({ uri })))
    return 'published'
  },
})

const server = new MCPServer({
  id: 'events',
  name: 'Events',
  version: '1.0.0',
  log: false,
  bus: await BUSES[name]!(url),
  tools: { publish },
  resources: [{ uriTemplate: 'n://{+path}', name: 'n', read: () => '' }],
})

const served = await serve(server, { port: 0 })
process.send?.(served.url)

/** A stateless server whose bus and subscriptions are Durable Objects, and what the latter's tables hold. */
import type { DurableObjectNamespace } from '../../../../adapters/_cloudflare/durable-object.ts'
import {
  durableObjectBus,
  durableObjectSubscriptions,
  MayflyBus,
  MayflySubscriptions,
} from '../../../../adapters/cloudflare.ts'
import { createTool, MCPServer } from '../../../../src/index.ts'

export { MayflyBus }

interface Sql {
  exec(query: string): { one(): { readonly count: number } }
}

/** Counts its rows. */
export class Subscriptions extends MayflySubscriptions {
  readonly #sql: Sql

  constructor(state: ConstructorParameters<typeof MayflySubscriptions>[0]) {
    super(state)
    this.#sql = state.storage.sql as unknown as Sql
  }

  override async fetch(request: Request): Promise<Response> {
    if (!request.url.endsWith('/rows')) return super.fetch(request)
    const count = (table: string) => this.#sql.exec(`SELECT COUNT(*) AS count FROM ${table}`).one().count
    return Response.json([count('sessions'), count('subscriptions')])
  }
}

interface Env {
  readonly CHANGES: DurableObjectNamespace
  readonly SUBSCRIPTIONS: DurableObjectNamespace
}

let server: MCPServer | undefined

/** On the first request: modules have no bindings here. */
function createServer({ CHANGES, SUBSCRIPTIONS }: Env): MCPServer {
  const created: MCPServer = new MCPServer({
    id: 'news',
    name: 'News',
    version: '1.0.0',
    secret: 'a secret that both of the Workers share',
    bus: durableObjectBus(CHANGES, { name: 'news' }),
    subscriptions: durableObjectSubscriptions(SUBSCRIPTIONS, { name: 'news', ttlMs: 2000 }),
    log: false,
    http: { keepAliveMs: 200 },
    resources: [{ uriTemplate: 'note://{name}', read: () => 'Nothing happened' }],
    tools: {
      touch: createTool({
        id: 'touch',
        execute: async () => {
          for (const uri of ['note://1', 'note://2']) await created.resources.notifyUpdated({ uri })
          await created.tools.notifyListChanged()
          return 'touched'
        },
      }),
    },
  })
  return created
}

export default {
  fetch(request: Request, env: Env, context: object): Promise<Response> {
    if (request.url.endsWith('/rows'))
      return env.SUBSCRIPTIONS.get(env.SUBSCRIPTIONS.idFromName('news') as never).fetch(request.url)
    server ??= createServer(env)
    return server.fetch(request, env, context)
  },
}

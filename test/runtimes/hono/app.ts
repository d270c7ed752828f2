/** A Hono app as its users write them, without an adapter of Mayfly: the default export that each runtime serves. */
import { Hono } from 'hono'
import { createTool, MCPServer } from 'mayfly-mcp'
import { staticTokens } from 'mayfly-mcp/auth'
import { honoContext, METADATA_ROUTE, mcp } from 'mayfly-mcp/hono'

interface AppEnv {
  Variables: { tenant: string; user: { clientId: string } | undefined }
}

const tools = {
  about: createTool({
    id: 'about',
    execute: (_input, ctx) => ({
      runtime: navigator.userAgent,
      tenant: honoContext<AppEnv>(ctx).var.tenant,
      caller: ctx.auth?.clientId ?? null,
      greeting: ctx.env.GREETING ?? null,
    }),
  }),
  slow: createTool({
    id: 'slow',
    execute: async (_input, ctx) => {
      for (const progress of [1, 2, 3]) {
        ctx.reportProgress({ progress, total: 3 })
        await new Promise((resolve) => setTimeout(resolve, 150))
      }
      return 'done'
    },
  }),
}

const server = new MCPServer({ id: 'app', name: 'App', version: '1.0.0', log: false, tools })
const guarded = new MCPServer({
  id: 'guarded',
  name: 'Guarded',
  version: '1.0.0',
  log: false,
  tools,
  auth: staticTokens([{ token: 'a-token-of-the-tests-0123456789', clientId: 'ada' }]),
})

const app = new Hono<AppEnv>()
app.use(async (c, next) => {
  const name = c.req.header('x-user')
  c.set('tenant', c.req.header('x-tenant') ?? 'none')
  c.set('user', name === undefined ? undefined : { clientId: name })
  await next()
})
app.get('/hello', (c) => c.text('the rest of the app'))
app.all('/mcp', mcp<AppEnv>(server, { auth: (c) => c.get('user') }))
app.all('/guarded', mcp(guarded)).get(METADATA_ROUTE, mcp(guarded))

export default app

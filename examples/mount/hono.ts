/** An MCP server inside a Hono app that has other things to do. Deploys as it is wherever Hono does. */
import { Hono } from 'hono'
import { mcp } from 'mayfly-mcp/hono'
import { server } from './server.ts'

const app = new Hono()

app.get('/', (c) => c.text('The rest of the app.'))

// As a route. The wildcard takes in /api/mcp itself, and the health check at /api/mcp/healthz.
app.all('/api/mcp/*', mcp(server))

// Or by mount, which takes any fetch: the server knows nothing of the app then. Unless told otherwise it cuts the prefix off, and the page would show a URL
// without it.
app.mount('/partners', server.fetch, { replaceRequest: false })

export default app

import { H3, readBody, setCookie, useSession } from 'h3'
import { toNodeHandler } from 'h3/node'
import { handleMcp } from './_mcp.js'

const password = 'a secret of thirty-two characters'
const app = new H3()
app.post('/mcp', async (event) => {
  const { req, res } = event.runtime.node
  const body = await readBody(event)
  const facts = {
    method: body.method,
    httpVersion: req.httpVersion,
    protocol: event.url.protocol.slice(0, -1),
    ip: event.req.ip,
  }
  await handleMcp(req, res, body, facts)
})
app.get('/', () => 'the app')
app.get('/visits', async (event) => {
  const session = await useSession(event, { password })
  await session.update({ visits: (session.data.visits ?? 0) + 1 })
  setCookie(event, 'a', '1')
  setCookie(event, 'b', '2')
  return { visits: session.data.visits }
})
app.post('/form', (event) => readBody(event))
app.get('/long', () => 'a line of text\n'.repeat(500))
app.get(
  '/broken',
  () =>
    new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('some')),
      async pull() {
        await new Promise((resolve) => setImmediate(resolve))
        throw new Error('broken in the app')
      },
    }),
)
app.get('/nothing', () => new Response(null, { status: 204 }))
app.get('/thrown', () => {
  throw new Error('thrown in the app')
})

export default toNodeHandler(app)

import { Readable } from 'node:stream'
import cookie from '@fastify/cookie'
import session from '@fastify/session'
import serveStatic from '@fastify/static'
import Fastify from 'fastify'
import { handleMcp, SESSION, STATIC } from './_mcp.js'

export const app = Fastify({ bodyLimit: 1000 })
app.register(cookie)
app.register(session, { ...SESSION, cookie: { secure: false } })
app.register(serveStatic, { root: STATIC, prefix: '/static/' })
app.post('/mcp', async (request, reply) => {
  request.session.visits = (request.session.visits ?? 0) + 1
  const { ip, protocol, body } = request
  const facts = {
    method: body.method,
    visits: request.session.visits,
    ip,
    protocol,
    httpVersion: request.raw.httpVersion,
  }
  reply.hijack()
  await handleMcp(request.raw, reply.raw, body, facts)
})
app.get('/', async () => 'the app')
app.get('/visits', async (request, reply) => {
  request.session.visits = (request.session.visits ?? 0) + 1
  reply.setCookie('a', '1').setCookie('b', '2')
  return { visits: request.session.visits, cookies: request.cookies }
})
app.post('/form', async (request) => request.body)
app.get('/long', async () => 'a line of text\n'.repeat(500))
app.get('/broken', async () =>
  Readable.from(
    (async function* () {
      yield 'some'
      await new Promise((resolve) => setImmediate(resolve))
      throw new Error('broken in the app')
    })(),
  ),
)
app.get('/nothing', (_request, reply) => reply.code(204).send())
app.get('/thrown', async () => {
  throw new Error('thrown in the app')
})

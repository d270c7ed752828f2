import { bodyParser } from '@koa/bodyparser'
import Koa from 'koa'
import session from 'koa-session'
import serveStatic from 'koa-static'
import { handleMcp, STATIC } from './_mcp.js'

const app = new Koa()
app.keys = ['a secret']
app.silent = true
app.use(session(app))
app.use(bodyParser({ jsonLimit: '1kb' }))
app.use(serveStatic(STATIC))
app.use(async (ctx) => {
  switch (`${ctx.method} ${ctx.path}`) {
    case 'POST /mcp': {
      const { body } = ctx.request
      const facts = {
        method: body.method,
        ip: ctx.ip,
        protocol: ctx.protocol,
        httpVersion: ctx.req.httpVersion,
      }
      ctx.respond = false
      return handleMcp(ctx.req, ctx.res, body, facts)
    }
    case 'GET /':
      ctx.body = 'the app'
      return
    case 'GET /visits':
      ctx.session.visits = (ctx.session.visits ?? 0) + 1
      ctx.cookies.set('a', '1')
      ctx.cookies.set('b', '2')
      ctx.body = { visits: ctx.session.visits }
      return
    case 'POST /form':
      ctx.body = ctx.request.body
      return
    case 'GET /long':
      ctx.body = 'a line of text\n'.repeat(500)
      return
    case 'GET /broken':
      // Koa itself leaves a response open whose headers are sent.
      ctx.respond = false
      ctx.res.write('some')
      setImmediate(() => ctx.res.destroy(new Error('broken in the app')))
      return
    case 'GET /nothing':
      ctx.status = 204
      return
    case 'GET /thrown':
      throw new Error('thrown in the app')
  }
})

export default app.callback()

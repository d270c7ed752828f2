import 'reflect-metadata'
import { Controller, Get, Module, Post, Req, Res } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import session from 'express-session'
import { handleMcp, SESSION, STATIC } from './_mcp.js'

class AppController {
  mcp(req, res) {
    req.session.visits = (req.session.visits ?? 0) + 1
    const { ip, protocol, httpVersion } = req
    const facts = {
      method: req.body.method,
      raw: JSON.parse(req.rawBody.toString()).method,
      visits: req.session.visits,
    }
    return handleMcp(req, res, req.body, { ...facts, ip, protocol, httpVersion })
  }
  home() {
    return 'the app'
  }
  visits(req, res) {
    req.session.visits = (req.session.visits ?? 0) + 1
    res.cookie('a', '1').cookie('b', '2').json({ visits: req.session.visits })
  }
  form(req) {
    return req.body
  }
  long() {
    return 'a line of text\n'.repeat(500)
  }
  broken(res) {
    res.write('some')
    setImmediate(() => res.destroy(new Error('broken in the app')))
  }
  nothing(res) {
    res.status(204).end()
  }
  thrown() {
    throw new Error('thrown in the app')
  }
}

/** What `@Get('/')` and `@Req()` are compiled to. */
function route(name, ...decorators) {
  const descriptor = Object.getOwnPropertyDescriptor(AppController.prototype, name)
  for (const decorate of decorators) decorate(AppController.prototype, name, descriptor)
}
const param = (index, decorate) => (target, name) => decorate(target, name, index)
route('mcp', Post('mcp'), param(0, Req()), param(1, Res()))
route('home', Get('/'))
route('visits', Get('visits'), param(0, Req()), param(1, Res()))
route('form', Post('form'), param(0, Req()))
route('long', Get('long'))
route('broken', Get('broken'), param(0, Res()))
route('nothing', Get('nothing'), param(0, Res()))
route('thrown', Get('thrown'))
Controller()(AppController)
class AppModule {}
Module({ controllers: [AppController] })(AppModule)

let starting
async function start() {
  const app = await NestFactory.create(AppModule, { logger: false, rawBody: true })
  app.use(session(SESSION))
  app.useStaticAssets(STATIC, { prefix: '/static' })
  await app.init()
  return app.getHttpAdapter().getInstance()
}

export default async (req, res) => {
  starting ??= start()
  const app = await starting
  app(req, res)
}

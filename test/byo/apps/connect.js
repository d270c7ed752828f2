import bodyParser from 'body-parser'
import compression from 'compression'
import connect from 'connect'
import cookieSession from 'express-session'
import serveStatic from 'serve-static'
import { handleMcp, SESSION, STATIC } from './_mcp.js'

const app = connect()
app.use(compression())
app.use(cookieSession(SESSION))
app.use(bodyParser.json({ limit: '1kb' }))
app.use('/static', serveStatic(STATIC))
app.use('/mcp', (req, res, next) => {
  req.session.visits = (req.session.visits ?? 0) + 1
  const facts = { method: req.body.method, visits: req.session.visits, httpVersion: req.httpVersion }
  handleMcp(req, res, req.body, facts).catch(next)
})
app.use('/visits', (req, res) => {
  req.session.visits = (req.session.visits ?? 0) + 1
  res.setHeader('set-cookie', ['a=1', 'b=2'])
  res.setHeader('content-type', 'application/json')
  res.end(JSON.stringify({ visits: req.session.visits }))
})
app.use('/form', (req, res) => res.end(JSON.stringify(req.body)))
app.use('/long', (_req, res) => {
  res.setHeader('content-type', 'text/plain')
  res.end('a line of text\n'.repeat(500))
})
app.use('/broken', (_req, res, next) => {
  res.write('some')
  setImmediate(() => next(new Error('broken in the app')))
})
app.use('/nothing', (_req, res) => res.writeHead(204).end())
app.use('/thrown', () => {
  throw new Error('thrown in the app')
})
app.use('/', (_req, res) => res.end('the app'))

export default app

/** An app of Express 4 or 5, with the middleware that most apps have. */
import compression from 'compression'
import cookieParser from 'cookie-parser'
import session from 'express-session'
import multer from 'multer'
import { handleMcp, SESSION, STATIC } from './_mcp.js'

export function createExpressApp(express) {
  const app = express()
  const keepRaw = (req, _res, bytes) => {
    req.rawBody = bytes.toString()
  }
  app.use(compression())
  app.use(cookieParser())
  app.use(session(SESSION))
  app.use(express.json({ limit: '1kb', verify: keepRaw }))
  app.use(express.urlencoded({ extended: true }))
  app.use('/static', express.static(STATIC))
  app.post('/mcp', (req, res) => {
    req.session.visits = (req.session.visits ?? 0) + 1
    res.locals.seen = req.body.method
    const { ip, protocol, httpVersion, secure } = req
    const facts = {
      method: res.locals.seen,
      raw: JSON.parse(req.rawBody).method,
      visits: req.session.visits,
      ip,
      protocol,
      httpVersion,
      secure,
    }
    return handleMcp(req, res, req.body, facts)
  })
  app.get('/', (_req, res) => res.send('the app'))
  app.get('/visits', (req, res) => {
    req.session.visits = (req.session.visits ?? 0) + 1
    res.cookie('a', '1').cookie('b', '2').json({ visits: req.session.visits, cookies: req.cookies })
  })
  app.post('/form', (req, res) => res.json(req.body))
  app.post('/upload', multer({ limits: { fileSize: 2000 } }).single('file'), (req, res) =>
    res.json({ size: req.file.size, name: req.body.name }),
  )
  app.get('/long', (_req, res) => res.type('text').send('a line of text\n'.repeat(500)))
  app.get('/broken', (_req, res, next) => {
    res.write('some')
    setImmediate(() => next(new Error('broken in the app')))
  })
  app.get('/nothing', (_req, res) => res.status(204).end())
  app.get('/thrown', () => {
    throw new Error('thrown in the app')
  })
  app.use((error, _req, res, next) => {
    if (res.headersSent) return next(error)
    return res.status(error.status ?? 500).json({ error: error.message })
  })
  return app
}

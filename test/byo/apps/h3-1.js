import {
  createApp,
  createRouter,
  defineEventHandler,
  readBody,
  setCookie,
  toNodeListener,
  useSession,
} from 'h3-1'
import { handleMcp } from './_mcp.js'

const password = 'a secret of thirty-two characters'
const app = createApp()
const router = createRouter()
app.use(router)
router.post(
  '/mcp',
  defineEventHandler(async (event) => {
    const { req, res } = event.node
    const body = await readBody(event)
    await handleMcp(req, res, body, { method: body.method, httpVersion: req.httpVersion })
    event._handled = true
  }),
)
router.get(
  '/',
  defineEventHandler(() => 'the app'),
)
router.get(
  '/visits',
  defineEventHandler(async (event) => {
    const session = await useSession(event, { password })
    await session.update({ visits: (session.data.visits ?? 0) + 1 })
    setCookie(event, 'a', '1')
    setCookie(event, 'b', '2')
    return { visits: session.data.visits }
  }),
)
router.post(
  '/form',
  defineEventHandler((event) => readBody(event)),
)
router.get(
  '/long',
  defineEventHandler(() => 'a line of text\n'.repeat(500)),
)
router.get(
  '/broken',
  defineEventHandler((event) => {
    // h3 1 itself leaves a response open whose headers are sent.
    const { res } = event.node
    event._handled = true
    res.write('some')
    setImmediate(() => res.destroy(new Error('broken in the app')))
  }),
)
router.get(
  '/nothing',
  defineEventHandler((event) => {
    event.node.res.statusCode = 204
    event.node.res.end()
  }),
)
router.get(
  '/thrown',
  defineEventHandler(() => {
    throw new Error('thrown in the app')
  }),
)

export default toNodeListener(app)

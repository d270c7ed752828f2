/** Calls a Node handler: a function, or a whole app of a framework. */
import { memberOf } from '../definition/error-text.ts'
import type { NodeExchange } from './node-exchange.ts'
import { NotPassedOn } from './not-passed-on.ts'

type Handler = (request: unknown, response: unknown, third?: unknown) => unknown

interface Platform {
  readonly env: unknown
  readonly waitUntil: (promise: Promise<unknown>) => void
}

/** An error of the handler breaks the exchange, or is reported if its response has already ended. */
export function callHandler(handler: Handler, exchange: NodeExchange, platform: Platform): void {
  const { req, res } = exchange
  const fail = (error: unknown): void => {
    if (res.writableEnded) platform.waitUntil(Promise.reject(error))
    else exchange.fail(explained(error))
  }
  // A router calls it for what it has no route for.
  const next = (error?: unknown): void => {
    if (error === undefined || error === null) {
      res.statusCode = 404
      res.end(`Cannot ${req.method} ${req.url}`)
    } else fail(error)
  }
  const { env, waitUntil } = platform
  const run = async (): Promise<unknown> =>
    // An app answers with its own page if it has no route, unless it is given what to call instead.
    isApp(handler) ? handler(req, res) : handler(req, res, Object.assign(next, { env, waitUntil }))
  run().catch(fail)
}

/** An edge platform's refusal of `new Function`, in words; any other error unchanged. */
function explained(error: unknown): unknown {
  if (memberOf(error, 'name') !== 'EvalError') return error
  return new NotPassedOn(
    'The handler makes code from strings, as Fastify does for its routes, which this platform does not allow: deploy it to a platform that runs Node.',
    error,
  )
}

/** Whether it is an app of Express or Connect, which are functions. */
function isApp(handler: object): boolean {
  return 'handle' in handler && 'listen' in handler
}

/** By a member that only this framework's apps have: what to pass instead of the app. */
const INSTEAD = [
  ['callback', 'Koa', 'app.callback()'],
  ['routing', 'Fastify', 'async (req, res) => { await app.ready(); app.routing(req, res) }'],
  [
    'getHttpAdapter',
    'Nest',
    'async (req, res) => { await app.init(); app.getHttpAdapter().getInstance()(req, res) }',
  ],
  ['fetch', 'a server that uses fetch', 'the server itself, without fromNode; h3 has toNodeHandler(app)'],
] as const

/** @throws TypeError for anything but a function, with what to pass instead of the app of a framework. */
export function requireHandler(handler: unknown): void {
  if (typeof handler === 'function') return
  const found = INSTEAD.find(
    ([member]) => typeof (handler as { [name: string]: unknown } | null | undefined)?.[member] === 'function',
  )
  const hint = found === undefined ? '' : ` This is ${found[1]}: pass ${found[2]}.`
  throw new TypeError(`fromNode takes a Node handler: (req, res) => ….${hint}`)
}

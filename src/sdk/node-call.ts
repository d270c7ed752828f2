/** Calls a Node handler: a function, or a whole app of a framework. */
import { memberOf } from '../definition/error-text.ts'
import { isApp, shapeOf } from './app-shape.ts'
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
  const check = (result: unknown): void => {
    const error = res.headersSent ? undefined : createsApp(result)
    if (error !== undefined) fail(error)
  }
  run().then(check).catch(fail)
}

/** An edge platform's refusal of `new Function`, in words; any other error unchanged. */
function explained(error: unknown): unknown {
  if (memberOf(error, 'name') !== 'EvalError') return error
  return new NotPassedOn(
    'The handler makes code from strings, as Fastify does for its routes, which this platform does not allow: deploy it to a platform that runs Node.',
    error,
  )
}

/** @throws TypeError for anything but a function, with what to pass instead of the app of a framework. */
export function requireHandler(handler: unknown): void {
  if (typeof handler === 'function') return
  const shape = shapeOf(handler)
  const hint = shape === undefined ? '' : ` This is ${shape.name}: pass ${shape.instead}.`
  throw new TypeError(`fromNode takes a Node handler: (req, res) => ….${hint}`)
}

/** A handler takes two arguments or more; a listener that it removes again, none. */
const isHandler = (value: unknown): boolean => typeof value === 'function' && value.length >= 2

/** In words: a function that creates what it should be. Undefined for any other result of a handler. */
function createsApp(result: unknown): NotPassedOn | undefined {
  const shape = shapeOf(result)
  if (shape === undefined && !isHandler(result)) return undefined
  const { name, instead } = shape ?? { name: 'another function (req, res) => …', instead: 'that one' }
  return new NotPassedOn(
    `The function that fromNode was given answered nothing and returned ${name}: it creates a handler and is not one. Call it before fromNode, and pass ${instead}.`,
  )
}

/** `fetch` of a server, which says what to write if a framework calls it with something other than a `Request`. */
import { printFault } from '../definition/print-error.ts'
import { type FetchServer, platformOf, type RequestPlatform } from './platform.ts'

type Fetch = (...args: Parameters<FetchServer['fetch']>) => Promise<Response>

/** @param handle serves one request with the data of its platform. */
export function toFetch(handle: (request: Request, platform: RequestPlatform) => Promise<Response>): Fetch {
  let hasPrinted = false
  return (request, env, executionContext) => {
    if (isRequest(request)) return handle(request, platformOf(env, executionContext, request))
    const message = describeCall(request, env)
    if (!hasPrinted) printFault('A request was not served', message)
    hasPrinted = true
    return Promise.resolve(refusal(message, [env, resOf(request)].find(isAnswerable)))
  }
}

/** By its class, which asks no runtime; else, as another realm has another class, by its headers: `url` may throw. */
function isRequest(given: Partial<Request> | undefined): boolean {
  return given instanceof Request || typeof given?.headers?.get === 'function'
}

/** The part of a Node response that answers. */
interface Answerable {
  writeHead(status: number, headers: object): { end(body: string): unknown }
}

const isAnswerable = (given: unknown): given is Answerable =>
  typeof (given as Partial<Answerable> | undefined)?.writeHead === 'function'

/** Koa passes its own context, which has the response. */
const resOf = (given: unknown): unknown => (given as { res?: unknown } | undefined)?.res

function describeCall(given: unknown, second: unknown): string {
  const listener = ', with nodeListener of mayfly-mcp/node.'
  const instead = isAnswerable(second)
    ? `app.use('/mcp', nodeListener(server))${listener}`
    : isAnswerable(resOf(given))
      ? `app.use((ctx) => { ctx.respond = false; nodeListener(server)(ctx.req, ctx.res) })${listener}`
      : '({ request }) => server.fetch(request), with the Request that your framework has.'
  return `server.fetch needs a Request, and the framework passed something else. Write ${instead}`
}

/** 500, also as the answer of a Node response: nobody would end it, and the client would wait. */
function refusal(message: string, response: Answerable | undefined): Response {
  const headers = { 'content-type': 'text/plain; charset=utf-8' }
  response?.writeHead(500, headers).end(message)
  return new Response(message, { status: 500, headers })
}

/**
 * A Node `(req, res)` listener for a server that uses fetch: an ordinary POST of an `MCPServer` is served here, all else goes through
 * `@hono/node-server`.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { printError } from '../../src/definition/print-error.ts'
import { type Names, refuseUnknown } from '../../src/definition/unknown-option.ts'
import { invalidTarget } from '../../src/http/refusal.ts'
import { toResponse } from '../../src/protocol/reply.ts'
import { isLoopbackPeer } from '../../src/request/connection.ts'
import { type FetchServer, isLean, requireServer, serveRequest } from '../../src/request/platform.ts'
import { isLongLived } from '../_bus/long-lived.ts'
import { respond, send } from './buffered-response.ts'
import type { Exchange, Listen, Serve } from './hono-listener.ts'
import { hostCaller } from './host-auth.ts'
import { honoListener, requireHono } from './load-hono.ts'
import { endBody, toPost } from './post.ts'
import { isUntouched, toRequest, withoutBody } from './request.ts'

/** Options of `nodeListener`. */
export interface NodeListenerOptions {
  /** The environment for `ctx.env`. Default `process.env`. */
  env?: unknown
  /**
   * The address that the listener is bound to. On a loopback address, and over a connection to one, only local hosts and origins are
   * served, and those of `http.allowedHosts` and `http.publicUrl` (DNS rebinding). Default: the address of each connection.
   */
  hostname?: string
}

const OPTIONS: Names<NodeListenerOptions> = { env: 1, hostname: 'string' }

export type NodeListener = (request: IncomingMessage, response: ServerResponse) => void
export type Track = (work: Promise<unknown>) => void

/**
 * Creates a `(req, res)` listener for node:http or Express, before or after body parsers. Answers every path. After a parser, the
 * parser's limits for the body apply. If the server has no `auth`, `req.auth` of earlier middleware becomes `ctx.auth`.
 *
 * ```ts
 * createServer(nodeListener(server)).listen(3000)
 * ```
 */
export function nodeListener(server: FetchServer, options: NodeListenerOptions = {}): NodeListener {
  requireServer('nodeListener', server)
  refuseUnknown('nodeListener', options, OPTIONS)
  return createListener(server, options, () => {})
}

export function createListener(
  server: FetchServer,
  options: NodeListenerOptions,
  track: Track,
  mayNotify = isLongLived(process.env),
): NodeListener {
  const { env = process.env, hostname } = options
  const waitUntil = (promise: Promise<unknown>): void => track(promise.catch(printError))
  // Undici's Request drops its abort listener when it is collected, even while its signal is in use (Node 20 and 24):
  // so the request is referenced as long as its response.
  const requests = new WeakMap<object, Request>()

  /** `post`: the request is a substitute of `toPost`. */
  const serve = async (
    incomingRequest: Request,
    { incoming, outgoing }: Exchange,
    post?: 'post',
  ): Promise<Response> => {
    // A Request cannot have these methods (Fetch standard, forbidden methods).
    if (/^TRAC[EK]$/i.test(incomingRequest.method)) return new Response(null, { status: 501 })
    // The absolute form may name another host (RFC 9112 §3.2.2), which no guard checked.
    if (!incoming.url?.startsWith('/')) return toResponse(invalidTarget({}))
    // The client disconnected while the host's code ran, and no later event would report it.
    if (outgoing.closed) return new Response(null, { status: 499 })
    const keep = (request: Request): Request => {
      requests.set(outgoing, request)
      return request
    }
    // Hono's request is a substitute that `new Request(it)` refuses, unless Hono replaces the globals; but then
    // `await fetch(...) instanceof Response` is false in all code of the process. A real one costs more than most calls.
    const isLeanServer = isLean(server)
    const isCheap = post !== undefined || (isLeanServer && isUntouched(incoming))
    const request = isCheap ? incomingRequest : keep(toRequest(incomingRequest, incoming))
    const clientAddress = incoming.socket?.remoteAddress
    const caller = Object.hasOwn(incoming, 'auth') ? await hostCaller(incoming, printError) : undefined
    return serveRequest(server, request, {
      env,
      waitUntil,
      canStream: true,
      isLongLived: mayNotify,
      // A listener on all interfaces is reached over a loopback address, too: a page's name may lead there.
      loopback:
        isLoopbackPeer(hostname ?? incoming.socket?.localAddress) ||
        isLoopbackPeer(incoming.socket?.localAddress),
      ...(clientAddress !== undefined && { clientAddress }),
      ...(isLeanServer && { respond }),
      ...(isCheap && {
        toRequest: (given: Request) =>
          given === incomingRequest ? (requests.get(outgoing) ?? keep(withoutBody(given))) : given,
      }),
      ...(caller !== undefined && { caller }),
    })
  }
  /** Streams, which only Hono's listener writes, by the request that they answer. */
  const streams = new WeakMap<IncomingMessage, Response>()
  const serveOther: Serve = async (request, exchange) =>
    streams.get(exchange.incoming) ?? serve(request, exchange)
  let listen: Listen | undefined
  const load = (): Listen | Promise<Listen> => {
    const hono = honoListener()
    if (hono instanceof Promise) return hono.then(load)
    listen ??= hono.createHonoListener(serveOther)
    return listen
  }
  // Reported when the process starts, and not only to the first client.
  const loading = isLean(server) ? requireHono() : load()
  if (loading instanceof Promise) loading.catch(printError)

  const listenLater = (request: IncomingMessage, response: ServerResponse): void => {
    if (listen !== undefined) return void listen(request, response)
    Promise.resolve(load()).then(
      (loaded) => loaded(request, response),
      (error: unknown) => fail(error, response),
    )
  }

  const servePost = async (
    post: Request,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): Promise<void> => {
    try {
      const response = await serve(post, { incoming, outgoing }, 'post')
      if (send(response, outgoing)) return endBody(incoming)
      streams.set(incoming, response)
      listenLater(incoming, outgoing)
    } catch (error) {
      fail(error, outgoing)
    }
  }

  return (request, response) => {
    track(new Promise((resolve) => response.once('close', resolve)))
    const post = isLean(server) ? toPost(request, response) : undefined
    if (post === undefined) listenLater(request, response)
    else void servePost(post, request, response)
  }
}

function fail(error: unknown, response: ServerResponse): void {
  printError(error)
  if (!response.headersSent) response.writeHead(500)
  response.end()
}

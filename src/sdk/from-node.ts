/**
 * `fromNode`: serves a Node `(req, res)` handler on platforms that use fetch, through `fetch-to-node`.
 */
import type { Env } from '../definition/context.ts'
import { refuseUnknown } from '../definition/unknown-option.ts'
import { HOSTED_OPTIONS, type HostedConfig, type HostedServer, host } from './host.ts'
import { toCancellable } from './node-response.ts'
import type { ForeignAnswer, ForeignCall, RunForeign } from './run.ts'

/**
 * `request` is a Node `IncomingMessage` with `auth` of the verified token and the parsed `body`, as in Express; `response` is a
 * `ServerResponse`. Neither has a socket.
 */
export type NodeHandler<NodeRequest, NodeResponse> = (
  request: NodeRequest,
  response: NodeResponse,
  platform: { readonly env: Env; readonly waitUntil: (promise: Promise<unknown>) => void },
) => unknown

/** Options of `fromNode`. */
export interface FromNodeOptions extends HostedConfig {}

/** The used members of the substitutes. */
interface Emitter {
  emit(event: 'close'): boolean
}

const NO_ENV: Env = Object.freeze({})

/**
 * Serves an MCP handler written for node:http, with Mayfly's guard, auth and adapters. The handler is called for each POST, and must not
 * depend on state in the process. On Cloudflare it needs `nodejs_compat`.
 *
 * ```ts
 * export default fromNode((req: IncomingMessage, res: ServerResponse) => handleMcp(req, res))
 * ```
 *
 * @throws TypeError for invalid options.
 */
export function fromNode<NodeRequest, NodeResponse>(
  handler: NodeHandler<NodeRequest, NodeResponse>,
  options: FromNodeOptions = {},
): HostedServer {
  if (typeof handler !== 'function') throw new TypeError('fromNode takes a Node handler: (req, res) => …')
  refuseUnknown('fromNode', options, HOSTED_OPTIONS)
  return host(createRun(handler), options)
}

function createRun<NodeRequest, NodeResponse>(handler: NodeHandler<NodeRequest, NodeResponse>): RunForeign {
  return async (call: ForeignCall): Promise<ForeignAnswer> => {
    // Loaded at the first request: it needs Node's streams, which edge bundles without `fromNode` do not have.
    const { toReqRes, toFetchResponse } = await import('fetch-to-node')
    // The client may have disconnected in the meantime; listeners added from now on would not be called.
    call.request.signal.throwIfAborted()
    const { req, res } = toReqRes(call.request)
    Object.assign(req, { auth: call.auth, body: call.message })
    // Fetch requests may have the host only in their URL, but Node handlers read the header.
    if (req.headers.host === undefined) {
      const { host } = new URL(call.request.url)
      req.headers.host = host
      req.rawHeaders.push('host', host)
    }
    const leave = (): void => {
      for (const side of [req, res] as readonly Emitter[]) side.emit('close')
    }
    call.request.signal.addEventListener('abort', leave, { once: true })
    const platform = { env: (call.env ?? NO_ENV) as Env, waitUntil: call.waitUntil }
    const broken = new Promise<never>((_resolve, reject) => {
      const { destroy } = res
      // Without a socket, `destroy` would have no effect: a stream piped to the response would wait forever.
      res.destroy = (error?: Error) => {
        if (!res.writableEnded) reject(error ?? new Error('The handler destroyed its response.'))
        return destroy.call(res, error)
      }
      const run = async (): Promise<unknown> => handler(req as NodeRequest, res as NodeResponse, platform)
      run().catch((error: unknown) => {
        if (res.writableEnded) call.waitUntil(Promise.reject(error))
        else reject(error)
      })
    })
    const response = toCancellable(await Promise.race([toFetchResponse(res), broken]), res)
    return {
      response,
      broken,
      close: () => {
        call.request.signal.removeEventListener('abort', leave)
        return response.body?.locked === false ? response.body.cancel() : undefined
      },
    }
  }
}

/**
 * The Lambda Runtime API of one execution environment: a runtime fetches its calls here and posts its answers.
 *
 * Another user of the machine must not fetch a call, which contains a token, or answer it: the address has a secret path. AWS's client takes
 * none; without it, each process is asked for its user. An answer needs the random id of its call.
 *
 * https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { isOwnPeer } from './peer.ts'

/** A function's answer to one call. */
export type Answer =
  | { readonly kind: 'whole'; readonly payload: Buffer }
  /** The body fails if the call ends before the body is complete. */
  | { readonly kind: 'streamed'; readonly contentType: string; readonly body: IncomingMessage }
  | { readonly kind: 'failed'; readonly type: string; readonly message: string }

export interface Call {
  readonly answer: Promise<Answer>
  /** Resolves when the runtime asks for the next call, which means that this one is finished. */
  readonly over: Promise<void>
}

export interface RuntimeApi {
  /** `127.0.0.1:<port>`, or `127.0.0.1:<port>/<secret>`, for `AWS_LAMBDA_RUNTIME_API`. */
  readonly address: string
  /** Resolves when the runtime asks for its first call: the function is loaded. Rejects with the runtime's error, or by `fail`. */
  readonly loaded: Promise<void>
  /** Passes one call to the runtime as soon as it asks. One at a time, only after the previous call is finished. */
  invoke(event: string, timeoutMs: number, onDeadline: () => void): Call
  /** Answers the current call if it has no answer yet, and aborts its stream. */
  fail(type: string, message: string): void
  close(): Promise<void>
}

/** Lambda's limit, from its error: "exceeded maximum allowed payload size (6291556 bytes)". */
export const MAX_RESULT_BYTES = 6_291_556

const PREFIX = '/2018-06-01/runtime'

interface Invocation {
  readonly id: string
  readonly event: string
  readonly timeoutMs: number
  readonly onDeadline: () => void
  readonly answer: (answer: Answer) => void
  readonly end: () => void
  isDelivered: boolean
  isAnswered: boolean
  timer?: NodeJS.Timeout
  stream?: IncomingMessage
}

export async function startRuntimeApi({ hasSecret }: { readonly hasSecret: boolean }): Promise<RuntimeApi> {
  let invocation: Invocation | undefined
  let asking: ServerResponse | undefined
  const secret = hasSecret ? `/${randomBytes(32).toString('base64url')}` : ''

  let reportLoaded = (): void => {}
  let rejectLoaded = (_error: Error): void => {}
  const loaded = new Promise<void>((resolve, reject) => {
    reportLoaded = resolve
    rejectLoaded = reject
  })
  // Code that awaits it still gets the error.
  loaded.catch(() => {})

  const deliver = (): void => {
    if (asking === undefined || invocation === undefined) return
    invocation.isDelivered = true
    const { id, event, timeoutMs, onDeadline } = invocation
    // A function's time starts when it gets the event; starting the process does not count.
    invocation.timer = setTimeout(onDeadline, timeoutMs)
    asking.writeHead(200, {
      'content-type': 'application/json',
      'lambda-runtime-aws-request-id': id,
      'lambda-runtime-deadline-ms': String(Date.now() + timeoutMs),
      'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:us-east-1:000000000000:function:local',
      'lambda-runtime-trace-id': `Root=1-${id.slice(0, 8)}-${id.replaceAll('-', '').slice(0, 24)}`,
    })
    asking.end(event)
    asking = undefined
  }
  /** Finishes the current call once it has its answer and the runtime asks for the next one. */
  const proceed = (): void => {
    if (asking === undefined) return
    if (invocation?.isDelivered === true) {
      // They use separate connections, so an answer may arrive after the request for the next call.
      if (!invocation.isAnswered) return
      clearTimeout(invocation.timer)
      invocation.end()
      invocation = undefined
    }
    deliver()
  }
  const next = (response: ServerResponse): void => {
    // A second one would take the calls of the first. After an aborted call, the first may be gone.
    if (asking !== undefined && !asking.destroyed) return void response.writeHead(409).end()
    asking = response
    reportLoaded()
    proceed()
  }
  const respond = async (request: IncomingMessage, current: Invocation): Promise<number> => {
    if (request.headers['lambda-runtime-function-response-mode'] === 'streaming') {
      current.stream = request
      const contentType = request.headers['content-type'] ?? 'application/octet-stream'
      current.answer({ kind: 'streamed', contentType, body: request })
      await once(request, 'end')
      return 202
    }
    const payload = await buffer(request)
    if (payload.byteLength <= MAX_RESULT_BYTES) {
      current.answer({ kind: 'whole', payload })
      return 202
    }
    const message = `Response payload size exceeded maximum allowed payload size (${MAX_RESULT_BYTES} bytes).`
    current.answer({ kind: 'failed', type: 'Function.ResponseSizeTooLarge', message })
    return 413
  }
  const fail = async (request: IncomingMessage): Promise<number> => {
    const { errorType, errorMessage } = JSON.parse((await buffer(request)).toString('utf8')) as {
      errorType?: string
      errorMessage?: string
    }
    rejectLoaded(new Error(`${errorType ?? 'Error'}: ${errorMessage ?? ''}`))
    invocation?.answer({ kind: 'failed', type: errorType ?? 'Error', message: errorMessage ?? '' })
    return 202
  }
  const route = async (request: IncomingMessage, path: string): Promise<number> => {
    if (path === `${PREFIX}/init/error`) return fail(request)
    const [, id, what] = new RegExp(`^${PREFIX}/invocation/([^/]+)/(response|error)$`).exec(path) ?? []
    if (what === undefined) return 404
    if (invocation === undefined || invocation.id !== id) return 400
    return what === 'error' ? fail(request) : respond(request, invocation)
  }

  // Once a connection: to look it up takes longer than a call.
  const ownSockets = new WeakSet<Socket>()
  const isOwn = (socket: Socket): boolean => {
    if (!ownSockets.has(socket) && !isOwnPeer(socket)) return false
    ownSockets.add(socket)
    return true
  }

  const server = createServer((request, response) => {
    const { url = '', headers, socket } = request
    // A page in a browser sends an Origin, or another name for this machine.
    const isRuntime = headers.origin === undefined && headers.host === address && url.startsWith(`${secret}/`)
    if (!isRuntime || !(hasSecret || isOwn(socket))) return void response.writeHead(403).end()
    const path = url.slice(secret.length)
    if (path === `${PREFIX}/invocation/next`) return next(response)
    route(request, path).then(
      (status) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end('{"status":"OK"}')
        proceed()
      },
      // The sending process was killed.
      () => response.destroy(),
    )
  })
  // A runtime may wait for its next call, and stream its answer, without a time limit.
  server.requestTimeout = 0
  server.keepAliveTimeout = 0
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    address: address + secret,
    invoke: (event, timeoutMs, onDeadline) => {
      let end = (): void => {}
      const over = new Promise<void>((resolve) => {
        end = resolve
      })
      const answer = new Promise<Answer>((resolve) => {
        const id = randomUUID()
        const answered = (given: Answer): void => {
          if (invocation?.id === id) invocation.isAnswered = true
          resolve(given)
        }
        invocation = {
          id,
          event,
          timeoutMs,
          onDeadline,
          answer: answered,
          end,
          isDelivered: false,
          isAnswered: false,
        }
        deliver()
      })
      return { answer, over }
    },
    loaded,
    fail: (type, message) => {
      rejectLoaded(new Error(`${type}: ${message}`))
      clearTimeout(invocation?.timer)
      invocation?.answer({ kind: 'failed', type, message })
      invocation?.stream?.destroy()
    },
    close: async () => {
      clearTimeout(invocation?.timer)
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

/** A local HTTP trigger: turns requests into events, and the function's answers into responses. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { drained } from '../../../adapters/_lambda/stream.ts'
import { textOf } from '../../../src/definition/error-text.ts'
import { drain } from '../../run/drain.ts'
import { readBody } from '../../run/read-body.ts'
import type { Environments } from './environments.ts'
import { type FunctionResult, fromHead, fromResult, type Trigger, toEvent } from './events.ts'
import type { Answer } from './runtime-api.ts'
import { readPrelude } from './streamed.ts'

export interface GatewayOptions {
  readonly trigger: Trigger
  /** A port of 127.0.0.1; 0 picks a free one. */
  readonly port: number
  /** `$default` is not part of the path. Default `prod` for a REST API, which always has a named stage, otherwise `$default`. */
  readonly stage?: string
}

export interface Gateway {
  readonly port: number
  /** Cuts running calls, unless they end within `graceMs`. Default 0. */
  close(graceMs?: number): Promise<void>
}

/** "Request must be smaller than 6291456 bytes for the InvokeFunction operation"; a load balancer accepts 1 MB. */
const MAX_EVENT_BYTES = 6_291_456
const MAX_ALB_BODY_BYTES = 1_000_000

/** Streams only if the function streams and the trigger supports it. Like AWS, does not end a call when its client disconnects. */
export async function startGateway(environments: Environments, options: GatewayOptions): Promise<Gateway> {
  const { trigger } = options
  const stage = options.stage ?? (trigger === 'rest-api' ? 'prod' : '$default')
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const target = request.url ?? '/'
    if (!isOnStage(target, trigger, stage)) return refuse(response, 404, 'Not Found')
    const body = await readBody(request, trigger.startsWith('alb') ? MAX_ALB_BODY_BYTES : MAX_EVENT_BYTES)
    if (body === undefined) return refuse(response, 413, 'Request Too Long')
    const event = toEvent(trigger, { ...wireOf(request), target, body }, stage)
    if (Buffer.byteLength(JSON.stringify(event)) > MAX_EVENT_BYTES)
      return refuse(response, 413, 'Request Too Long')
    await answer(await environments.invoke(event), trigger, response)
  }
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      // The client disconnected, or the function's stream broke off.
      if (!response.destroyed) process.stderr.write(`${textOf(error)}\n`)
      response.destroy()
    })
  })
  await once(server.listen(options.port, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close: (graceMs = 0) => drain(server, graceMs),
  }
}

async function answer(given: Answer, trigger: Trigger, response: ServerResponse): Promise<void> {
  if (given.kind === 'streamed') return pass(given, trigger, response)
  if (given.kind === 'failed') {
    process.stderr.write(`${given.type}: ${given.message}\n`)
    return fault(trigger, response)
  }
  let result: ReturnType<typeof fromResult>
  try {
    result = fromResult(trigger, JSON.parse(given.payload.toString('utf8')) as FunctionResult)
  } catch (error) {
    process.stderr.write(`The trigger does not accept the function's result: ${textOf(error)}\n`)
    return fault(trigger, response)
  }
  writeHead(response, result)
  response.end(result.body)
}

/** Sends the metadata first, then the body as it arrives and as fast as the client reads. */
async function pass(
  { body, contentType }: Answer & { kind: 'streamed' },
  trigger: Trigger,
  response: ServerResponse,
): Promise<void> {
  if (trigger !== 'function-url' && trigger !== 'rest-api') {
    body.resume()
    process.stderr.write(`The function streams, but ${trigger} cannot: use the buffered handler.\n`)
    return fault(trigger, response)
  }
  const { head, rest } = await readPrelude(body, contentType)
  writeHead(response, fromHead(trigger, head))
  response.flushHeaders()
  for await (const chunk of rest) {
    // Stops writing to a client that disconnected, but lets the function continue.
    if (!response.destroyed && !response.write(chunk)) await drained(response)
  }
  if (Object.keys(body.trailers).length > 0) response.destroy()
  else response.end()
}

function writeHead(response: ServerResponse, { status, headers }: ReturnType<typeof fromHead>): void {
  for (const [name, value] of headers) response.appendHeader(name, value)
  response.writeHead(status)
}

/** What clients get if the function fails. The reason is only in its log. */
function fault(trigger: Trigger, response: ServerResponse): void {
  refuse(response, trigger === 'http-api' ? 500 : 502, 'Internal Server Error')
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
  response.end(JSON.stringify({ message }))
}

function isOnStage(target: string, trigger: Trigger, stage: string): boolean {
  if (trigger !== 'rest-api' && (trigger !== 'http-api' || stage === '$default')) return true
  return target === `/${stage}` || target.startsWith(`/${stage}/`) || target.startsWith(`/${stage}?`)
}

function wireOf({ method = 'GET', rawHeaders, socket }: IncomingMessage): {
  method: string
  headers: [string, string][]
  sourceIp: string
} {
  const headers: [string, string][] = []
  for (let at = 0; at < rawHeaders.length; at += 2) headers.push([rawHeaders[at]!, rawHeaders[at + 1]!])
  return { method, headers, sourceIp: socket.remoteAddress ?? '127.0.0.1' }
}

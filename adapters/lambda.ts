/**
 * AWS Lambda: serves an `MCPServer`, or anything with a `fetch`, behind a Function URL, API Gateway (HTTP API, REST API) or
 * an Application Load Balancer.
 *
 * Exports `lambda`, a handler with buffered responses, and `streamingLambda`, one that streams. Nothing is kept between calls. `sqsRunner` and
 * `durableRunner` run tasks.
 */

import { type Names, refuseUnknown } from '../src/definition/unknown-option.ts'
import {
  type FetchServer,
  isLean,
  type RequestPlatform,
  requireServer,
  serveRequest,
} from '../src/request/platform.ts'
import { type Background, createBackground } from './_lambda/background.ts'
import { type LambdaCall, readCall } from './_lambda/event-to-request.ts'
import {
  type Answer,
  type LambdaResult,
  MAX_STREAMED_BYTES,
  maxBodyBytes,
  type ResponseHead,
  respond,
  toAnswer,
  toHead,
  toResult,
} from './_lambda/result.ts'
import { type ResponseStream, writeResponse } from './_lambda/stream.ts'

export {
  type DurableInvoker,
  type DurableRunner,
  type DurableRunnerOptions,
  type DurableTaskContext,
  durableRunner,
} from './lambda-durable.ts'
export {
  type SqsBatchResult,
  type SqsClient,
  type SqsEvent,
  type SqsRecord,
  type SqsRunner,
  type SqsRunnerOptions,
  sqsRunner,
} from './lambda-sqs.ts'
export type { LambdaResult, ResponseHead, ResponseStream }

/** Options of `lambda` and `streamingLambda`. */
export interface LambdaOptions {
  /** The environment for `ctx.env`. Default `process.env`. */
  env?: unknown
}

const OPTIONS: Names<LambdaOptions> = { env: 1 }

/** The used members of Lambda's context; inlined, so that the type needs no package. */
export interface LambdaContext {
  getRemainingTimeInMillis(): number
}

/** A Lambda handler with buffered responses. */
export type LambdaHandler = (event: unknown, context: LambdaContext) => Promise<LambdaResult>

/** A Lambda handler that streams its response. */
export type StreamingLambdaHandler = (
  event: unknown,
  responseStream: ResponseStream,
  context: LambdaContext,
) => Promise<void>

/** The global that Lambda's Node runtimes define before they load a function. */
interface AwsLambda {
  streamifyResponse(handler: StreamingLambdaHandler): StreamingLambdaHandler
  readonly HttpResponseStream: { from(stream: ResponseStream, head: ResponseHead): ResponseStream }
}

/** How many milliseconds before the function's timeout `waitUntil` work is no longer awaited, so that the response is still sent. */
const RETURN_MARGIN_MS = 500

/**
 * Creates a handler with buffered responses, for every trigger: Function URL with invoke mode BUFFERED, API Gateway, load balancer. A
 * response too large for the trigger is replaced by a JSON-RPC error that says so. Waits for `waitUntil` work before it returns,
 * until half a second before the function's timeout. The handler throws `TypeError` for an event of another kind.
 *
 * ```ts
 * export const handler = lambda(server)
 * ```
 */
export function lambda(server: FetchServer, options: LambdaOptions = {}): LambdaHandler {
  requireServer('lambda', server)
  refuseUnknown('lambda', options, OPTIONS)
  return async (event, context) => {
    const call = readCall(event)
    const background = createBackground()
    const deadline = deadlineOf(context)
    const response = await answer(server, call, {
      ...platformOf(call, background, deadline, options),
      canStream: false,
      maxResponseBytes: maxBodyBytes(call.shape),
    })
    const result = await toResult(response, call.shape)
    await background.settled(deadline - RETURN_MARGIN_MS)
    return result
  }
}

/**
 * Creates a handler that streams, for a Function URL with invoke mode RESPONSE_STREAM or a REST API with response transfer mode STREAM.
 * `waitUntil` work continues after the response has ended. Lambda does not report disconnects, so `ctx.signal` aborts only at the deadline.
 * Throws `TypeError` outside of Lambda's Node runtimes.
 *
 * ```ts
 * export const handler = streamingLambda(server)
 * ```
 */
export function streamingLambda(server: FetchServer, options: LambdaOptions = {}): StreamingLambdaHandler {
  requireServer('streamingLambda', server)
  refuseUnknown('streamingLambda', options, OPTIONS)
  const { streamifyResponse, HttpResponseStream } = awsLambda()
  return streamifyResponse(async (event, responseStream, context) => {
    const call = readCall(event)
    if (call.shape === 'alb' || call.shape === 'alb-multi-value')
      throw new TypeError('A load balancer accepts only buffered responses: use lambda() for it.')
    const background = createBackground()
    const deadline = deadlineOf(context)
    const response = await answer(server, call, {
      ...platformOf(call, background, deadline, options),
      canStream: true,
      maxResponseBytes: MAX_STREAMED_BYTES,
      maxStreamedBytes: MAX_STREAMED_BYTES,
    })
    await writeResponse(response, HttpResponseStream.from(responseStream, toHead(response, call.shape)))
    await background.settled(deadline - RETURN_MARGIN_MS)
  })
}

function platformOf(
  { prefix, vouchesForHost, clientAddress }: LambdaCall,
  { waitUntil }: Background,
  deadline: number,
  { env = process.env }: LambdaOptions,
): RequestPlatform {
  return {
    env,
    waitUntil,
    deadline,
    deadlineName: 'the timeout of the Lambda function',
    seesDisconnect: false,
    prefix,
    vouchesForHost,
    ...(clientAddress !== undefined && { clientAddress }),
  }
}

async function answer(server: FetchServer, call: LambdaCall, platform: RequestPlatform): Promise<Answer> {
  const post = isLean(server) ? call.toPost() : undefined
  if (post !== undefined) {
    const toRequest = (given: Request): Request => (given === post ? post.toReal() : given)
    return toAnswer(await serveRequest(server, post, { ...platform, toRequest, respond }))
  }
  const request = call.toRequest()
  if (request === undefined) return new Response(null, { status: 400 })
  const response = await serveRequest(server, request, platform)
  // Other HTTP servers drop the body of a HEAD response (RFC 9110 §9.3.2), but Lambda would send it.
  return request.method === 'HEAD' ? new Response(null, response) : response
}

function deadlineOf(context: LambdaContext): number {
  return Date.now() + context.getRemainingTimeInMillis()
}

function awsLambda(): AwsLambda {
  // A global of the platform, which has no type here.
  const { awslambda } = globalThis as { awslambda?: AwsLambda }
  if (awslambda?.streamifyResponse === undefined)
    throw new TypeError(
      'streamingLambda() needs the global "awslambda", which only Lambda’s Node runtimes have: use lambda() elsewhere.',
    )
  return awslambda
}

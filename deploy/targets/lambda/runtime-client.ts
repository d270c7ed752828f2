/**
 * Mayfly's own runtime interface client, for machines without AWS's, which compiles only on Linux. Fetches calls from the Runtime API, one
 * at a time, and runs the handler. Run as `runtime-client.ts index.handler` with Lambda's own variables.
 *
 * https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html, and for streams
 * https://docs.aws.amazon.com/lambda/latest/dg/runtimes-custom.html#runtimes-custom-response-streaming
 */

import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import type { LambdaContext, LambdaHandler, ResponseHead } from '../../../adapters/lambda.ts'
import { isA, memberOf, textOf } from '../../../src/definition/error-text.ts'
import { printError } from '../../../src/definition/print-error.ts'
import { METADATA_TYPE } from './streamed.ts'

/** The stream that a streaming handler writes to. */
interface Sink extends ClientRequest {
  setContentType(type: string): void
}

type StreamingHandler = (event: unknown, responseStream: Sink, context: LambdaContext) => Promise<void>

const API = process.env.AWS_LAMBDA_RUNTIME_API ?? ''
const PREFIX = '/2018-06-01/runtime'

const streaming = new WeakSet<object>()

// Lambda's Node runtimes define this global before they load a function.
Object.assign(globalThis, {
  awslambda: {
    streamifyResponse: (handler: StreamingHandler): StreamingHandler => {
      streaming.add(handler)
      return handler
    },
    HttpResponseStream: {
      from: (sink: Sink, head: ResponseHead): Sink => {
        sink.setContentType(METADATA_TYPE)
        sink.write(JSON.stringify(head))
        sink.write(new Uint8Array(8))
        return sink
      },
    },
  },
})

let handler: LambdaHandler | StreamingHandler
try {
  handler = await load(process.argv[2] ?? '')
} catch (error) {
  await post('/init/error', describe(error))
  process.exit(1)
}
for (;;) await runNext()

async function load(name: string): Promise<LambdaHandler | StreamingHandler> {
  const [file = '', key = ''] = name.split('.')
  const root = process.env.LAMBDA_TASK_ROOT ?? process.cwd()
  const path = ['mjs', 'js', 'cjs'].map((ending) => join(root, `${file}.${ending}`)).find(existsSync)
  if (path === undefined) throw new Error(`the package has no module ${file}`)
  const exported = ((await import(pathToFileURL(path).href)) as Record<string, unknown>)[key]
  if (typeof exported !== 'function') throw new TypeError(`${name} is not a function`)
  return exported as LambdaHandler | StreamingHandler
}

async function runNext(): Promise<void> {
  const next = await answerTo(call('GET', '/invocation/next').end())
  const event: unknown = JSON.parse((await buffer(next)).toString('utf8'))
  const deadline = Number(next.headers['lambda-runtime-deadline-ms'])
  const context = { getRemainingTimeInMillis: () => deadline - Date.now() }
  const path = `/invocation/${next.headers['lambda-runtime-aws-request-id']}`
  if (streaming.has(handler)) await stream(handler as StreamingHandler, event, context, path)
  else await whole(handler as LambdaHandler, event, context, path)
}

async function whole(
  run: LambdaHandler,
  event: unknown,
  context: LambdaContext,
  path: string,
): Promise<void> {
  try {
    await post(`${path}/response`, (await run(event, context)) ?? null)
  } catch (error) {
    printError(error)
    await post(`${path}/error`, describe(error))
  }
}

async function stream(
  run: StreamingHandler,
  event: unknown,
  context: LambdaContext,
  path: string,
): Promise<void> {
  const sink = createSink(`${path}/response`)
  const answered = answerTo(sink)
  // If a call is aborted, this process ends too.
  answered.catch(() => {})
  try {
    await run(event, sink, context)
  } catch (error) {
    printError(error)
    const { errorType, ...rest } = describe(error)
    sink.addTrailers([
      ['Lambda-Runtime-Function-Error-Type', errorType],
      ['Lambda-Runtime-Function-Error-Body', Buffer.from(JSON.stringify(rest)).toString('base64')],
    ])
    sink.end()
  }
  await buffer(await answered)
}

function createSink(path: string): Sink {
  const sink = call('POST', path, {
    'content-type': 'application/octet-stream',
    'lambda-runtime-function-response-mode': 'streaming',
    'transfer-encoding': 'chunked',
    trailer: 'Lambda-Runtime-Function-Error-Type, Lambda-Runtime-Function-Error-Body',
  })
  return Object.assign(sink, { setContentType: (type: string) => void sink.setHeader('content-type', type) })
}

function call(
  method: string,
  path: string,
  headers: { readonly [name: string]: string } = {},
): ClientRequest {
  return request(`http://${API}${PREFIX}${path}`, { method, headers, agent: false })
}

async function answerTo(sent: ClientRequest): Promise<IncomingMessage> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return response
}

async function post(path: string, value: unknown): Promise<void> {
  const body = Buffer.from(JSON.stringify(value))
  const headers = { 'content-type': 'application/json', 'content-length': String(body.byteLength) }
  await buffer(await answerTo(call('POST', path, headers).end(body)))
}

function describe(error: unknown): { errorType: string; errorMessage: string } {
  const errorType = isA(error, Error) ? textOf(memberOf(error, 'name')) : 'Error'
  return { errorType, errorMessage: textOf(error) }
}

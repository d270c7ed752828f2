/** A collector of OpenTelemetry (OTLP over HTTP, in JSON), and the server that tools call, both on loopback. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  /** 2 is a server's, 3 a client's. */
  readonly kind: number
}

interface Body {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[]
  }[]
}

export interface Collector extends AsyncDisposable {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string
  readonly spans: readonly ReceivedSpan[]
}

export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = []
  const listening = await listen(async (request) => {
    if (request.method !== 'POST' || request.url !== '/v1/traces') return { status: 404, body: '' }
    const { resourceSpans } = JSON.parse(await text(request)) as Body
    spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)))
    return { status: 200, body: '{}' }
  })
  return { ...listening, spans }
}

export interface Weather extends AsyncDisposable {
  readonly url: string
  /** The `traceparent` of each request for a city. */
  readonly parents: ReadonlyMap<string, string | undefined>
}

export async function startWeather(): Promise<Weather> {
  const parents = new Map<string, string | undefined>()
  const listening = await listen(async ({ url, headers: { traceparent } }) => {
    const city = new URL(url!, 'http://weather').searchParams.get('city')!
    parents.set(city, traceparent as string | undefined)
    return { status: 200, body: `It is sunny in ${city}.` }
  })
  return { ...listening, parents }
}

type Answer = (request: IncomingMessage) => Promise<{ readonly status: number; readonly body: string }>

async function listen(answer: Answer): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(async (request, response) => {
    const { status, body } = await answer(request)
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

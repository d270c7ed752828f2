/** Stands in for a platform's API on loopback, and keeps what the platform's real tool sends it. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly headers: Headers
  readonly body: Buffer
}

export interface Double extends AsyncDisposable {
  readonly url: string
  readonly received: readonly Received[]
}

/** What the platform would say: JSON, by default with status 200. */
export type Reply = { readonly status?: number; readonly json: unknown }

/** Serves on loopback. `answer` gets every request, whole. */
export async function startDouble(answer: (request: Received) => Reply): Promise<Double> {
  const received: Received[] = []
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const request: Received = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: new Headers(incoming.headers as Record<string, string>),
      body: Buffer.concat(chunks),
    }
    received.push(request)
    const { status = 200, json } = answer(request)
    outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A body of `multipart/form-data`. */
export function formOf({ body, headers }: Received): Promise<FormData> {
  return new Response(new Uint8Array(body), {
    headers: { 'content-type': headers.get('content-type') ?? '' },
  }).formData()
}

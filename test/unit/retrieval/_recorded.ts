/**
 * A server on loopback that answers as a vendor's documentation says. Not the vendor's service: what it would answer to a request
 * that its documentation does not show is not known here.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  // biome-ignore lint/suspicious/noExplicitAny: each test states the shape that it expects.
  readonly body: any
}

/** By `METHOD /path`, without the query: the body of the answer, or a function of the request. A missing one is a 404. */
export interface Recorded {
  readonly [request: string]: unknown
}

export async function serveRecorded(recorded: Recorded) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { method = '', url = '', headers } = request
    const one = { method, path: url, headers, body: text === '' ? undefined : JSON.parse(text) }
    received.push(one)
    const answer = recorded[`${method} ${url.replace(/\?.*/, '')}`]
    const body = typeof answer === 'function' ? (answer as (request: Received) => unknown)(one) : answer
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body ?? { error: 'not found: api-key secret' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, received, last: () => received.at(-1)!, close: () => server.close() }
}

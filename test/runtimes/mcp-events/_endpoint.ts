/** An endpoint over HTTP that records what it gets, and checks that it is signed. */
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

const KEY = Buffer.alloc(32, 7)
/** Of each subscription. */
export const SECRET = `whsec_${KEY.toString('base64')}`

export interface Post {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: each test looks at the members of its own body.
  readonly body: Record<string, any>
}

export interface Answer {
  readonly status: number
  readonly headers?: { readonly [name: string]: string }
}

export interface Endpoint {
  /** All that was signed, but verifications. */
  readonly received: Post[]
  readonly url: URL
  /** What the next requests are answered, verifications not included. Default: 204. */
  answer: (post: Post) => Answer | Promise<Answer>
  close(): Promise<void>
}

export async function startEndpoint(): Promise<Endpoint> {
  const http = createServer(async (request, response) => {
    const raw = await text(request).catch(() => '')
    const { headers, url: path = '' } = request
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${raw}`
    const signature = createHmac('sha256', KEY).update(signed).digest('base64')
    if (headers['webhook-signature'] !== `v1,${signature}`) return void response.writeHead(401).end()
    const body = JSON.parse(raw) as Post['body']
    if (body.type === 'verification')
      return void response.writeHead(200).end(JSON.stringify({ challenge: body.challenge }))
    const post = { path, headers, body }
    endpoint.received.push(post)
    const answer = await endpoint.answer(post)
    response.writeHead(answer.status, answer.headers).end()
  }).listen(0, '127.0.0.1')
  await once(http, 'listening')
  const endpoint: Endpoint = {
    received: [],
    url: new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}`),
    answer: () => ({ status: 204 }),
    async close() {
      http.closeAllConnections()
      await new Promise((closed) => http.close(closed))
    },
  }
  return endpoint
}

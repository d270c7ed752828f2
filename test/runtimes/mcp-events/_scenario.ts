/** A client over HTTP, and an endpoint of its own: from a subscription to a delivery, a retry and the end. */
import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { TOKEN } from './_server.ts'

const KEY = Buffer.alloc(32, 7)
const SECRET = `whsec_${KEY.toString('base64')}`

interface Received {
  readonly headers: IncomingMessage['headers']
  readonly body: { readonly type?: string; readonly data?: { readonly text: string } }
}

async function startEndpoint() {
  const received: Received[] = []
  const state = { received, failures: 0, url: '' }
  const http = createServer((request, response) => {
    let raw = ''
    request.on('data', (chunk: Buffer) => {
      raw += chunk.toString()
    })
    request.on('end', () => {
      const { headers } = request
      const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${raw}`
      const signature = createHmac('sha256', KEY).update(signed).digest('base64')
      if (headers['webhook-signature'] !== `v1,${signature}`) return response.writeHead(401).end()
      const body = JSON.parse(raw)
      if (body.type === 'verification')
        return response.writeHead(200).end(JSON.stringify({ challenge: body.challenge }))
      received.push({ headers, body })
      if (state.failures-- > 0) return response.writeHead(503, { 'retry-after': '0' }).end()
      return response.writeHead(204).end()
    })
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void http.close())
  state.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/hook`
  return state
}

/** @param start a new process of `createNotes`, which the caller ends. */
export function eventScenario(
  start: () => Promise<{ readonly url: URL; readonly close: () => unknown }>,
): void {
  it('a client subscribes, gets a signed event, a second try of one that failed, and nothing after the end', async () => {
    const endpoint = await startEndpoint()
    const { url, close } = await start()
    onTestFinished(async () => void (await close()))
    let id = 0
    const send = async (method: string, params: object): Promise<Record<string, unknown>> => {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${TOKEN}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2025-11-25',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }),
      })
      const { result, error } = (await response.json()) as {
        result?: Record<string, unknown>
        error?: unknown
      }
      if (result === undefined) throw new Error(JSON.stringify(error))
      return result
    }
    const subscription = { name: 'note.created', arguments: { tag: 'a' } }
    const granted = await send('events/subscribe', {
      ...subscription,
      delivery: { mode: 'webhook', url: endpoint.url, secret: SECRET },
    })
    expect(granted).toMatchObject({ id: expect.stringMatching(/^sub_/), truncated: false })

    const texts = () => endpoint.received.map(({ body }) => body.data?.text)
    await send('tools/call', { name: 'add_note', arguments: { text: 'other', tag: 'b' } })
    await send('tools/call', { name: 'add_note', arguments: { text: 'first', tag: 'a' } })
    await vi.waitFor(() => expect(texts()).toEqual(['first']), { timeout: 5000 })
    expect(endpoint.received[0]!.headers['x-mcp-subscription-id']).toBe(granted.id)

    endpoint.failures = 1
    await send('tools/call', { name: 'add_note', arguments: { text: 'second', tag: 'a' } })
    await vi.waitFor(() => expect(texts().length).toBeGreaterThan(1), { timeout: 5000 })
    await vi.waitFor(
      async () => {
        await send('tools/call', { name: 'deliver', arguments: {} })
        expect(texts()).toEqual(['first', 'second', 'second'])
      },
      { timeout: 5000 },
    )
    const [, failed, again] = endpoint.received
    expect(again!.headers['webhook-id']).toBe(failed!.headers['webhook-id'])

    await send('events/unsubscribe', { ...subscription, delivery: { url: endpoint.url } })
    await send('tools/call', { name: 'add_note', arguments: { text: 'late', tag: 'a' } })
    await send('tools/call', { name: 'deliver', arguments: {} })
    expect(texts()).toEqual(['first', 'second', 'second'])
  })
}

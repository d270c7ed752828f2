/**
 * What OpenAI documents for ChatGPT (developers.openai.com/plugins/build/mcp-events, November 2026): `events` is found in the answer to
 * `initialize` of 2025-03-26 and to `server/discover`; subscriptions are by webhook alone; of the bodies that are not events, only the
 * verification is supported.
 */
import { expect, it } from 'vitest'
import { createEventServer, SECRET, TOKENS, URL_A } from './_events.ts'

const CALLBACK = `${URL_A}&user=a%20b`

async function post({ server }: ReturnType<typeof createEventServer>, message: object, headers = {}) {
  const request = new Request('https://shop.example/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${TOKENS.alice}`,
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
  })
  const response = await server.handle(request, {})
  const text = await response.text()
  const json = text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? 'null')
  return { session: response.headers.get('mcp-session-id'), answer: JSON.parse(json) }
}

it('with initialize of 2025-03-26: events is declared, subscribed to, delivered and unsubscribed [events.chatgpt]', async () => {
  const server = createEventServer()
  const { endpoints, emit } = server
  const { session, answer } = await post(server, {
    method: 'initialize',
    params: {
      protocolVersion: '2025-03-26',
      capabilities: {},
      clientInfo: { name: 'chatgpt', version: '1' },
    },
  })
  expect(answer.result).toMatchObject({ protocolVersion: '2025-03-26', capabilities: { events: {} } })
  const headers = session === null ? {} : { 'mcp-session-id': session }
  const listed = await post(server, { method: 'events/list', params: {} }, headers)
  expect(listed.answer.result.events).toMatchObject([
    {
      name: 'incident.created',
      delivery: expect.arrayContaining(['webhook']),
      inputSchema: { type: 'object' },
    },
  ])
  const delivery = { mode: 'webhook', url: CALLBACK, secret: SECRET }
  const what = { name: 'incident.created', arguments: { severity: 'P1' } }
  const subscribed = await post(
    server,
    { method: 'events/subscribe', params: { ...what, delivery } },
    headers,
  )
  const { id, refreshBefore } = subscribed.answer.result
  expect(Date.parse(refreshBefore)).toBeGreaterThan(Date.now())
  expect(endpoints.verifications).toMatchObject([
    { url: CALLBACK, headers: { 'x-mcp-subscription-id': id }, body: { type: 'verification' } },
  ])
  await emit({ severity: 'P2' })
  await emit({ severity: 'P1' }, 'evt_1')
  expect(endpoints.received).toMatchObject([
    {
      url: CALLBACK,
      headers: { 'webhook-id': 'evt_1', 'x-mcp-subscription-id': id },
      body: { eventId: 'evt_1' },
    },
  ])
  const gone = { method: 'events/unsubscribe', params: { ...what, delivery: { url: CALLBACK } } }
  expect((await post(server, gone, headers)).answer.result).toEqual({})
  await emit({ severity: 'P1' }, 'evt_2')
  expect(endpoints.received).toHaveLength(1)
})

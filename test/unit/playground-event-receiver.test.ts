import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { createEventReceivers, type EventReceiver } from '../../deploy/playground/event-receiver.ts'
import { startInspectServer } from '../../deploy/playground/inspect-server.ts'
import { signHeaders } from '../../src/mcp-events/deliver/sign.ts'

const EVENT = { eventId: 'e1', name: 'made', timestamp: '2026-11-30T00:00:00Z', data: { text: '<b>x</b>' } }

async function toRequest(
  { secret }: Pick<EventReceiver, 'secret'>,
  content: object,
  id = 'e1',
): Promise<Request> {
  const body = JSON.stringify(content)
  const signed = await signHeaders([secret], id, Math.floor(Date.now() / 1000), body)
  const headers = { ...signed, 'x-mcp-subscription-id': 'sub' }
  return new Request('http://127.0.0.1/', { method: 'POST', headers, body })
}

test('a verification is answered with its challenge, whatever the next answer is', async () => {
  const receivers = createEventReceivers()
  const receiver = receivers.open()!
  receiver.setAnswer('gone')
  const request = await toRequest(receiver, { type: 'verification', challenge: 'c' }, 'v1')
  const answer = await receivers.handle(receiver.id, request)
  expect([answer.status, await answer.json()]).toEqual([200, { challenge: 'c' }])
  expect(receiver.entries).toMatchObject([{ kind: 'verification', isVerified: true, status: 200 }])
})

test('each delivery gets the chosen answer, and its attempts are counted', async () => {
  const receivers = createEventReceivers({ slowMs: 1 })
  const receiver = receivers.open()!
  for (const answer of ['fail', 'gone', 'slow', 'accept'] as const) {
    receiver.setAnswer(answer)
    await receivers.handle(receiver.id, await toRequest(receiver, EVENT))
  }
  expect(receiver.entries.map(({ attempt, status }) => [attempt, status])).toEqual([
    [1, 500],
    [2, 410],
    [3, 200],
    [4, 200],
  ])
})

test('a foreign signature → 401 even if 200 is chosen, and its body is not kept', async () => {
  const receivers = createEventReceivers()
  const [receiver, other] = [receivers.open()!, receivers.open()!]
  const answer = await receivers.handle(receiver.id, await toRequest(other, EVENT))
  expect(answer.status).toBe(401)
  expect(receiver.entries).toMatchObject([{ isVerified: false, body: '', status: 401 }])
})

test('without the token of the page nothing is opened; a server elsewhere gets no receiver', async () => {
  const ask = async (server: string, token: string, body: object): Promise<Response> => {
    const page = await startInspectServer({ server: new URL(server), headers: {}, token: 'right', port: 0 })
    const { origin } = new URL(page.url)
    const headers = { origin, 'x-mayfly-token': token, 'content-type': 'application/json' }
    const sent = { method: 'POST', headers, body: JSON.stringify(body) }
    const answer = await fetch(`${origin}/__mayfly/receivers`, sent)
    const copy = new Response(await answer.text(), answer)
    await page.close()
    return copy
  }
  const local = 'http://127.0.0.1:9/mcp'
  expect((await ask(local, 'wrong', {})).status).toBe(403)
  expect(await (await ask(local, 'right', {})).text()).toContain('/__mayfly/receive/')
  for (const id of ['unknown', '__proto__', null]) {
    const { body } = await (await ask(local, 'right', { id, answer: 'fail' })).json()
    expect(JSON.parse(body)).toEqual({ entries: [], isGone: true })
  }
  const elsewhere = await ask('https://example.com/mcp', 'right', {})
  expect([elsewhere.status, await elsewhere.text()]).toEqual([502, expect.stringContaining('elsewhere')])
})

test('over HTTP: a host that is not this machine → 403, an unknown receiver → 410, a body that never comes is not waited for', async () => {
  const server = new URL('http://127.0.0.1:9/mcp')
  const page = await startInspectServer({ server, headers: {}, token: 'right', port: 0 })
  const { host, port } = new URL(page.url)
  const send = async (lines: readonly string[]): Promise<string> => {
    const socket = connect(Number(port), '127.0.0.1')
    let got = ''
    socket.on('data', (chunk) => {
      got += chunk
    })
    socket.write(lines.join('\r\n'))
    await once(socket, 'close')
    return got.split('\r\n', 1)[0]!
  }
  const head = (name: string): string[] => ['POST /__mayfly/receive/none HTTP/1.1', `Host: ${name}`]
  expect(await send([...head('rebound.example'), 'Connection: close', '', ''])).toContain(' 403 ')
  expect(await send([...head(host), 'Content-Length: 100000', '', '{'])).toContain(' 410 ')
  await page.close()
})

test('more slow answers than 20 at once → 503', async () => {
  const receivers = createEventReceivers({ slowMs: 200 })
  const receiver = receivers.open()!
  receiver.setAnswer('slow')
  const requests = await Promise.all(
    Array.from({ length: 25 }, (_none, at) => toRequest(receiver, { ...EVENT, eventId: `e${at}` }, `e${at}`)),
  )
  const answers = await Promise.all(requests.map((request) => receivers.handle(receiver.id, request)))
  const statuses = answers.map(({ status }) => status)
  expect([200, 503].map((wanted) => statuses.filter((status) => status === wanted).length)).toEqual([20, 5])
})

test('an unknown or closed id → 410 before the body is read', async () => {
  const receivers = createEventReceivers()
  const receiver = receivers.open()!
  receivers.close(receiver.id)
  for (const id of [receiver.id, '', '__proto__']) {
    const request = await toRequest(receiver, EVENT)
    expect((await receivers.handle(id, request)).status).toBe(410)
    expect(request.bodyUsed).toBe(false)
  }
})

test('receivers, entries, kept characters and bodies are bounded', async () => {
  const receivers = createEventReceivers()
  const receiver = receivers.open()!
  for (let n = 0; n < 110; n++) {
    const event = { ...EVENT, eventId: `e${n}`, data: { text: 'x'.repeat(20_000) } }
    await receivers.handle(receiver.id, await toRequest(receiver, event, `e${n}`))
  }
  expect(receiver.entries.length).toBeLessThanOrEqual(100)
  expect(receiver.entries.reduce((sum, { body }) => sum + body.length, 0)).toBeLessThanOrEqual(1_048_576)
  const large = await toRequest(receiver, { ...EVENT, data: { text: 'x'.repeat(300_000) } })
  expect((await receivers.handle(receiver.id, large)).status).toBe(413)
  for (let n = 1; n < 16; n++) expect(receivers.open()).toBeDefined()
  expect(receivers.open()).toBeUndefined()
})

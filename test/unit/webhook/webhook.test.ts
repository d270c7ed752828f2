import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createMemoryBus, createTool } from '../../../src/index.ts'
import { createEventWebhook } from '../../../src/webhook.ts'
import { createServer } from '../_client.ts'
import { CHANGE, createFixture, createSecret, SECRET, sign, webhookRequest } from './_sender.ts'

/** As the libraries of Standard Webhooks test themselves: https://github.com/standard-webhooks/standard-webhooks. */
const VECTOR = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: '1614265330',
  body: '{"test": 2432232314}',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
}

function setClock(seconds: number): void {
  vi.useFakeTimers({ now: seconds * 1000, toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
}

const nowSeconds = () => Math.floor(Date.now() / 1000)

describe('signatures', () => {
  it('the official vector is verified, and our signatures are the same [webhook.signature]', async () => {
    setClock(Number(VECTOR.timestamp))
    const { send } = createFixture()

    expect(sign(VECTOR.id, VECTOR.timestamp, VECTOR.body)).toBe(VECTOR.signature)
    // Verified, and then no change event.
    expect((await send(VECTOR)).status).toBe(400)
    expect((await send({ ...VECTOR, body: '{"test": 2432232315}' })).status).toBe(401)
  })

  it('one of several signatures suffices, whatever stands beside it [webhook.signature]', async () => {
    const { send, published } = createFixture()
    const timestamp = String(nowSeconds())
    const others = ['v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=', 'v1a,AAAA', 'v2,AAAA', 'junk', '']
    const signature = [...others, sign('msg_1', timestamp, CHANGE)].join(' ')

    expect((await send({ id: 'msg_1', timestamp, signature })).status).toBe(202)
    expect(published).toEqual([{ type: 'toolsListChanged' }])
  })

  it('each of several secrets, for rotation, and no other [webhook.signature]', async () => {
    const secrets = [createSecret(), createSecret()]
    const { send } = createFixture({ secret: secrets })

    for (const secret of secrets) expect((await send({ secret })).status).toBe(202)
    expect((await send({ secret: SECRET })).status).toBe(401)
  })

  it.each([
    ['no id', { id: '' }],
    ['an id with a period', { id: 'a.b' }],
    ['an id of 257 characters', { id: 'a'.repeat(257) }],
    ['no timestamp', { timestamp: '' }],
    ['a timestamp that is no integer', { timestamp: `${nowSeconds()}.5` }],
    ['a date', { timestamp: new Date().toISOString() }],
    ['no signature', { signature: '' }],
    ['no version', { signature: 'Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=' }],
    ['another version', { signature: 'v2,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=' }],
    ['a part of one', { signature: 'v1,Ceo5' }],
    ['no base64', { signature: `v1,${'*'.repeat(43)}=` }],
    ['a ninth one', { signature: `${'v1,AAAA '.repeat(8)}${sign('msg', '1', CHANGE)}` }],
  ])('%s → 401 [webhook.signature]', async (_what, sent) => {
    const { send, published } = createFixture()
    const response = await send(sent)
    expect(response.status).toBe(401)
    expect(await response.json()).toEqual({
      error:
        'The webhook is not signed with a known secret, or its timestamp differs too much from the current time.',
    })
    expect(published).toEqual([])
  })

  it('every 401 is the same, so that nothing can be learnt from it [webhook.signature]', async () => {
    const { send } = createFixture()
    const texts = await Promise.all(
      [{ id: 'a.b' }, { timestamp: '1' }, { secret: createSecret() }].map(async (sent) =>
        (await send(sent)).text(),
      ),
    )
    expect(new Set(texts).size).toBe(1)
    expect(texts[0]).not.toContain('\n')
  })
})

describe('timestamps and replays', () => {
  it.each([
    [-301, 401],
    [-300, 202],
    [300, 202],
    [301, 401],
  ])('%i seconds from now → %i [webhook.replays]', async (offset, status) => {
    setClock(1_700_000_000)
    const { send } = createFixture()
    expect((await send({ timestamp: String(1_700_000_000 + offset) })).status).toBe(status)
  })

  it('toleranceSeconds sets it [webhook.replays]', async () => {
    setClock(1_700_000_000)
    const { send } = createFixture({ toleranceSeconds: 10 })
    expect((await send({ timestamp: '1699999989' })).status).toBe(401)
    expect((await send({ timestamp: '1699999990' })).status).toBe(202)
  })

  it('an id is accepted once, until its timestamp is stale [webhook.replays]', async () => {
    setClock(1_700_000_000)
    const { send, published } = createFixture()
    const sent = { id: 'msg_1', timestamp: '1700000300' }

    const answers = await Promise.all([send(sent), send(sent)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409])
    // The newest timestamp that is accepted must be remembered for twice the tolerance.
    vi.setSystemTime(1_700_000_600_000)
    expect((await send(sent)).status).toBe(409)
    vi.setSystemTime(1_700_000_601_000)
    expect((await send(sent)).status).toBe(401)
    expect(published).toHaveLength(1)
  })

  it('nor while its body arrives late, until after its timestamp is stale [webhook.replays]', async () => {
    setClock(1_700_000_000)
    const { webhook, published } = createFixture()
    const sent = { id: 'msg_1', timestamp: '1699999700' }
    const late = webhookRequest(sent)
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        pull(controller) {
          vi.setSystemTime(1_700_000_009_000)
          controller.enqueue(new TextEncoder().encode(CHANGE))
          controller.close()
        },
      },
      { highWaterMark: 0 },
    )
    expect((await webhook(webhookRequest(sent))).status).toBe(202)
    const slow = new Request(late.url, {
      method: 'POST',
      headers: late.headers,
      body,
      duplex: 'half',
    } as RequestInit)
    expect((await webhook(slow)).status).toBe(409)
    expect(published).toHaveLength(1)
  })

  it('a store that never releases an id holds no request [webhook.replays]', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const release = vi.fn(() => new Promise<void>(() => {}))
    const { bus, send } = createFixture({ store: { claim: () => true, release } })
    bus.publish = () => Promise.reject(new Error('down'))
    const response = send()
    await vi.waitUntil(() => release.mock.calls.length > 0)
    await vi.advanceTimersByTimeAsync(5000)
    expect((await response).status).toBe(503)
  })

  it('a webhook that could not be published may be sent again [webhook.replays]', async () => {
    const { bus, send, errors } = createFixture()
    const { publish } = bus
    bus.publish = () => Promise.reject(new Error('redis://:password@host is down'))
    const sent = { id: 'msg_1' }

    const response = await send(sent)
    expect(response.status).toBe(503)
    expect(await response.text()).toBe(
      '{"error":"The events cannot be published now: send the webhook again later."}',
    )
    expect((await send(sent)).status).toBe(503)
    expect(errors).toHaveLength(1)
    bus.publish = publish
    expect((await send(sent)).status).toBe(202)
    expect((await send(sent)).status).toBe(409)
  })

  it('a shared store is asked, and one that fails lets nothing through [webhook.replays]', async () => {
    const claimed: string[] = []
    const store = { claim: (id: string) => claimed.push(id) === 1 }
    const [one, other] = [createFixture({ store }), createFixture({ store })]
    expect((await one.send({ id: 'msg_1' })).status).toBe(202)
    expect((await other.send({ id: 'msg_1' })).status).toBe(409)
    expect(claimed).toEqual(['webhook:msg_1', 'webhook:msg_1'])

    const failing = createFixture({ store: { claim: () => Promise.reject(new Error('down')) } })
    expect((await failing.send()).status).toBe(503)
    expect(failing.published).toEqual([])
  })

  it('a store that answers too late: 503, and the id can be sent again [webhook.replays]', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    let claim = (_isFirst: boolean): void => {}
    const claimed = new Promise<boolean>((resolve) => {
      claim = resolve
    })
    const released: string[] = []
    const asked = vi.fn(() => claimed)
    const store = { claim: asked, release: (id: string) => void released.push(id) }
    const { send, published } = createFixture({ store })
    const response = send({ id: 'msg_1' })
    await vi.waitUntil(() => asked.mock.calls.length > 0)

    await vi.advanceTimersByTimeAsync(5000)

    expect((await response).status).toBe(503)
    expect(published).toEqual([])
    claim(true)
    await vi.waitUntil(() => released.length > 0)
    expect(released).toEqual(['webhook:msg_1'])
  })
})

describe('requests', () => {
  it.each(['read', 'being read'])(
    'a body that was %s by somebody else → 400 [webhook.body]',
    async (state) => {
      const { webhook } = createFixture()
      const request = webhookRequest()
      if (state === 'read') await request.text()
      else request.body!.getReader()
      expect((await webhook(request)).status).toBe(400)
    },
  )

  it.each(['GET', 'PUT', 'DELETE', 'OPTIONS', 'HEAD'])('%s → 405 [webhook.body]', async (method) => {
    const { webhook } = createFixture()
    const response = await webhook(new Request('https://mcp.shop.example/events', { method }))
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('POST')
  })

  it.each([
    [
      'each kind of change, in a list',
      '[{"type":"toolsListChanged"},{"type":"promptsListChanged"},{"type":"resourcesListChanged"},{"type":"resourceUpdated","uri":"note://today"}]',
    ],
    ['one', '{"type":"resourceUpdated","uri":"note://today"}'],
    ['100', `[${Array(100).fill(CHANGE)}]`],
  ])('%s → published, 202 [webhook.body]', async (_what, body) => {
    const { send, published } = createFixture()
    const response = await send({ body })
    const events = [JSON.parse(body)].flat()
    expect(response.status).toBe(202)
    expect(await response.json()).toEqual({ accepted: events.length })
    expect(published).toEqual(events)
  })

  it.each([
    ['nothing', ''],
    ['no JSON', '{'],
    ['null', 'null'],
    ['text', '"toolsListChanged"'],
    ['no type', '{}'],
    ['an unknown type', '{"type":"tools/list_changed"}'],
    ['a member too many', '{"type":"toolsListChanged","data":{}}'],
    ['a gap, which only a bus knows of', '{"type":"gap"}'],
    ['what only a server says of its clients', '{"type":"sessionChanged"}'],
    [
      'what only a server says of its clients, in full',
      '{"type":"sessionChanged","session":"s","uri":"a://1","isSubscribed":true}',
    ],
    ['no URI', '{"type":"resourceUpdated"}'],
    ['what is no URI', '{"type":"resourceUpdated","uri":"today"}'],
    ['a URI of 8193 characters', `{"type":"resourceUpdated","uri":"note://${'a'.repeat(8186)}"}`],
    ['an empty list', '[]'],
    ['101 events', `[${Array(101).fill(CHANGE)}]`],
    ['a list within a list', `[[${CHANGE}]]`],
    ['one that is none among others', `[${CHANGE},{}]`],
  ])('%s → 400, nothing published [webhook.body]', async (_what, body) => {
    const { send, published } = createFixture()
    const response = await send({ body })
    expect(response.status).toBe(400)
    expect(await response.text()).toBe('{"error":"The body must be a change event, or a list of 1 to 100."}')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(published).toEqual([])
  })

  it('a body over the limit → 413 before it is verified [webhook.body]', async () => {
    const { send } = createFixture({ maxBodyBytes: 100 })
    expect((await send({ body: 'a'.repeat(101), secret: createSecret() })).status).toBe(413)
    expect((await send({ body: 'a'.repeat(100) })).status).toBe(400)
  })

  it('a body that ends in an error → 400 [webhook.body]', async () => {
    const { webhook } = createFixture()
    const { headers } = webhookRequest()
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error('cut off')) })
    const request = new Request('https://mcp.shop.example/events', {
      method: 'POST',
      headers,
      body,
      duplex: 'half',
    } as RequestInit)
    expect((await webhook(request)).status).toBe(400)
  })
})

describe('what it publishes to', () => {
  it('a server: its clients are notified [webhook.body]', async () => {
    const bus = createMemoryBus()
    const heard: unknown[] = []
    await bus.subscribe((event) => heard.push(event))
    const server = createServer({ bus, tools: { t: createTool({ id: 't', execute: () => '' }) } })
    const webhook = createEventWebhook({ server, secret: SECRET })
    const events = [
      { type: 'toolsListChanged' },
      { type: 'promptsListChanged' },
      { type: 'resourcesListChanged' },
      { type: 'resourceUpdated', uri: 'note://today' },
    ]

    expect((await webhook(webhookRequest({ body: JSON.stringify(events) }))).status).toBe(202)
    expect(heard).toEqual(events)
  })

  it.each([undefined, ''])(
    'with the secret %j, as from a variable that is not set: 503 that says why, and one line in the log',
    async (secret) => {
      const log = vi.spyOn(console, 'error').mockReturnValue()
      const webhook = createEventWebhook({ bus: createMemoryBus(), secret })
      for (let time = 0; time < 3; time++) {
        const refused = await webhook(webhookRequest({ body: '{"type":"toolsListChanged"}' }))
        expect(refused.status).toBe(503)
        expect((await refused.json()).error).toMatch(/^"secret" of createEventWebhook is not set/)
      }
      expect(log).toHaveBeenCalledTimes(1)
      log.mockRestore()
    },
  )

  it.each([
    ['"bus" or "server"', { secret: SECRET }],
    ['"secret"', { bus: createMemoryBus() }],
    ['"secret"', { bus: createMemoryBus(), secret: [] }],
    ['"whsec_"', { bus: createMemoryBus(), secret: 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }],
    ['24 to 64', { bus: createMemoryBus(), secret: 'whsec_c2hvcnQ=' }],
    ['base64', { bus: createMemoryBus(), secret: `whsec_${'*'.repeat(40)}` }],
    ['"toleranceSeconds"', { bus: createMemoryBus(), secret: SECRET, toleranceSeconds: 0 }],
    ['"toleranceSeconds"', { bus: createMemoryBus(), secret: SECRET, toleranceSeconds: '300' }],
    ['"maxBodyBytes"', { bus: createMemoryBus(), secret: SECRET, maxBodyBytes: '65536' }],
    ['"maxBodyBytes"', { bus: createMemoryBus(), secret: SECRET, maxBodyBytes: Number.NaN }],
  ])('a configuration without a valid %s → TypeError that names it, %#', (named, options) => {
    // A cast: the types refuse most of these.
    const create = () => createEventWebhook(options as Parameters<typeof createEventWebhook>[0])
    expect(create).toThrow(TypeError)
    expect(create).toThrow(named)
  })
})

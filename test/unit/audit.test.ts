import { describe, expect, it, vi } from 'vitest'
import { bearer } from '../../src/auth.ts'
import { type AuditEntry, type AuditOptions, createTool, ErrorCode, jsonSchema } from '../../src/index.ts'
import { eventually } from '../_eventually.ts'
import { callTool, createServer, deferred, modernRequest, type SendOptions } from './_client.ts'

const tools = {
  pay: createTool({
    id: 'pay',
    scopes: ['pay'],
    inputSchema: jsonSchema<{ card: string }>({ type: 'object' }),
    execute: ({ card }, ctx) => {
      ctx.log('info', 'paying')
      if (card === 'empty') throw new Error('No money')
      return 'paid'
    },
  }),
}

const auth = bearer((token) =>
  token === 'bad' ? undefined : { clientId: 'desk', scopes: token.split('.'), extra: { sub: 'ann' } },
)

async function audited(
  options: SendOptions & {
    token?: string
    method?: string
    params?: object
    audit?: Partial<AuditOptions>
    clientAddress?: string
  },
): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = []
  const {
    token = 'pay',
    method = 'tools/call',
    params = { name: 'pay', arguments: { card: '4242' } },
    audit,
    clientAddress = '192.0.2.1',
    ...rest
  } = options
  const server = createServer({
    auth,
    tools,
    audit: { record: (entry) => void entries.push(entry), ...audit },
  })
  const headers = { authorization: `Bearer ${token}`, ...rest.headers }
  const response = await server.handle(modernRequest(method, { ...params }, { ...rest, headers }), {
    clientAddress,
  })
  await response.text()
  return entries
}

describe('audit', () => {
  it('says who called what, with what outcome, and redacts arguments [audit.entry]', async () => {
    expect(await audited({ headers: { 'x-request-id': 'trace-1' } })).toEqual([
      {
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        clientRequestId: 'trace-1',
        subject: 'ann',
        clientId: 'desk',
        address: '192.0.2.1',
        method: 'tools/call',
        target: 'pay',
        arguments: { card: '[redacted]' },
        outcome: 'done',
        status: 200,
        durationMs: expect.any(Number),
      },
    ])
  })

  it('the address is without its port, and whole [audit.entry]', async () => {
    const addressOf = async (clientAddress: string) => (await audited({ clientAddress }))[0]!.address
    expect(await addressOf('192.0.2.1:5678')).toBe('192.0.2.1')
    expect(await addressOf('[2001:DB8:1:2:3::4]:123')).toBe('2001:db8:1:2:3::4')
    expect(await addressOf('unknown')).toBeUndefined()
  })

  it('once for a stream, when it has ended [audit.entry]', async () => {
    const entries = await audited({ meta: { 'io.modelcontextprotocol/logLevel': 'info' } })
    expect(entries).toMatchObject([{ outcome: 'done', target: 'pay' }])
  })

  it.each<[string, object, object]>([
    [
      'a tool that fails',
      { params: { name: 'pay', arguments: { card: 'empty' } } },
      { outcome: 'failed', status: 200 },
    ],
    [
      'an unknown tool',
      { params: { name: 'fly' } },
      { outcome: 'failed', target: 'fly', code: ErrorCode.invalidParams },
    ],
    ['a bad token', { token: 'bad' }, { outcome: 'refused', status: 401 }],
    [
      'a missing scope',
      { token: 'look' },
      { outcome: 'refused', status: 403, target: 'pay', subject: 'ann' },
    ],
  ])('%s → %j %j [audit.entry]', async (_what, request, entry) => {
    expect(await audited(request)).toMatchObject([entry])
  })

  it.each<[string, string, object, string | undefined]>([
    ['ref beside name', 'tools/call', { name: 'pay', ref: { name: 'look' } }, 'pay'],
    ['uri beside name', 'tools/call', { name: 'pay', uri: 'x://harmless' }, 'pay'],
    ['name beside uri', 'resources/read', { uri: 'vault://1', name: 'harmless' }, 'vault://1'],
    [
      'both in a ref',
      'completion/complete',
      { ref: { type: 'ref/resource', uri: 'x://{a}', name: 'y' } },
      'x://{a}',
    ],
    ['name where none belongs', 'tools/list', { name: 'harmless' }, undefined],
  ])('the target follows from the method: %s [audit.entry]', async (_what, method, params, target) => {
    const [entry] = await audited({ method, params })
    expect([entry?.method, entry?.target]).toEqual([method, target])
  })

  it('what a client makes up does not fill the trail [audit.entry]', async () => {
    const long = 'x'.repeat(100_000)
    const args = Object.fromEntries(
      Array.from({ length: 5000 }, (_, index) => [`${index}${long.slice(0, 300)}`, 1]),
    )
    const entries = [
      ...(await audited({ params: { name: long, arguments: args } })),
      ...(await audited({ method: long, params: {} })),
    ]
    expect(entries).toHaveLength(2)
    for (const entry of entries) expect(JSON.stringify(entry).length).toBeLessThan(40_000)
  })

  it('keeps of the arguments what it is told to [audit.redaction]', async () => {
    const keep = (target: string | undefined, args: unknown) => [
      target,
      (args as { card: string }).card.slice(-2),
    ]
    expect((await audited({ audit: { arguments: keep } }))[0]?.arguments).toEqual(['pay', '42'])
  })

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no such vault')
      },
    ],
    ['rejects', async () => Promise.reject(new Error('no such vault'))],
  ])(
    'what decides on the arguments %s → their names, and a report [audit.redaction]',
    async (_how, decide) => {
      const onError = vi.fn()
      const entries: AuditEntry[] = []
      const audit = { record: (entry: AuditEntry) => void entries.push(entry), arguments: decide }
      await callTool(
        createServer({ tools: { pay: tools.pay }, trustedTransport: true, audit, onError }),
        'pay',
        { card: '4242' },
      )
      await eventually(() =>
        expect(entries).toMatchObject([{ arguments: { card: '[redacted]' }, target: 'pay' }]),
      )
      expect(onError).toHaveBeenCalledOnce()
    },
  )

  it('waits for what is kept of the arguments [audit.redaction]', async () => {
    const entries = await audited({ audit: { arguments: async () => 'hashed' } })
    await eventually(() => expect(entries).toMatchObject([{ arguments: 'hashed' }]))
  })

  it('a trail that is written later outlives the response [audit.entry]', async () => {
    const waitUntil = vi.fn()
    const { promise, resolve } = deferred()
    const server = createServer({ audit: { record: () => promise } })
    await server.handle(modernRequest('server/discover'), { waitUntil })
    expect(waitUntil).toHaveBeenCalledOnce()
    resolve()
  })

  it('arguments and tokens are in no log line [audit.redaction]', async () => {
    const lines: string[] = []
    const log = (entry: object) => void lines.push(JSON.stringify(entry))
    const server = createServer({ auth, tools, log, audit: { record: () => {} } })
    const request = modernRequest(
      'tools/call',
      { name: 'pay', arguments: { card: '4242' } },
      { headers: { authorization: 'Bearer pay.secret' } },
    )
    await (await server.fetch(request)).text()
    expect(lines).toHaveLength(1)
    expect(lines[0]).not.toMatch(/4242|secret/)
  })

  it('a trail that throws is reported, and changes nothing [audit.entry]', async () => {
    const onError = vi.fn()
    const record = () => {
      throw new Error('disk full')
    }
    const response = await createServer({ audit: { record }, onError }).fetch(
      modernRequest('server/discover'),
    )
    expect(response.status).toBe(200)
    expect(onError).toHaveBeenCalledOnce()
  })

  it('the page and the health check are nobody’s call [audit.entry]', async () => {
    const record = vi.fn()
    const server = createServer({ audit: { record } })
    for (const path of ['/', '/healthz']) {
      await server.fetch(new Request(`https://mcp.example${path}`, { headers: { accept: 'text/html' } }))
    }
    expect(record).not.toHaveBeenCalled()
  })
})

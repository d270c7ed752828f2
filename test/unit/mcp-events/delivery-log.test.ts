/** What the log says of deliveries: one line for each change that an operator should know, never a flood, and nothing secret. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { MCPServerConfig } from '../../../src/index.ts'
import { createEventServer, SECRET, URL_A } from './_events.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-29T12:00:00Z') }))
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

const DAY = 86_400_000

function start(
  more: Parameters<typeof createEventServer>[0] = {},
  // Of its requests alone: a line on a delivery is no entry of a request.
  log: MCPServerConfig['log'] = () => {},
) {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const server = createEventServer(
    { runner: { isPrompt: true, wake() {} } as never, concurrency: 50, ...more },
    undefined,
    { log },
  )
  const lines = () =>
    warn.mock.calls.map(([line]) => JSON.parse(String(line)) as { message: string; [name: string]: unknown })
  return {
    ...server,
    lines,
    said: () =>
      lines().map(({ message }) => message.replace('Deliveries of event "incident.created" to ', '')),
    async later(ms: number) {
      vi.setSystemTime(Date.now() + ms)
      await server.server.events.run()
    },
  }
}

it('says that deliveries begin to fail, are suspended, and work again: once each', async () => {
  const { subscribe, emit, endpoints, said, lines, later } = start()
  const { result } = await subscribe({ ttlMs: DAY })
  endpoints.answer = () => ({ status: 500 })
  await emit({ title: 'private' }, 'e1')
  for (let hours = 0; hours < 8; hours++) await later(3_600_000)
  await subscribe({ ttlMs: DAY })
  endpoints.answer = () => ({ status: 200 })
  await later(0)
  await emit()
  await later(1000)
  expect(said()).toEqual([
    'a.example.com fail (http_5xx). They are tried again, with longer pauses each time.',
    'a.example.com are suspended. Events wait until its client refreshes it.',
    'a.example.com work again.',
  ])
  const about = { event: 'incident.created', host: 'a.example.com', subscription: result!.id }
  expect(lines()).toMatchObject([
    { level: 'warn', time: '2026-11-29T13:00:00.000Z', ...about, error: 'http_5xx', tries: 1 },
    { level: 'warn', ...about, error: 'http_5xx', failedSince: '2026-11-29T13:00:00.000Z' },
    { level: 'info', ...about },
  ])
})

it('says why an endpoint was not verified, to its client and in the log', async () => {
  const { subscribe, endpoints, said, lines } = start({ allowLoopback: true })
  endpoints.verify = () => ({ failure: 'address' })
  const url = 'http://127.0.0.1:4000/private?key=1'
  const { error } = await subscribe({}, 'alice', { url })
  expect(error).toMatchObject({
    code: -32015,
    message: expect.stringContaining('(connection_refused): nothing answers there'),
    data: { reason: 'connection_refused' },
  })
  endpoints.verify = () => ({ status: 401, body: 'private' })
  expect((await subscribe()).error).toMatchObject({
    message: expect.stringContaining('compare its secret with that'),
  })
  expect(said()).toEqual([
    '127.0.0.1:4000 cannot begin: it was not verified.',
    'a.example.com cannot begin: it was not verified.',
  ])
  expect(lines()).toMatchObject([{ level: 'warn', error: 'connection_refused' }, { error: 'http_4xx' }])
  expect(JSON.stringify(lines())).not.toContain('private')
})

it.each([401, 403])('an endpoint that refuses with %i → the secrets may differ', async (status) => {
  const { subscribe, emit, endpoints, said, later } = start()
  await subscribe({ ttlMs: DAY })
  endpoints.answer = () => ({ status })
  await emit()
  for (let hours = 0; hours < 8; hours++) await later(3_600_000)
  expect(said()).toEqual([
    'a.example.com fail (http_4xx). The endpoint refused the signature or the request: compare its secret with that of the subscription. They are tried again, with longer pauses each time.',
    'a.example.com are suspended. The endpoint refused the signature or the request: compare its secret with that of the subscription. Events wait until its client refreshes it.',
  ])
})

it('says nothing for a server without a log', async () => {
  const { subscribe, emit, endpoints, lines, later } = start({}, false)
  await subscribe()
  await subscribe({}, 'bob')
  endpoints.answer = ({ url }) => ({ status: url === URL_A ? 500 : 413 })
  await emit()
  await later(0)
  endpoints.verify = () => ({ status: 500 })
  await subscribe({}, 'alice', { url: 'https://b.example.com/' })
  expect(endpoints.received).not.toEqual([])
  expect(lines()).toEqual([])
})

it.each([
  ['refused', () => ({ status: 413 })],
  ['suspended', () => ({ status: 410 })],
  ['fail', () => ({ failure: 'dns' as const })],
  ['fail', () => ({ failure: 'address' as const })],
])('says nothing secret: %s', async (what, answer) => {
  const { subscribe, emit, endpoints, said, lines, later } = start()
  await subscribe()
  endpoints.answer = answer
  await emit({ title: 'private' }, 'e1')
  await later(0)
  expect(said().join()).toContain(what)
  const text = JSON.stringify(lines())
  const { pathname, search } = new URL(URL_A)
  for (const secret of [pathname, search, SECRET, 'private', 'dns', 'address', 'alice'])
    expect(text).not.toContain(secret)
})

it('one endpoint that fails and works again and again does not flood the log', async () => {
  const { subscribe, emit, endpoints, lines, later } = start()
  await subscribe({ ttlMs: DAY })
  let count = 0
  endpoints.answer = () => ({ status: count++ % 2 === 0 ? 413 : 200 })
  for (let number = 0; number < 60; number++) {
    await emit()
    await later(900)
  }
  expect(lines()).toHaveLength(3)
  await emit()
  await later(60_000)
  // The next line tells how many were left out.
  expect(lines().at(-1)!.suppressed).toBeGreaterThan(50)
})

it('neither do many endpoints of one principal; those of others are still told', async () => {
  const { subscribe, emit, endpoints, lines, later } = start()
  for (let count = 0; count < 50; count++) {
    if (count % 20 === 0) vi.setSystemTime(Date.now() + 60_000)
    await subscribe({}, 'alice', { url: `https://host-${count}.example.com/` })
  }
  await subscribe({}, 'bob')
  endpoints.answer = () => ({ failure: 'timeout' })
  await emit()
  await later(0)
  expect(endpoints.received).toHaveLength(51)
  expect(lines()).toHaveLength(7)
  expect(lines().filter(({ host }) => host === 'a.example.com')).toHaveLength(1)
})

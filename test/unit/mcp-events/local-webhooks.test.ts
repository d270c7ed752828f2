/** In `mayfly dev`, webhooks of this machine work without an option; nowhere else. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { nodeEventSender } from '../../../adapters/node-events.ts'
import { modernRequest, readAnswer } from '../_client.ts'
import { createEventServer, SECRET, TOKENS } from './_events.ts'

const HERE = { MAYFLY_DEV: '1', MAYFLY_ALLOWED_HOSTS: 'localhost,127.0.0.1,[::1]' }

beforeEach(() => void vi.spyOn(console, 'warn').mockImplementation(() => {}))
afterEach(() => void vi.restoreAllMocks())

/** An endpoint on loopback. */
async function startEndpoint() {
  const received: { readonly eventId: string }[] = []
  const endpoint = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString())
    if (body.type === 'verification') return void response.end(JSON.stringify({ challenge: body.challenge }))
    received.push(body)
    response.end()
  })
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void endpoint.close())
  return { received, port: (endpoint.address() as AddressInfo).port }
}

function start(options: object = { deliver: nodeEventSender() }) {
  const made = createEventServer(options, undefined, { log: () => {} })
  const subscribe = async (url: string, env: unknown) => {
    const delivery = { mode: 'webhook', url, secret: SECRET }
    const params = { name: 'incident.created', arguments: {}, cursor: null, delivery }
    const headers = { authorization: `Bearer ${TOKENS.alice}` }
    return readAnswer(
      await made.server.fetch(
        modernRequest('events/subscribe', params, { headers, url: 'http://localhost:8787/mcp' }),
        env,
      ),
    )
  }
  return { ...made, subscribe }
}

const said = () => vi.mocked(console.warn).mock.calls.map(([line]) => JSON.parse(line as string).message)

describe('mayfly dev', () => {
  it.each(['127.0.0.1', 'localhost'])('a webhook of %s gets events, and the log says why', async (host) => {
    const { received, port } = await startEndpoint()
    const { subscribe, emit } = start()
    const url = `http://${host}:${port}/events`
    expect((await subscribe(url, HERE)).error).toBeUndefined()
    expect((await subscribe(url, HERE)).error).toBeUndefined()
    await emit({}, 'e1')
    expect(received.map(({ eventId }) => eventId)).toEqual(['e1'])
    expect(said()).toEqual([
      'mayfly dev or preview runs this server, so webhooks of this machine may be subscribed. Where it is deployed, they are refused.',
    ])
  })

  it('a name that leads to this machine is still refused', async () => {
    const { port } = await startEndpoint()
    const { subscribe } = start({ deliver: nodeEventSender({ resolve: async () => ['127.0.0.1'] }) })
    expect((await subscribe(`http://127.0.0.1:${port}/`, HERE)).error).toBeUndefined()
    const { error } = await subscribe('https://hooks.example.com/', HERE)
    expect(error).toMatchObject({ code: -32015, data: { reason: 'connection_refused' } })
    expect((await subscribe(`http://hooks.example.com:${port}/`, HERE)).error?.code).toBe(-32602)
    expect((await subscribe('http://192.168.0.1/', HERE)).error?.code).toBe(-32602)
  })
})

it.each([
  ['without mayfly dev', { MAYFLY_ALLOWED_HOSTS: 'localhost' }],
  ['with another value', { ...HERE, MAYFLY_DEV: 'true' }],
  ['behind a tunnel', { ...HERE, MAYFLY_ALLOWED_HOSTS: 'localhost,abc.tunnel.example' }],
  ['for any host', { MAYFLY_DEV: '1' }],
  ['for no host', { ...HERE, MAYFLY_ALLOWED_HOSTS: '' }],
  ['for a host that looks like it', { ...HERE, MAYFLY_ALLOWED_HOSTS: 'localhost,127.0.0.1.example.com' }],
])('%s, a webhook of this machine is refused', async (_what, env) => {
  const { subscribe } = start()
  const { error } = await subscribe('http://127.0.0.1:4000/', env)
  expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('mayfly dev') })
  expect(said()).toEqual([])
})

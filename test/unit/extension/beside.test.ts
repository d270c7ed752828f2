/** What an extension has beside its methods: changes, routes, facts, its end. */
import { describe, expect, it, test, vi } from 'vitest'
import { type ExtensionHost, extension } from '../../../src/extensions.ts'
import { createMemoryBus } from '../../../src/index.ts'
import { createServer, META, modernRequest, StreamReader } from '../_client.ts'
import { DECLARED, forecastServer, ID } from './_forecast.ts'

const CHANGES = { forecastsListChanged: 'notifications/forecasts/list_changed' } as const

describe('changes', () => {
  const make = () => extension({ id: ID, changes: CHANGES, declaration: 'required' })
  const listen = async (server: ReturnType<typeof createServer>, filter: object, options = DECLARED) => {
    const request = modernRequest(
      'subscriptions/listen',
      { notifications: filter },
      { id: 'sub', ...options },
    )
    return new StreamReader(await server.handle(request, {}))
  }

  it('reach who listens to them, with their notification [extensions.changes]', async () => {
    const forecasts = make()
    const server = createServer({ bus: createMemoryBus(), extensions: [forecasts] })
    const stream = await listen(server, { forecastsListChanged: true })

    expect(await stream.next()).toMatchObject({ params: { notifications: { forecastsListChanged: true } } })
    await forecasts.notifyChanged('forecastsListChanged')
    expect(await stream.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/forecasts/list_changed',
      params: { _meta: { [META.subscriptionId]: 'sub' } },
    })
    await stream.cancel()
  })

  it('without a bus, or not asked for → nothing is acknowledged', async () => {
    const without = await listen(createServer({ extensions: [make()] }), { forecastsListChanged: true })
    const other = await listen(createServer({ bus: createMemoryBus(), extensions: [make()] }), {
      forecastsListChanged: false,
    })
    for (const stream of [without, other])
      expect(await stream.next()).toMatchObject({ params: { notifications: {} } })
  })

  it('of a client that did not declare the extension → -32021; of a wrong type → -32602', async () => {
    const server = createServer({ bus: createMemoryBus(), extensions: [make()] })
    const answer = async (filter: object, options: object) => {
      const request = modernRequest('subscriptions/listen', { notifications: filter }, options)
      return (await server.handle(request, {})).json()
    }
    expect(await answer({ forecastsListChanged: true }, {})).toMatchObject({ error: { code: -32021 } })
    expect(await answer({ forecastsListChanged: 1 }, DECLARED)).toMatchObject({ error: { code: -32602 } })
  })

  it('before a server has it, and for another name → a TypeError', async () => {
    await expect(make().notifyChanged('forecastsListChanged')).rejects.toThrow(/does not belong to a server/)
    await expect(make().notifyChanged('other' as never)).rejects.toThrow(/is not in the "changes"/)
  })

  it('a resource of that name on the bus tells nobody', async () => {
    const server = createServer({ bus: createMemoryBus(), resources: [], extensions: [make()] })
    const stream = await listen(server, {
      resourceSubscriptions: [`mayfly-extension:${ID}:forecastsListChanged`],
    })
    expect(await stream.next()).toMatchObject({ params: { notifications: {} } })
    expect(await stream.next()).toMatchObject({ result: { resultType: 'complete' } })
  })
})

test('serve answers a path beside the endpoint, behind the checks of hosts, and sees env [extensions.routes]', async () => {
  const server = forecastServer(
    {
      serve: (request, { env }) =>
        new URL(request.url).pathname === '/hooks/forecast'
          ? async (given) => Response.json({ sent: await given.text(), env: (env as { A: string }).A })
          : undefined,
    },
    { http: { allowedHosts: ['mcp.example'] } },
  )
  const post = (url: string) =>
    server.handle(
      new Request(url, { method: 'POST', body: 'hello', headers: { 'content-type': 'text/plain' } }),
      {
        env: { A: 'a' },
      },
    )

  expect(await (await post('https://mcp.example/hooks/forecast')).json()).toEqual({ sent: 'hello', env: 'a' })
  expect((await post('https://evil.example/hooks/forecast')).status).toBe(403)
  expect((await post('https://mcp.example/other')).status).toBe(415)
})

test('a server tells doctor which extensions it has, and what they lack in an environment', () => {
  const server = forecastServer({
    faultIn: (env) => ((env as { KEY?: string }).KEY === undefined ? 'KEY is not set' : undefined),
  })

  expect(server.getDeploymentInfo({})).toMatchObject({
    extensions: [ID],
    extensionFaults: [`${ID}: KEY is not set`],
  })
  expect(server.getDeploymentInfo({ KEY: 'a' })).not.toHaveProperty('extensionFaults')
  expect(createServer().getDeploymentInfo({})).not.toHaveProperty('extensions')
})

test('attach gets the server; close is called when it closes', async () => {
  const attach = vi.fn<(host: ExtensionHost) => void>()
  const close = vi.fn()
  const server = forecastServer({ attach, close })

  expect(attach.mock.calls[0]![0].owner.id).toBe('test')
  await server.close()
  expect(close).toHaveBeenCalledOnce()
})

/** On a real listener, behind a proxy of one's own: one address takes all that it can, another one is served. */
import { afterEach, describe, expect, it } from 'vitest'
import { serve } from '../../../adapters/node.ts'
import { createMemoryBus, createTool, MCPServer } from '../../../src/index.ts'
import { sharesScenarios } from '../../contract/shares.ts'
import { createSharesServer } from '../../contract/shares-server.ts'
import { modernRequest } from '../../contract/wire.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

describe('Node', () =>
  sharesScenarios(async () => {
    const { url, close } = await serve(createSharesServer(), { port: 0 })
    return { url: new URL(url), close }
  }))

it('streams of one address leave room for another [shares.caller]', async () => {
  const server = new MCPServer({
    id: 'x',
    name: 'X',
    version: '1',
    log: false,
    bus: createMemoryBus(),
    tools: { hello: createTool({ id: 'hello', execute: () => 'hello' }) },
    http: { trustProxy: true, maxListenStreams: 8 },
  })
  const { url, close } = await serve(server, { port: 0 })
  cleanups.push(close)
  const listen = async (address: string): Promise<Response> => {
    const notifications = { toolsListChanged: true }
    const headers = { 'x-forwarded-for': address }
    const over = new AbortController()
    cleanups.push(() => over.abort())
    const request = modernRequest(new URL(url), 'subscriptions/listen', { notifications }, { headers })
    return fetch(new Request(request, { signal: over.signal }))
  }
  const statuses: number[] = []
  for (let stream = 0; stream < 8; stream++) statuses.push((await listen('192.0.2.1')).status)
  expect(statuses).toEqual([200, 200, 200, 200, 429, 429, 429, 429])
  expect((await listen('192.0.2.2')).status).toBe(200)
  expect((await listen('192.0.2.1')).headers.get('retry-after')).toBe('30')
})

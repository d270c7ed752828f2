/** Two instances of a server with one store: of a flow, each step reaches the other one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  behindProxy,
  callWith,
  disconnected,
  PUBLIC_URL,
  type Site,
  switched,
  Visitor,
  wholeFlow,
} from '../_flow.ts'
import { type Cluster, startCluster } from './_instances.ts'

describe.each(['postgres', 'redis'] as const)('two instances with one store in %s', (kind) => {
  let cluster: Cluster
  let site: Site
  let turn = 0
  beforeAll(async () => {
    cluster = await startCluster(kind, 2)
    const { provider, instances } = cluster
    site = {
      url: PUBLIC_URL,
      provider,
      send: behindProxy(PUBLIC_URL, () => instances[turn++ % instances.length]!.url),
    }
  })
  afterAll(() => cluster?.stop())

  it('share a flow, step by step', () => wholeFlow(site))

  it('share the page of connections', () => disconnected(site))

  it('share “Not you?”', () => switched(site))

  it('exchange one code once, however many ask at once', async () => {
    const visitor = new Visitor(site)
    const callback = await visitor.agree(await visitor.toQuestion(await visitor.turnedAway()))
    const { stored } = visitor
    const outcomes = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const other = new Visitor(site)
        other.stored = stored.map(([key, value]) => [key, value])
        return other.act(callback)
      }),
    )
    expect(outcomes.filter(({ error }) => error === undefined).length).toBeLessThanOrEqual(1)
  })

  it('refresh one token at once → one new one, and the connection stays', async () => {
    const visitor = new Visitor(site)
    await visitor.signIn()
    visitor.loseAccessToken()
    const { stored } = visitor
    const others = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const other = new Visitor(site)
        other.stored = stored.map(([key, value]) => [key, value])
        await other.call()
        return other.tokens.access_token
      }),
    )
    expect(new Set(others).size).toBe(1)
    expect((await callWith(site, others[0])).status).toBe(200)
  })
})

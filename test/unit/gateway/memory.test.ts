/** What a gateway keeps of the servers behind it: no more than `maxListBytes`, of which one caller gets a part. */
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { bearer } from '../../../src/auth.ts'
import { createBudget } from '../../../src/gateway/byte-budget.ts'
import { type GatewayOptions, gateway } from '../../../src/gateway.ts'
import { createTool, MCPServer } from '../../../src/index.ts'
import { answerOf, modernRequest } from '../../property/_client.ts'

/** A gateway whose callers have credentials of their own, and how often each list was read, by token. */
function createFront(options: Partial<GatewayOptions>, sizeOf: (token: string) => number) {
  const reads = new Map<string, number>()
  const send = async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(url, init)
    const token = (request.headers.get('authorization') ?? '').replace('Bearer ', '')
    const { method } = JSON.parse(await request.clone().text())
    if (method === 'tools/list') reads.set(token, (reads.get(token) ?? 0) + 1)
    const big = createTool({ id: 'big', description: 'x'.repeat(sizeOf(token)), execute: () => token })
    return new MCPServer({ id: 'far', name: 'Far', version: '1', log: false, tools: { big } }).fetch(request)
  }
  const far = {
    url: 'https://far.example/mcp',
    fetch: send,
    token: ({ auth }: { auth?: { clientId: string; scopes: readonly string[] } | undefined }) =>
      auth!.scopes[0],
  }
  const front = new MCPServer({
    id: 'front',
    name: 'Front',
    version: '1',
    log: false,
    onError: () => {},
    // A caller may have several credentials: "ann.1", "ann.2".
    auth: bearer((token) => ({ clientId: token.split('.')[0]!, scopes: [token.replaceAll('_', '')] })),
    gateway: gateway({ servers: { far }, ttlMs: 1_000_000, ...options }),
  })
  const list = async (token: string) => {
    const headers = { authorization: `Bearer ${token.padEnd(40, '_')}` }
    const { result } = await answerOf(await front.fetch(modernRequest('tools/list', { headers })))
    return (result as { tools: { description: string }[] }).tools[0]!.description.length
  }
  return { reads, list }
}

describe('lists that are kept for callers', () => {
  it('take no more than maxListBytes: those used longest ago are forgotten', async () => {
    // A list and its compiled form: 20 000 bytes a caller.
    const { reads, list } = createFront({ maxListBytes: 100_000 }, () => 10_000)
    for (let caller = 0; caller < 100; caller++) expect(await list(`c${caller}`)).toBe(10_000)
    reads.clear()
    for (let caller = 99; caller >= 0; caller--) await list(`c${caller}`)
    const kept = 100 - reads.size
    expect(kept).toBeGreaterThanOrEqual(2)
    expect(kept).toBeLessThanOrEqual(5)
    expect(reads.has('c99')).toBe(false)
  })

  it.each([{ maxListBytes: 200_000 }, { maxCallers: 8 }])(
    'one caller with many credentials pushes out its own, and not those of others: %j',
    async (options) => {
      const { reads, list } = createFront(options, () => 10_000)
      for (const caller of ['bob', 'cid', 'dan']) await list(caller)
      for (let turn = 0; turn < 50; turn++) await list(`ann.${turn}`)
      reads.clear()
      for (const caller of ['bob', 'cid', 'dan']) await list(caller)
      expect([...reads]).toEqual([])
      await list('ann.0')
      expect([...reads.keys()]).toEqual(['ann.0'])
    },
  )

  it('that are larger than a part are served, but not kept, and the operator is told once', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    const { reads, list } = createFront({ maxListBytes: 30_000 }, (token) =>
      token === 'ann' ? 20_000 : 1000,
    )
    await list('bob')
    for (let round = 0; round < 3; round++) expect(await list('ann')).toBe(20_000)
    await list('bob')
    expect(Object.fromEntries(reads)).toEqual({ bob: 1, ann: 3 })
    expect(warn.mock.calls.filter(([text]) => String(text).includes('maxListBytes'))).toHaveLength(1)
  })
})

it('a budget counts what it keeps, whatever is kept, used, replaced and forgotten', () => {
  let seed = 7
  const random = (below: number): number => {
    seed = (seed * 16_807) % 2_147_483_647
    return seed % below
  }
  const budget = createBudget(1000)
  const kept = new Map<() => void, { bytes: number; owner: string | undefined }>()
  const keys = Array.from({ length: 30 }, () => {
    const key = (): void => void kept.delete(key)
    return key
  })
  const owners = [undefined, 'ann', 'bob', 'cid']
  for (let step = 0; step < 5000; step++) {
    const key = keys[random(keys.length)]!
    const [bytes, owner] = [random(700), owners[random(4)]]
    const action = random(8)
    if (action === 0) budget.forget(key)
    else if (action === 1) budget.touch(key)
    else if (budget.keep(key, bytes, owner)) kept.set(key, { bytes, owner })
    else kept.delete(key)
    const sum = (of: string | undefined): number =>
      [...kept.values()].reduce(
        (total, one) => total + (of === undefined || one.owner === of ? one.bytes : 0),
        0,
      )
    expect(sum(undefined)).toBeLessThanOrEqual(1000)
    for (const one of ['ann', 'bob', 'cid']) expect(sum(one)).toBeLessThanOrEqual(500)
  }
})

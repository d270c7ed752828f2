/** What the buses do without their server: docs/events.md. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createJoiner, toPayloads } from '../../adapters/_postgres/chunks.ts'
import { type NatsClient, natsBus } from '../../adapters/nats.ts'
import { type PgPool, type PostgresSql, postgresBus, postgresTaskStore } from '../../adapters/postgres.ts'

describe('payloads of NOTIFY', () => {
  const joined = (payloads: readonly string[]) => {
    const texts: string[] = []
    const join = createJoiner((text) => texts.push(text))
    for (const payload of payloads) join(payload)
    // What is no part is no JSON either, and dropped by the bus.
    return texts.filter((text) => !/^[0-9a-f-]{36} /.test(text))
  }
  const long = JSON.stringify({ uri: '🦋ü"\\\u0000'.repeat(5000) })

  it.each([
    ['short', '{"a":1}', 1],
    ['of 7900 characters', 'x'.repeat(7900), 1],
    ['of 7901 characters', 'x'.repeat(7901), 2],
    ['of many that are not ASCII', long, 10],
  ])('a text %s arrives as it was, each part below 8000 bytes [bus.delivery]', (_kind, text, atLeast) => {
    const payloads = toPayloads(text)
    expect(payloads.length).toBeGreaterThanOrEqual(atLeast)
    for (const payload of payloads) expect(Buffer.byteLength(payload)).toBeLessThan(8000)
    const [arrived] = joined(payloads) as [string]
    expect(text.startsWith('{') ? JSON.parse(arrived) : arrived).toEqual(
      text.startsWith('{') ? JSON.parse(text) : text,
    )
  })

  it('parts that are lost, strange or never end are dropped, and what follows arrives [bus.foreign]', () => {
    const [first, second, third] = toPayloads(long) as [string, string, string]
    const id = crypto.randomUUID()
    const strange = [`${id} 0 999999 x`, `${id} 7 9 x`, `${id} 1 0 x`, second, first, third, first, first]
    expect(joined([...strange, '{"a":1}'])).toEqual(['{"a":1}'])
    expect(joined([...strange, ...toPayloads(long)])).toHaveLength(1)
  })

  it('a text that never ends is not kept [bus.foreign]', () => {
    const id = crypto.randomUUID()
    const endless = Array.from({ length: 1000 }, (_, index) => `${id} ${index} 1000 ${'x'.repeat(7900)}`)
    expect(joined([...endless, '{"a":1}'])).toEqual(['{"a":1}'])
  })
})

it.each(['x'.repeat(60), 'a"b'])('postgresBus with the prefix %j → TypeError', (prefix) => {
  expect(() => postgresBus({ client: {} as PgPool, prefix })).toThrow(/"prefix" of postgresBus/)
})

it('a client of postgres that fetches types → TypeError, since a restart of Postgres would end the process', () => {
  const unsafe = async (): Promise<unknown> => []
  const given = (fetch_types: boolean) => ({ unsafe, listen: vi.fn(), options: { fetch_types } })
  for (const use of [postgresTaskStore, (client: PostgresSql) => postgresBus({ client })]) {
    expect(() => use(given(true))).toThrow(/needs postgres\(url, \{ fetch_types: false \}\)/)
    use(given(false))
  }
})

it.each(['', 'a b', 'a.*', '>', '.a', 'a..b'])('natsBus with the prefix %j → TypeError', (prefix) => {
  expect(() => natsBus({ client: {} as NatsClient, prefix })).toThrow(/"prefix" of natsBus/)
})

it('natsBus over a connection that is closed for good: publishing and subscribing reject, with one report [bus.outage]', async () => {
  const onError = vi.fn()
  const client: NatsClient = {
    publish: () => {},
    flush: async () => {},
    subscribe: () => ({ unsubscribe: () => {} }),
    status: async function* () {},
    isClosed: () => true,
  }
  const bus = natsBus({ client, prefix: 'mayfly', onError })
  await expect(bus.publish({ type: 'toolsListChanged' })).rejects.toThrow('maxReconnectAttempts: -1')
  await expect(bus.subscribe(() => {})).rejects.toThrow('maxReconnectAttempts: -1')
  expect(onError).toHaveBeenCalledOnce()
})

it('natsBus whose server forbids to subscribe: rejects, with one report, and is not taken for ready [bus.outage]', async () => {
  const onError = vi.fn()
  const forbidden = new Error('Permissions Violation for Subscription to "mayfly.changes"')
  let refuse = (): void => {}
  const client: NatsClient = {
    publish: () => {},
    flush: async () => refuse(),
    subscribe: (_subject, { callback }) => {
      refuse = () => callback(forbidden, { string: () => '' })
      return { unsubscribe: () => {} }
    },
    status: async function* () {},
    isClosed: () => false,
  }
  const bus = natsBus({ client, prefix: 'mayfly', onError })
  await expect(bus.subscribe(() => {})).rejects.toBe(forbidden)
  expect(onError.mock.calls).toEqual([[forbidden]])
})

describe('postgresBus over a pool that connects with its first statement', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  /** A pool whose statements take `ms`. */
  function slowPool(ms: () => number) {
    const payloads: string[] = []
    const query = async (_text: string, values?: string[]) => {
      await new Promise((resolve) => setTimeout(resolve, ms()))
      payloads.push(...(JSON.parse(values?.[1] ?? '[]') as string[]))
    }
    const connect = async () => {
      await query('')
      return { on: () => {}, removeListener: () => {}, query: async () => {}, release: () => {} }
    }
    return { pool: { query, connect } as PgPool, payloads }
  }

  it('has 4.5 seconds for it, and nothing is refused meanwhile; afterwards 2 [bus.outage]', async () => {
    const onError = vi.fn()
    let ms = 3000
    const { pool, payloads } = slowPool(() => ms)
    const bus = postgresBus({ client: pool, prefix: 'mayfly', onError })
    const published = [bus.publish({ type: 'toolsListChanged' }), bus.publish({ type: 'promptsListChanged' })]
    const leave = bus.subscribe(() => {})
    await vi.advanceTimersByTimeAsync(3000)
    ms = 0
    await vi.advanceTimersByTimeAsync(1)
    await Promise.all(published)
    ;(await leave)()
    expect(payloads).toHaveLength(2)
    expect(onError).not.toHaveBeenCalled()

    ms = 3000
    const late = bus.publish({ type: 'toolsListChanged' })
    const refused = expect(late).rejects.toThrow('within 2000 ms')
    await vi.advanceTimersByTimeAsync(2000)
    await refused
    expect(onError).toHaveBeenCalledOnce()
    await vi.advanceTimersByTimeAsync(3000)
  })

  it('has timeoutMs for it, if that is given [bus.outage]', async () => {
    const bus = postgresBus({
      client: slowPool(() => 3000).pool,
      timeoutMs: 1000,
      prefix: 'mayfly',
      onError: () => {},
    })
    const refused = expect(bus.publish({ type: 'toolsListChanged' })).rejects.toThrow('within 1000 ms')
    await vi.advanceTimersByTimeAsync(1000)
    await refused
    await vi.advanceTimersByTimeAsync(3000)
  })

  it.each([{}, { timeoutMs: 1000 }])(
    'a statement that never settles silences nothing for ever, %j [bus.outage]',
    async (limits) => {
      const { pool, payloads } = slowPool(() => 0)
      let isDead = true
      const query: PgPool['query'] = (...statement) => {
        const settles = isDead ? new Promise(() => {}) : pool.query(...statement)
        isDead = false
        return settles
      }
      const bus = postgresBus({ client: { ...pool, query }, ...limits, prefix: 'mayfly', onError: () => {} })
      const refused = expect(bus.publish({ type: 'toolsListChanged' })).rejects.toThrow('did not answer')
      await vi.advanceTimersByTimeAsync(5000)
      await refused
      await vi.advanceTimersByTimeAsync(5000)
      const published = Promise.resolve(bus.publish({ type: 'promptsListChanged' }))
      published.catch(() => {})
      await vi.advanceTimersByTimeAsync(5000)
      await published
      expect(payloads).toEqual(['{"type":"promptsListChanged"}'])
    },
  )
})

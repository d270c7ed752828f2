/** What each store of subscriptions keeps, and of whom, once callers take all they can: run by the tests of each store. */
import { expect, it } from 'vitest'
import { bearer } from '../../src/auth.ts'
import { createMemoryBus, createResource, MCPServer } from '../../src/index.ts'
import type { SubscriptionStoreOptions, Subscriptions } from '../../src/subscriptions.ts'
import { eventually } from '../_eventually.ts'
import { initialize, legacy, StreamReader } from '../unit/_client.ts'

/** Characters of the store: twenty URIs of these tests. */
const MAX = 20 * 200
const TTL_MS = 60_000

/** A client with its session. */
interface Client {
  subscribe(name: string): Promise<unknown>
  unsubscribe(name: string): Promise<unknown>
  /** Ends the session. */
  end(): Promise<unknown>
  /** The names of whose changes its stream tells. */
  held(): Promise<string[]>
}

const uriOf = (name: string): string => `note://${name}`.padEnd(100, 'x')

/** @param toBefore Makes of the data of the last store what the version before, which did not count callers, would have stored. */
export function subscriptionShares(
  create: (options: SubscriptionStoreOptions) => Subscriptions,
  toBefore?: () => Promise<unknown>,
): void {
  /** A server with a store of its own, and clients of whoever. */
  const setUp = (options: SubscriptionStoreOptions = {}) => {
    const server = new MCPServer({
      name: 'News',
      version: '1.0.0',
      log: false,
      secret: 'a secret of thirty-two characters or more',
      bus: createMemoryBus(),
      subscriptions: create({ ttlMs: TTL_MS, maxCharacters: MAX, ...options }),
      auth: bearer((token) => ({ clientId: token, scopes: [], extra: { sub: token } })),
      resources: [createResource({ uriTemplate: 'note://{name}', read: () => '' })],
    })
    const open = async (who: string): Promise<Client> => {
      const headers = { authorization: `Bearer ${who}` }
      const opened = await initialize(server, {}, headers)
      const session = { ...headers, 'mcp-session-id': opened.headers.get('mcp-session-id')! }
      const call = async (method: string, uri: string) => {
        const { result } = await legacy(server, method, { uri }, { headers: session })
        expect(result).toEqual({})
      }
      const visit = (method: string) =>
        server.fetch(
          new Request('https://mcp.example/mcp', {
            method,
            headers: { accept: 'text/event-stream', ...session },
          }),
        )
      return {
        subscribe: (name) => call('resources/subscribe', uriOf(name)),
        unsubscribe: (name) => call('resources/unsubscribe', uriOf(name)),
        end: () => visit('DELETE'),
        async held() {
          const stream = new StreamReader(await visit('GET'))
          const names = new Set<string>()
          await stream.next()
          await server.resources.notifyUpdated({ uri: uriOf('a') })
          // Changes that are sent together are in no order, so that all are there only with the second list.
          for (let lists = 0; lists < 2; ) {
            await server.resources.notifyListChanged()
            for (let isList = false; !isList; ) {
              const event = await stream.next()
              if (event === undefined) throw new Error('The stream has ended.')
              if (!('method' in event)) continue
              isList = event.method === 'notifications/resources/list_changed'
              if (isList) lists++
              else names.add(String(event.params?.uri).replace(/^note:\/\/|x*$/g, ''))
            }
          }
          await stream.cancel()
          return [...names].sort()
        },
      }
    }
    return { open }
  }

  it('a caller that subscribes in many sessions loses its own oldest, and nobody else anything [shares.subscriptions]', async () => {
    const { open } = setUp()
    const other = await open('bob')
    await other.subscribe('a')
    const taken: Client[] = []
    for (let opened = 0; opened < 14; opened++) {
      const client = await open('ann')
      await client.subscribe('a')
      taken.push(client)
    }
    const kept: string[][] = []
    for (const client of taken) kept.push(await client.held())
    // Half of what the other leaves.
    expect(kept.filter((names) => names.length > 0)).toHaveLength(9)
    expect(kept.slice(-9)).toEqual(Array(9).fill(['a']))
    expect(await other.held()).toEqual(['a'])
    const newcomer = await open('carol')
    await newcomer.subscribe('a')
    expect([await newcomer.held(), await other.held()]).toEqual([['a'], ['a']])
  })

  it.runIf(toBefore)('goes on with what the version before stored', async () => {
    const { open } = setUp()
    const [client, idle] = [await open('ann'), await open('ann')]
    for (const one of [client, idle]) await one.subscribe('a')
    await toBefore?.()
    expect(await client.held()).toEqual(['a'])
    await client.subscribe('b')
    await client.unsubscribe('a')
    expect(await client.held()).toEqual(['b'])
    await idle.unsubscribe('a')
    for (const one of [client, idle]) {
      await one.end()
      expect(await one.held()).toEqual([])
    }
  })

  it('what is unsubscribed and ended makes room [shares.subscriptions]', async () => {
    const { open } = setUp()
    const first = await open('ann')
    await first.subscribe('a')
    const busy = await open('ann')
    for (let round = 0; round < 12; round++) {
      await busy.subscribe('b')
      await busy.unsubscribe('b')
      const brief = await open('ann')
      await brief.subscribe('c')
      await brief.end()
    }
    expect(await first.held()).toEqual(['a'])
  })

  it('what is unsubscribed makes room at once, while its session goes on [shares.subscriptions]', async () => {
    const { open } = setUp()
    const first = await open('ann')
    await first.subscribe('a')
    const two = await open('ann')
    for (const name of ['a', 'b', 'c']) await two.subscribe(name)
    await two.unsubscribe('b')
    for (let opened = 0; opened < 12; opened++) {
      const idle = await open('ann')
      await idle.subscribe('b')
      await idle.unsubscribe('b')
      await idle.unsubscribe('b')
    }
    expect([await first.held(), await two.held()]).toEqual([['a'], ['a', 'c']])
  })

  it('one session may always hold what the server allows, also beyond a share [shares.subscriptions]', async () => {
    const { open } = setUp({ maxCharacters: 300 })
    const client = await open('ann')
    for (const name of ['a', 'b', 'c']) await client.subscribe(name)
    expect(await client.held()).toEqual(['a', 'b', 'c'])
    const other = await open('bob')
    await other.subscribe('a')
    expect(await other.held()).toEqual(['a'])
  })

  it('a session that was not used for its time is none, before anything deletes it [shares.subscriptions]', async () => {
    const { open } = setUp({ ttlMs: 300 })
    const client = await open('ann')
    await client.subscribe('a')
    const end = Date.now() + 350
    await eventually(() => expect(Date.now()).toBeGreaterThan(end))
    expect(await client.held()).toEqual([])
  })
}

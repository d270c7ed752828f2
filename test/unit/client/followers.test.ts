/** Several streams of a gateway follow one connection: that of a process. */
import type { Client, SubscriptionFilter } from '@modelcontextprotocol/client'
import { expect, it } from 'vitest'
import { Changes, type Heard } from '../../../src/client/changes.ts'

/** A connection whose server says what it was asked for. */
function startChanges(era: 'modern' | 'legacy') {
  const asked: unknown[] = []
  const handlers = new Map<string, (notification: { params: object }) => void>()
  const client = {
    getServerCapabilities: () => ({ resources: { subscribe: true, listChanged: true }, tools: {} }),
    getProtocolEra: () => era,
    setNotificationHandler: (method: string, handler: () => void) => void handlers.set(method, handler),
    subscribeResource: async ({ uri }: { uri: string }) => void asked.push(`+${uri}`),
    unsubscribeResource: async ({ uri }: { uri: string }) => void asked.push(`-${uri}`),
    listen: async (filter: SubscriptionFilter) => {
      asked.push(filter)
      return { honoredFilter: filter, closed: new Promise(() => {}), close: async () => {} }
    },
  } as unknown as Client
  const changes = new Changes({
    server: 'behind',
    request: (_operation, work) => work(client, {}),
    report: (error) => {
      throw error
    },
  })
  changes.attach(client)
  const tell = (what: string, params: object = {}): void =>
    handlers.get(`notifications/${what}`)?.({ params })
  const follow = async (name: string, uris: string[], heard: string[]) => {
    const listener = (one: Heard): void =>
      void heard.push(`${name} ${typeof one === 'object' ? one.uri : one}`)
    const { begun, end } = changes.follow({ kinds: ['tools', 'resources'], uris }, listener)
    await begun
    return end
  }
  return { asked, tell, follow }
}

it.each([
  ['modern', [['a://1'], ['a://1', 'b://1'], ['b://1']]],
  ['legacy', ['+a://1', '+b://1', '-a://1']],
] as const)('a URI is followed until the last who wants it has left: %s', async (era, expected) => {
  const { asked, tell, follow } = startChanges(era)
  const heard: string[] = []
  const first = await follow('first', ['a://1'], heard)
  await follow('second', ['b://1'], heard)
  const third = await follow('third', ['a://1'], heard)
  tell('resources/updated', { uri: 'a://1' })
  await first()
  tell('resources/updated', { uri: 'a://1' })
  await third()
  tell('resources/updated', { uri: 'a://1' })
  tell('resources/list_changed')
  expect(heard).toEqual(['first a://1', 'third a://1', 'third a://1', 'second resources'])
  const filters = expected.map((one) =>
    typeof one === 'string' ? one : { resourcesListChanged: true, resourceSubscriptions: one },
  )
  expect(asked).toEqual(filters)
})

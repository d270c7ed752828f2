/** `subscriptions/listen`: one request hears what another has changed. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CLIENTS, connectV2, MODERN } from '../clients.ts'
import type { Endpoint } from '../contract.ts'
import { modernRequest, readStream } from '../wire.ts'

const URI = 'pond://depth'

type Listener = Awaited<ReturnType<typeof connectV2>> & { readonly heard: string[] }

/** An official client that writes down what it is notified of. */
async function connectListener(url: URL): Promise<Listener> {
  const connection = await connectV2({ pin: MODERN }, url)
  const heard: string[] = []
  const { client } = connection
  client.setNotificationHandler(
    'notifications/resources/updated',
    ({ params }) => void heard.push(params.uri),
  )
  client.setNotificationHandler('notifications/tools/list_changed', () => void heard.push('tools'))
  client.setNotificationHandler('notifications/prompts/list_changed', () => void heard.push('prompts'))
  client.setNotificationHandler('notifications/resources/list_changed', () => void heard.push('resources'))
  return { ...connection, heard }
}

export function subscriptions(endpoint: Endpoint): void {
  describe('subscriptions', () => {
    it('changes published by other requests arrive, in order, and no others [listen.delivery]', async () => {
      await using listener = await connectListener(endpoint())
      await using publisher = await CLIENTS[0]!.connect(endpoint())
      const { honoredFilter, close } = await listener.client.listen({
        toolsListChanged: true,
        resourceSubscriptions: [URI],
      })

      for (const change of ['prompts', 'tools', URI, 'pond://map', 'tools'])
        await publisher.call('announce', { change })

      expect(honoredFilter).toEqual({ toolsListChanged: true, resourceSubscriptions: [URI] })
      await expect.poll(() => listener.heard).toEqual(['tools', URI, 'tools'])
      await close()
    })

    it('a burst of changes reaches every stream, never more often than it was published [listen.coalesced]', async () => {
      const listeners = await Promise.all(Array.from({ length: 4 }, () => connectListener(endpoint())))
      await using publisher = await CLIENTS[0]!.connect(endpoint())
      await Promise.all(listeners.map(({ client }) => client.listen({ promptsListChanged: true })))

      const changes = Array.from({ length: 20 }, () => 'prompts')
      await Promise.all(changes.map((change) => publisher.call('announce', { change })))

      await expect.poll(() => listeners.every(({ heard }) => heard.length > 0)).toBe(true)
      for (const { heard } of listeners) expect(heard.length).toBeLessThanOrEqual(changes.length)
      await Promise.all(listeners.map(({ client }) => client.close()))
    })

    it('an idle stream still hears what comes after its keep-alives [listen.graceful]', async () => {
      const params = { notifications: { resourceSubscriptions: [URI] } }
      const response = await fetch(modernRequest(endpoint(), 'subscriptions/listen', params))
      const blocks = readStream(response)
      let keptAlive = 0

      for await (const { comment, message } of blocks) {
        if (comment === 'keep-alive' && ++keptAlive === 3) {
          const announce = { name: 'announce', arguments: { change: URI } }
          await fetch(modernRequest(endpoint(), 'tools/call', announce))
        }
        if (message?.method === 'notifications/resources/updated') {
          expect(message.params).toEqual({ uri: URI, _meta: { 'io.modelcontextprotocol/subscriptionId': 1 } })
          break
        }
      }

      expect(keptAlive).toBeGreaterThanOrEqual(3)
    })

    it('closing a stream ends its subscription [listen.cancel]', async () => {
      await using listener = await connectListener(endpoint())
      const countListeners = async () => {
        const { structuredContent } = await listener.call('observe')
        return (structuredContent as { listeners: number }).listeners
      }
      await expect.poll(countListeners).toBe(0)
      const subscription = await listener.client.listen({ toolsListChanged: true })
      expect(await countListeners()).toBe(1)

      await subscription.close()

      await expect.poll(countListeners).toBe(0)
    })

    it('a stream is ended by a result when its time is up [listen.graceful]', async () => {
      await using listener = await connectListener(endpoint())

      const { closed } = await listener.client.listen({ toolsListChanged: true })

      expect(await closed).toBe('graceful')
    })

    it('the official client keeps its list of tools fresh by itself [listen.acknowledged]', async () => {
      await using publisher = await CLIENTS[0]!.connect(endpoint())
      const refreshed = new Promise<number>((resolve) => {
        const tools = {
          onChanged: (_error: Error | null, list: unknown[] | null) => resolve(list?.length ?? 0),
        }
        const options = { versionNegotiation: { mode: { pin: MODERN } }, listChanged: { tools } }
        const client = new Client({ name: 'fresh', version: '1' }, options)
        onTestFinished(() => client.close())
        client
          .connect(new StreamableHTTPClientTransport(endpoint()))
          .then(() => publisher.call('announce', { change: 'tools' }))
      })

      expect(await refreshed).toBeGreaterThan(10)
    })
  })
}

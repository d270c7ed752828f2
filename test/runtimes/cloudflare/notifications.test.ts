/** examples/notifications/cloudflare.ts, as `mayfly dev` serves it: a change in one request is heard by another. */
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { eventually } from '../../_eventually.ts'
import { CLIENTS, connectV2, MODERN } from '../../contract/clients.ts'
import { serveDev } from '../_dev-server.ts'

const EXAMPLES = fileURLToPath(new URL('../../../examples/notifications/', import.meta.url))

it('the official client hears what the tool touch publishes [bus.objects]', async () => {
  const { url, stop } = await serveDev('cloudflare.ts', 'cloudflare', EXAMPLES)
  try {
    await using listener = await connectV2({ pin: MODERN }, url)
    await using publisher = await CLIENTS[0]!.connect(url)
    const heard: string[] = []
    const { client } = listener
    client.setNotificationHandler(
      'notifications/resources/updated',
      ({ params }) => void heard.push(params.uri),
    )
    client.setNotificationHandler('notifications/tools/list_changed', () => void heard.push('tools'))
    const filter = { toolsListChanged: true, resourceSubscriptions: ['note://today'] }

    const { honoredFilter } = await client.listen(filter)
    await publisher.call('touch')

    expect(honoredFilter).toEqual(filter)
    await eventually(() => expect(heard).toEqual(['note://today', 'tools']))
  } finally {
    await stop()
  }
})

/** Where a platform sends whole responses only: the answer is the same, and what would come before it is dropped. */
import { describe, expect, it } from 'vitest'
import { CLIENTS } from '../clients.ts'
import type { Endpoint } from '../contract.ts'
import { modernRequest } from '../wire.ts'

export function buffered(endpoint: Endpoint): void {
  describe('without streaming', () => {
    it.each(CLIENTS)(
      '$kind gets the result, and no log messages [streaming.buffered-platform]',
      async ({ connect }) => {
        await using connection = await connect(endpoint())

        const { content } = await connection.call('speak', {}, { logLevel: 'debug' })

        expect(content).toEqual([{ type: 'text', text: 'spoken' }])
        expect(connection.logged).toEqual([])
      },
    )

    it('a call that notifies and takes its time is answered in JSON [streaming.buffered-platform]', async () => {
      const params = { name: 'echo', arguments: { text: 'at last', afterMs: 1500 } }
      const meta = { progressToken: 'p' }

      const response = await fetch(modernRequest(endpoint(), 'tools/call', params, { meta }))

      expect(response.headers.get('content-type')).toBe('application/json')
      expect(await response.json()).toMatchObject({ id: 1, result: { content: [{ text: 'at last' }] } })
    })

    it('subscriptions/listen is answered whole and at once [streaming.buffered-platform]', async () => {
      const params = { notifications: { toolsListChanged: true } }

      const response = await fetch(modernRequest(endpoint(), 'subscriptions/listen', params))

      expect(response.status).toBe(200)
      expect(await response.text()).toContain('"result"')
    })
  })
}

/** Nothing is held open for nobody: without a bus, or where nothing can stream, no change is promised and a stream ends at once. */
import { describe, expect, it } from 'vitest'
import type { Endpoint } from '../contract.ts'
import { modernRequest } from '../wire.ts'

const FILTER = { toolsListChanged: true, resourcesListChanged: true, resourceSubscriptions: ['pond://depth'] }

export function withoutBus(endpoint: Endpoint, canStream: boolean): void {
  const servers = [
    ['without a bus', '?without-bus'],
    // The one with a bus cannot be heard there.
    ...(canStream ? [] : [['with a bus that cannot be heard', '']]),
  ]

  describe.each(servers)('%s', (_kind, query) => {
    const ask = async (method: string, params: Record<string, unknown> = {}) => {
      const response = await fetch(modernRequest(new URL(`${endpoint()}${query}`), method, params))
      return { response, text: await response.text() }
    }

    it('neither listChanged nor subscribe is advertised, and lists carry a ttlMs [listen.no-bus]', async () => {
      const { text } = await ask('server/discover')
      expect(JSON.parse(text).result.capabilities).toMatchObject({ tools: {}, resources: {} })
      expect(text).not.toMatch(/"listChanged"|"subscribe"/)

      const list = await ask('tools/list')
      expect(JSON.parse(list.text).result.ttlMs).toBeGreaterThan(0)
    })

    it('subscriptions/listen is acknowledged with nothing and completed at once [listen.no-bus]', async () => {
      const { response, text } = await ask('subscriptions/listen', { notifications: FILTER })

      expect(response.status).toBe(200)
      expect(text).toContain('"resultType":"complete"')
      expect(text.includes('"notifications":{}')).toBe(canStream)
      expect(response.headers.get('content-type')).toBe(canStream ? 'text/event-stream' : 'application/json')
    })
  })
}

/** A Worker that serves Events over a Durable Object, whose workerd is killed. */
import { env } from 'cloudflare:workers'
import { durableObjectEvents, MayflyEvents } from '../../../../adapters/cloudflare-events.ts'
import type { MCPServer } from '../../../../src/index.ts'
import { setAhead } from './_clock.ts'
import { createKilled } from './_server.ts'

const { Events: objects, AHEAD } = env as unknown as {
  Events: Parameters<typeof durableObjectEvents>[0]
  AHEAD: string
}
setAhead(Number(AHEAD))

export class Events extends MayflyEvents {}

// On the first request: modules may not make random values here.
let server: MCPServer | undefined

export default {
  fetch(...given: Parameters<MCPServer['fetch']>): Promise<Response> {
    server ??= createKilled({ store: durableObjectEvents(objects) })
    return Promise.resolve(server.fetch(...given))
  },
}

/** The objects of the shared suite: they can be down, and pass on what is no event. */
import type { DurableObjectNamespace, SocketState } from '../../../../adapters/_cloudflare/durable-object.ts'
import { MayflyBus } from '../../../../adapters/cloudflare-bus.ts'

interface ObjectState extends SocketState {
  abort(reason: string): void
}

/** Of the isolate, which outlives its objects. */
let isDown = false

export class Suite extends MayflyBus {
  readonly #state: ObjectState

  constructor(state: ObjectState) {
    super(state)
    this.#state = state
  }

  override async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === '/inject') {
      const text = await request.text()
      for (const socket of this.#state.getWebSockets()) socket.send(text)
      return new Response()
    }
    if (pathname === '/down') {
      isDown = true
      this.#state.abort('as in an outage')
    }
    if (pathname === '/up') isDown = false
    else if (isDown) throw new Error('down')
    return super.fetch(request)
  }
}

export default {
  fetch: (request: Request, { Suite: namespace }: { Suite: DurableObjectNamespace }) =>
    namespace.get(namespace.idFromName('suite') as never).fetch(request.url, {
      method: 'POST',
      body: request.body,
    }),
}

/** Waits and delivers at rendezvous of Durable Objects: ours, and some that are broken. Answers what came of it, as JSON. */
import type { DurableObjectNamespace } from '../../../../adapters/_cloudflare/durable-object.ts'
import { durableObjectRendezvous, MayflyRendezvous } from '../../../../adapters/cloudflare-rendezvous.ts'

export { MayflyRendezvous }

const HOUR_MS = 3_600_000
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** As an object whose code throws, or whose storage is down. */
export class Failing {
  fetch(): Response {
    return new Response('<h1>Internal error</h1>', { status: 500 })
  }
}

export class Throwing {
  fetch(): Response {
    throw new Error('broken')
  }
}

/** Never answers. */
export class Silent {
  async fetch(): Promise<Response> {
    await pause(HOUR_MS)
    return new Response('late')
  }
}

/** Says that the wait has begun, and nothing more. */
export class Stalling {
  fetch(): Response {
    return new Response(new ReadableStream({ start: () => pause(HOUR_MS) }))
  }
}

/** Brings what is no JSON. */
export class Babbling {
  fetch(): Response {
    return new Response('not { json')
  }
}

type Env = { readonly [binding: string]: DurableObjectNamespace }

interface Order {
  readonly object: string
  readonly key: string
  readonly do: 'wait' | 'deliver'
  readonly waitMs: number
  /** Aborts the wait after so many milliseconds; 0: before it begins. */
  readonly abortAfterMs?: number
  readonly answer?: unknown
}

async function run(order: Order, env: Env): Promise<unknown> {
  const { wait, deliver } = durableObjectRendezvous(env[order.object]!)
  if (order.do === 'deliver') {
    await deliver(order.key, order.answer)
    return undefined
  }
  const call = new AbortController()
  if (order.abortAfterMs === 0) call.abort()
  else if (order.abortAfterMs !== undefined) setTimeout(() => call.abort(), order.abortAfterMs)
  return (await wait(order.key, Date.now() + order.waitMs, call.signal)).answer
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const order = (await request.json()) as Order
    try {
      return Response.json({ answer: await run(order, env) })
    } catch (error) {
      return Response.json({ rejected: String(error) })
    }
  },
}

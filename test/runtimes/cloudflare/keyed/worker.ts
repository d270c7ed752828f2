/**
 * A Worker with stores in Durable Objects, for tests: `/call` does what a store does. The classes `Grants` and `Events` can be down, or lose
 * their answers; `Other` is what a user binds by mistake.
 */
import type { DurableObjectNamespace, StorageState } from '../../../../adapters/_cloudflare/durable-object.ts'
import { durableObjectEvents, MayflyEvents } from '../../../../adapters/cloudflare-events.ts'
import { durableObjectGrants, MayflyGrants } from '../../../../adapters/cloudflare-grants.ts'

interface Env {
  readonly [object: string]: DurableObjectNamespace
}

/** Of the isolate, which outlives its objects. */
const isolate = { outage: '' }

const never = (): Promise<never> => new Promise(() => setTimeout(() => {}, 3_600_000))

async function withOutage(answer: () => Promise<Response>): Promise<Response> {
  if (isolate.outage === 'throws') throw new Error('down')
  if (isolate.outage === 'silent') await never()
  const response = await answer()
  if (isolate.outage === 'mute') await never()
  return response
}

export class Grants extends MayflyGrants {
  readonly #state: StorageState

  constructor(state: StorageState) {
    super(state)
    this.#state = state
  }

  override async fetch(request: Request): Promise<Response> {
    const { storage } = this.#state
    if (new URL(request.url).pathname === '/kept') {
      const rows = storage.sql.exec('SELECT key FROM grants ORDER BY key').toArray()
      return Response.json({ keys: rows.map(({ key }) => key), alarm: await storage.getAlarm() })
    }
    return withOutage(() => super.fetch(request))
  }
}

export class Events extends MayflyEvents {
  override fetch(request: Request): Promise<Response> {
    return withOutage(() => super.fetch(request))
  }
}

export class Other {
  fetch(): Response {
    return Response.json({})
  }
}

interface Call {
  readonly object: keyof typeof STORES
  readonly method: 'read' | 'commit' | 'list'
  readonly args: readonly unknown[]
  readonly name: string
  readonly timeoutMs: number
}

/** By the name of an object: what opens it, and the binding. */
const STORES = {
  Grants: [durableObjectGrants, 'Grants'],
  Events: [durableObjectEvents, 'Events'],
  Other: [durableObjectGrants, 'Other'],
  EventsAsGrants: [durableObjectGrants, 'Events'],
  GrantsAsEvents: [durableObjectEvents, 'Grants'],
} as const

async function call({ object, method, args, name, timeoutMs }: Call, env: Env): Promise<object> {
  const [open, binding] = STORES[object]
  const store = open(env[binding]!, { name, timeoutMs })
  try {
    return { value: await (store[method] as (...args: readonly unknown[]) => Promise<unknown>)(...args) }
  } catch (error) {
    return { error: (error as Error).message, isTypeError: error instanceof TypeError }
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    switch (pathname) {
      case '/call':
        return Response.json(await call((await request.json()) as Call, env))
      case '/outage':
        isolate.outage = searchParams.get('is')!
        return Response.json({})
      default: {
        const id = env.Grants!.idFromName(`${searchParams.get('name')}/grants`)
        return env.Grants!.get(id as never).fetch('https://grants/kept')
      }
    }
  },
}

/**
 * A Worker with a store of grants in Durable Objects, for tests: `/call` does what a store does. The class `Suite` can be down, or lose its
 * answers; `Other` is what a user binds by mistake.
 */
import type { DurableObjectNamespace, StorageState } from '../../../../adapters/_cloudflare/durable-object.ts'
import { durableObjectGrants, MayflyGrants } from '../../../../adapters/cloudflare-grants.ts'

interface Env {
  readonly [object: string]: DurableObjectNamespace
}

/** Of the isolate, which outlives its objects. */
const isolate = { outage: '' }

const never = (): Promise<never> => new Promise(() => setTimeout(() => {}, 3_600_000))

export class Suite extends MayflyGrants {
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
    if (isolate.outage === 'throws') throw new Error('down')
    if (isolate.outage === 'silent') await never()
    const response = await super.fetch(request)
    if (isolate.outage === 'mute') await never()
    return response
  }
}

export class Other {
  fetch(): Response {
    return Response.json({})
  }
}

interface Call {
  readonly object: string
  readonly method: 'read' | 'commit' | 'list'
  readonly args: readonly unknown[]
  readonly name: string
  readonly timeoutMs: number
}

async function call({ object, method, args, name, timeoutMs }: Call, env: Env): Promise<object> {
  const store = durableObjectGrants(env[object]!, { name, timeoutMs })
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
        const id = env.Suite!.idFromName(`${searchParams.get('name')}/grants`)
        return env.Suite!.get(id as never).fetch('https://grants/kept')
      }
    }
  },
}

/**
 * A Worker with a store of tasks in Durable Objects, for tests: `/call` does what a store does, with the time and the limits that are
 * asked for. The class `Suite` can be down; `Runner` has a server whose runs do what the task's state says.
 */
import type { DurableObjectNamespace, StorageState } from '../../../../adapters/_cloudflare/durable-object.ts'
import {
  durableObjectTaskStore,
  MayflyTaskObject,
  taskObject,
} from '../../../../adapters/cloudflare-tasks.ts'
import type { StoredTask, TaskStore } from '../../../../src/tasks/store.ts'

interface Env {
  readonly [object: string]: DurableObjectNamespace
}

/** Of the isolate, which outlives its objects. */
const realNow = Date.now.bind(Date)
const isolate = { offsetMs: 0, outage: '', constructed: 0, env: {} as Env }
const runs: string[] = []

/** Time is the caller's: the suite lets hours pass. */
Date.now = () => realNow() + isolate.offsetMs

export class Suite extends MayflyTaskObject {
  /** Nothing is run here. */
  override async alarm(): Promise<void> {}

  override async fetch(request: Request): Promise<Response> {
    if (isolate.outage === 'throws') throw new Error('down')
    if (isolate.outage === 'silent') await new Promise(() => setTimeout(() => {}, 3_600_000))
    return super.fetch(request)
  }
}

/** As what a user binds by mistake. */
export class Other {
  fetch(): Response {
    return Response.json({})
  }
}

const storeOf = (env: Env): TaskStore => durableObjectTaskStore(env.Runner!, { name: 'runner' })

/** As the server's own: it reads and replaces the task from within the alarm of the task's object. */
const server = {
  tasks: {
    async run(id: string): Promise<void> {
      const store = storeOf(isolate.env)
      const task = (await store.read(id))!
      const { mode, url } = JSON.parse(task.state) as { mode: string; url: string }
      runs.push(mode)
      const count = runs.filter((one) => one === mode).length
      if (mode === 'throws twice' && count <= 2) throw new Error('as told')
      if (mode === 'does nothing once' && count === 1) return
      if (mode === 'dies once' && count === 1) {
        await objectOf(isolate.env, `task/${id}`)
          .fetch('https://tasks/abort')
          .catch(() => {})
        await new Promise(() => setTimeout(() => {}, 3_600_000))
      }
      if (mode === 'for ever') return
      if (mode === 'waits') await (await fetch(url)).text()
      const claimed: StoredTask = { ...task, version: task.version + 1, dueAt: Date.now() + 600_000 }
      if (!(await store.replace(claimed))) throw new Error('Another runs it.')
      if (mode === 'works') await (await fetch(url)).text()
      if (mode === 'sleeps' && task.version === 1) {
        await store.replace({ ...claimed, version: claimed.version + 1, dueAt: Date.now() + 500 })
        return
      }
      await store.replace({ ...claimed, version: claimed.version + 1, isOpen: false, dueAt: null })
    },
  },
}

interface RunnerState extends StorageState {
  readonly storage: StorageState['storage'] & { list(): Promise<Map<string, unknown>> }
  abort(reason: string): void
}

export class Runner extends taskObject(() => server) {
  readonly #state: RunnerState

  constructor(state: RunnerState, env: unknown) {
    super(state, env)
    this.#state = state
    isolate.constructed++
  }

  override async fetch(request: Request): Promise<Response> {
    const { storage } = this.#state
    switch (new URL(request.url).pathname) {
      case '/abort':
        this.#state.abort('as after a new deployment')
        return new Response()
      case '/kept': {
        const tables = storage.sql.exec(`SELECT name FROM sqlite_master WHERE name = 'open'`).toArray()
        return Response.json({
          keys: [...(await storage.list()).keys()],
          tables: tables.length,
          alarm: await storage.getAlarm(),
        })
      }
      default:
        return super.fetch(request)
    }
  }
}

function objectOf(env: Env, name: string) {
  return env.Runner!.get(env.Runner!.idFromName(`runner/${name}`) as never)
}

interface Call {
  readonly object: string
  readonly method: 'create' | 'read' | 'replace' | 'due'
  readonly args: readonly unknown[]
  readonly name: string
  readonly timeoutMs: number
  /** The time of the caller. */
  readonly now: number
}

async function call({ object, method, args, name, timeoutMs, now }: Call, env: Env): Promise<object> {
  isolate.offsetMs = now - realNow()
  const store = durableObjectTaskStore(env[object]!, { name, timeoutMs })
  try {
    const run = store[method] as (...args: readonly unknown[]) => Promise<unknown>
    return { value: await run(...args.map((arg) => (arg === 'Infinity' ? Number.POSITIVE_INFINITY : arg))) }
  } catch (error) {
    return { error: String(error), isTypeError: error instanceof TypeError }
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    isolate.env = env
    const { pathname, searchParams } = new URL(request.url)
    switch (pathname) {
      case '/call':
        return Response.json(await call((await request.json()) as Call, env))
      case '/outage':
        isolate.outage = searchParams.get('is')!
        return Response.json({})
      case '/object':
        return objectOf(env, searchParams.get('name')!).fetch(`https://tasks/${searchParams.get('do')}`, {
          method: 'POST',
          body: await request.text(),
        })
      default:
        return Response.json({ constructed: isolate.constructed, runs })
    }
  },
}

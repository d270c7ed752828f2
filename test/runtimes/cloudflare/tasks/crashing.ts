/**
 * A Worker whose tasks die: the object of a task aborts itself at any of the writes of its runs, as after a new deployment. The isolate
 * goes on, and has seen everything.
 */
import type { DurableObjectNamespace, StorageState } from '../../../../adapters/_cloudflare/durable-object.ts'
import { durableObjectTaskStore, taskObject } from '../../../../adapters/cloudflare-tasks.ts'
import { MCPServer } from '../../../../src/index.ts'
import { createTasks, type StoredTask, type TaskStore } from '../../../../src/tasks.ts'
import { createJob, type Plan, Witness } from '../../../property/_crash-plan.ts'

interface Env {
  readonly Crashing: DurableObjectNamespace
}

interface Seen {
  readonly plan: Plan
  readonly witness: Witness
  /** Writes since the last death. */
  writes: number
}

const seen = new Map<string, Seen>()

function createServer(store: TaskStore): MCPServer {
  return new MCPServer({
    id: 'crashing',
    name: 'Crashing',
    version: '1.0.0',
    log: false,
    onError: () => {},
    tools: { job: createJob((name) => seen.get(name)!, wait) },
    tasks: createTasks({ store, leaseMs: 1500, maxIdleRuns: 100, maxCrashes: 100, maxOpenTasks: 100_000 }),
  })
}

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** The store of a run: at a write that is planned, the object of the task is no more. */
function mortal(env: Env): TaskStore {
  const store = durableObjectTaskStore(env.Crashing, { name: 'crashing' })
  return {
    ...store,
    async replace(task) {
      const one = [...seen.values()].find(({ witness }) => witness.id === task.id) ?? meet(task)
      const death = one.plan.deaths[one.witness.deaths]
      const dies = death !== undefined && one.writes++ === death.afterWrites
      if (dies) {
        one.writes = 0
        one.witness.deaths++
      }
      const isKept = (!dies || death.isKept) && (await store.replace(task))
      if (isKept) one.witness.saw(task)
      if (!dies) return isKept
      const object = env.Crashing.get(env.Crashing.idFromName(`crashing/task/${task.id}`) as never)
      await object.fetch('https://tasks/abort').catch(() => {})
      return new Promise(() => {})
    },
  }
}

/** A task's first write still has its arguments. */
function meet({ id, state }: StoredTask): Seen {
  const { arguments: input } = JSON.parse(state) as { arguments: { name: string } }
  const one = seen.get(input.name)!
  one.witness.id = id
  return one
}

let runner: MCPServer | undefined
let front: MCPServer | undefined

export class Crashing extends taskObject((env) => {
  runner ??= createServer(mortal(env as Env))
  return runner
}) {
  readonly #abort: (reason: string) => void

  constructor(state: StorageState & { abort(reason: string): void }, env: unknown) {
    super(state, env)
    this.#abort = (reason) => state.abort(reason)
  }

  override async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname === '/abort') this.#abort('as after a new deployment')
    return super.fetch(request)
  }
}

export default {
  async fetch(request: Request, env: Env, context: unknown): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const name = searchParams.get('name') ?? ''
    if (pathname === '/plan') {
      seen.set(name, { plan: (await request.json()) as Plan, witness: new Witness(), writes: 0 })
      return Response.json({})
    }
    if (pathname === '/seen') {
      const { witness } = seen.get(name)!
      seen.delete(name)
      return Response.json({ deaths: witness.deaths, faults: [...witness.faults, ...witness.overlaps()] })
    }
    front ??= createServer(durableObjectTaskStore(env.Crashing, { name: 'crashing' }))
    return front.fetch(request, env, context)
  },
}

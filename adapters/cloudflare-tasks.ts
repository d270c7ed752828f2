/**
 * Tasks in Durable Objects, one per task: writes are durable and consistent, and the object's alarm runs the task when it is due. One
 * object per owner counts the open tasks.
 */

import { withTimeout } from '../src/definition/timeout.ts'
import { type Names, refuseUnknown } from '../src/definition/unknown-option.ts'
import type { TaskStore } from '../src/tasks/store.ts'
import { checkTask, isTaskId } from '../src/tasks/stored.ts'
import { createOwnedName } from './_bus/owned-name.ts'
import type { DurableObjectNamespace } from './_cloudflare/durable-object.ts'
import { MayflyTaskObject } from './_cloudflare/task-object.ts'
import { type Answers, CLOCK_HEADER, type Order } from './_cloudflare/task-wire.ts'
import { createInSlot, type Slots, updateSlot } from './_tasks/slots.ts'
import { STORE_TIMEOUT_MS } from './_tasks/store-ask.ts'
import { createMeasuredClock } from './_tasks/store-clock.ts'

export { MayflyTaskObject } from './_cloudflare/task-object.ts'

/** Options of `durableObjectTaskStore`. */
export interface DurableObjectTaskStoreOptions {
  /** The prefix of the objects' names. Default: the name of the server and its stage, such as `mayfly_shop`. */
  readonly name?: string
  /** Milliseconds after which an object that does not answer counts as down. Default 5000. */
  readonly timeoutMs?: number
}

const OPTIONS: Names<DurableObjectTaskStoreOptions> = { name: 'string', timeoutMs: [0] }

/** The part of a server that runs its tasks. */
export interface TaskServer {
  readonly tasks: { run(id: string, platform?: { readonly env?: unknown }): PromiseLike<unknown> }
}

/** Maximum bytes of one task. An object stores up to 2 MB in a value, with two bytes per character if needed. */
const MAX_STATE_BYTES = 1_000_000

const OBJECT_URL = 'https://tasks/'

/**
 * Creates the Durable Object class for tasks: export it from your Worker and bind it.
 *
 * ```ts
 * export class MayflyTasks extends taskObject(() => server) {}
 * ```
 *
 * ```toml
 * [[durable_objects.bindings]]
 * name = "TASKS"
 * class_name = "MayflyTasks"
 *
 * [[migrations]]
 * tag = "mayfly-tasks-1"
 * new_sqlite_classes = ["MayflyTasks"]
 * ```
 *
 * @param server Called for each run with the bindings, so that it may be declared below the class.
 */
export function taskObject(server: (env: unknown) => TaskServer): typeof MayflyTaskObject {
  if (typeof server !== 'function') throw new TypeError('taskObject needs a function: (env) => server.')
  return class extends MayflyTaskObject {
    override async run(id: string, env: unknown): Promise<void> {
      await server(env).tasks.run(id, { env })
    }
  }
}

/**
 * Creates a task store from the binding of the class that `taskObject` creates. The objects' alarms run the tasks, so the store lists no
 * due tasks. While an object fails, its calls reject within `timeoutMs`; a rejected write may still succeed.
 *
 * @throws TypeError without a binding.
 */
export function durableObjectTaskStore(
  namespace: DurableObjectNamespace,
  options: DurableObjectTaskStoreOptions = {},
): TaskStore {
  if (typeof namespace?.idFromName !== 'function') {
    throw new TypeError(
      'durableObjectTaskStore needs the binding of a Durable Object: bind the class of taskObject in the wrangler configuration, as in docs/tasks-stores.md',
    )
  }
  refuseUnknown('durableObjectTaskStore', options, OPTIONS)
  const name = createOwnedName('durableObjectTaskStore', 'name', options.name)
  const { timeoutMs = STORE_TIMEOUT_MS } = options
  const clock = createMeasuredClock()
  const ask = async <Kind extends Order['do']>(
    object: string,
    order: Order & { readonly do: Kind },
  ): Promise<Answers[Kind]> => {
    const id = namespace.idFromName(`${name.get()}/${object}`)
    const over = new AbortController()
    const sentAt = Date.now()
    try {
      const stub = namespace.get(id as never)
      const init = { method: 'POST', body: JSON.stringify(order), signal: over.signal }
      const answered = stub.fetch(OBJECT_URL, init).then((response) => {
        clock.heard(Number(response.headers.get(CLOCK_HEADER) ?? Number.NaN), sentAt)
        return toAnswer<Kind>(response)
      })
      return await withTimeout(answered, timeoutMs, 'Durable Object')
    } catch (error) {
      over.abort()
      throw error
    }
  }
  const taskOf = (id: string): string => `task/${id}`
  const ownerOf = (owner: string): string => `owner/${owner}`

  const slots: Slots = {
    take: ({ id, owner, expiresAt }, maxOpen) =>
      ask(ownerOf(owner), { do: 'take', task: { id, expiresAt }, maxOpen, now: clock.now() }),
    keep: ({ id, owner, expiresAt }) =>
      ask(ownerOf(owner), { do: 'keep', task: { id, expiresAt }, now: clock.now() }),
    free: (owner, ids) => ask(ownerOf(owner), { do: 'free', ids }),
  }
  const store: TaskStore = {
    maxStateBytes: MAX_STATE_BYTES,
    attach: name.attach,
    clockOffsetMs: clock.offsetMs,
    // The objects' alarms.
    runner: { isPrompt: true, wake() {} },
    async create(task, maxOpen) {
      checkTask(task, MAX_STATE_BYTES)
      const create = async (): Promise<boolean> =>
        (await ask(taskOf(task.id), { do: 'create', task, now: clock.now() })).isDone
      return createInSlot(task, maxOpen, slots, create, store.read)
    },
    async read(id) {
      if (!isTaskId(id)) return undefined
      return (await ask(taskOf(id), { do: 'read', now: clock.now() })).task
    },
    async replace(task) {
      checkTask(task, MAX_STATE_BYTES)
      const { isDone, before } = await ask(taskOf(task.id), { do: 'replace', task, now: clock.now() })
      if (before !== undefined) await updateSlot(before, task, slots)
      return isDone
    },
    async due() {
      return []
    },
  }
  return store
}

async function toAnswer<Kind extends Order['do']>(response: Response): Promise<Answers[Kind]> {
  if (response.ok && response.headers.get('x-mayfly') === 'task')
    return (await response.json()) as Answers[Kind]
  await response.body?.cancel()
  throw new Error(
    `The Durable Object answered ${response.status} instead of a task: bind the class of taskObject, and see its log.`,
  )
}

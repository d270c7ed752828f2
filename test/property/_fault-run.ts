/** Runs a scenario with faults, until its tasks have ended, and returns what must not have been seen. */
import { createMemoryTaskStore, createTasks, type TaskRunner, type TaskStore } from '../../src/tasks.ts'
import { type SeenTask, TaskClient } from '../unit/tasks/_tasks.ts'
import { standingStill, trueNow, wait } from './_clock.ts'
import { createInnocentTool, createScenarioTool, History, type Scenario, toolOf } from './_decisions.ts'
import { AWAY_MS, type Fault, Injector, type PlannedFault, Process } from './_faulty-store.ts'

const LEASE_MS = 400
const LOOK_MS = 10
const PROMPT: TaskRunner = { isPrompt: true, wake() {} }

/** Milliseconds in which an innocent task ends, for each fault of the other; and more if the store was away. */
const INNOCENT_MS = 3000
const INNOCENT_AFTER_MS = AWAY_MS + 5000

/** What the processes of a run have. */
export interface Surroundings {
  /** The store as a process sees it, with connections of its own: 0 is the client's. */
  readonly connect: (process: number) => TaskStore
  /** Whether the store lists no due tasks, since something else tells which are due. Default false. */
  readonly isTold?: boolean
  /** Milliseconds by which the clock of each process is ahead of the store's: one process more than may die. */
  readonly skewsMs: readonly number[]
}

export interface FaultRun {
  readonly writes: number
  /** Faults that have happened. */
  readonly happened: number
  readonly faults: readonly string[]
}

export function inMemory(skewsMs: readonly number[] = [0, 0]): Surroundings {
  const store = createMemoryTaskStore()
  return { connect: () => store, skewsMs }
}

export async function runWithFault(
  scenario: Scenario,
  { connect, isTold = false, skewsMs }: Surroundings = inMemory(),
  planned: readonly PlannedFault[] = [],
): Promise<FaultRun> {
  const history = new History()
  const injector = new Injector(planned)
  const name = crypto.randomUUID()
  const ids = new Set<string>()
  const seen = (store: TaskStore): TaskStore => ({
    maxStateBytes: store.maxStateBytes,
    async create(task, maxOpen) {
      const own = { ...task, owner: name }
      const isDone = await standingStill(() => store.create(own, maxOpen))
      if (isDone) history.saw(own)
      if (isDone && toolOf(task.state) === 'job') ids.add(task.id)
      return isDone
    },
    async replace(task) {
      const isDone = await standingStill(() => store.replace({ ...task, owner: name }))
      if (isDone) history.saw(task)
      return isDone
    },
    read: (id) => standingStill(() => store.read(id)),
    // Other runs are other servers, which are not looked for.
    due: async (now, limit, options) =>
      options?.server === undefined ? [] : standingStill(() => store.due(now, limit, options)),
  })
  const start = (own: TaskStore, runner?: TaskRunner) => {
    const tasks = createTasks({ store: own, leaseMs: LEASE_MS, maxIdleRuns: 100, runner })
    const tools = { job: createScenarioTool(scenario, history), innocent: createInnocentTool(history) }
    return new TaskClient({ id: name, tools, tasks, onError: () => {} })
  }
  const outside = start(seen(connect(0)), PROMPT)
  const processes = skewsMs.map((skewMs, index) => {
    const isCounted = ({ state }: { readonly state: string }): boolean => toolOf(state) === 'job'
    const own = new Process(seen(connect(index + 1)), injector, isCounted, skewMs)
    return { own, client: start(own) }
  })
  const [first] = processes as [(typeof processes)[0]]

  // The process may die before it answers.
  let answer: SeenTask | Error | undefined
  const called = first.own.machine.run(() => first.client.call('job'))
  void called.then(
    (task) => {
      answer = task
    },
    (error: Error) => {
      answer = error
    },
  )
  const innocent = outside.call('innocent')
  const startedAt = trueNow()
  let innocentMs = Number.POSITIVE_INFINITY
  const sent = new Set<string>()
  let quiet = 0
  for (let turn = 0; turn < 3000; turn++) {
    await wait(LOOK_MS)
    const due = history.due(trueNow())
    const alive = processes.find(({ own }) => !own.isDead && !own.machine.isPaused)!
    const { tasks } = alive.client.server
    alive.own.machine.run(() => {
      if (isTold) for (const id of due) void tasks.run(id)
      else if (due.length > 0) void tasks.runDue().catch(() => {})
    })
    for (const [effect, names] of Object.entries(scenario.events ?? {})) {
      if (effect !== 'start' && !history.effects.includes(effect)) continue
      for (const id of ids) for (const event of names) await give(outside, id, event, sent)
    }
    if (!history.stored((await innocent).taskId).isOpen)
      innocentMs = Math.min(innocentMs, trueNow() - startedAt)
    const isOpen = innocentMs === Number.POSITIVE_INFINITY || [...ids].some((id) => history.stored(id).isOpen)
    const isPaused = processes.some(({ own }) => own.machine.isPaused)
    // A write that is late may still arrive.
    if (isOpen || isPaused || (answer === undefined && !first.own.isDead)) quiet = 0
    else if (++quiet > 10) break
  }
  const faults = [...history.faults, ...judge(scenario, history, answer, first.own.isDead, planned)]
  const away = planned.filter(({ fault }) => fault === 'lost, then away').length
  if (innocentMs > INNOCENT_MS * Math.max(1, planned.length) + away * INNOCENT_AFTER_MS)
    faults.push(`an innocent task took ${innocentMs} ms`)
  return { writes: injector.writes, happened: injector.happened, faults }
}

/** Sends an event once, or answers the question of a task. */
async function give(client: TaskClient, id: string, name: string, sent: Set<string>): Promise<void> {
  if (sent.has(`${id} ${name}`)) return
  if (name !== '?') {
    sent.add(`${id} ${name}`)
    await client.server.tasks.send(id, name, name)
    return
  }
  const { inputRequests = {} } = await client.get(id, { platform: {} })
  const [key] = Object.keys(inputRequests)
  if (key === undefined) return
  sent.add(`${id} ${name}`)
  await client.update(id, { [key]: { action: 'accept', content: { yes: true } } }, { platform: {} })
}

/** Faults after which a step may begin once more: its process is gone, or its run has lost the lease. */
const AGAIN: readonly Fault[] = [
  'lost, then away',
  'dies before',
  'dies after',
  'paused before',
  'paused after',
]

function judge(
  scenario: Scenario,
  history: History,
  answer: SeenTask | Error | undefined,
  hasDied: boolean,
  planned: readonly PlannedFault[],
): string[] {
  const faults: string[] = []
  const { either = [], results } = scenario
  const branches = either.filter((name) => history.count(name) > 0)
  if (branches.length > 1) faults.push(`both branches: ${branches.join(' + ')}`)
  const again = planned.filter(({ fault }) => AGAIN.includes(fault)).length
  for (const name of new Set(history.effects)) {
    const most = (name === 'try' ? 2 : 1) + again
    if (history.count(name) > most) faults.push(`${name} ${history.count(name)} times`)
  }
  const ends = history.ends('job')
  for (const { status, text, version } of ends) {
    if (status === 'completed' && results.includes(text)) continue
    // A task that was created and has never run, for a call that has ended without it.
    if (version <= 2 && (answer instanceof Error || answer?.taskId === undefined)) continue
    faults.push(`a task is ${status}: ${text}`)
  }
  const completed = ends.filter(({ status }) => status === 'completed').length
  if (completed > 1) faults.push(`${completed} tasks of one call`)
  if (hasDied) return faults
  if (answer === undefined) faults.push('no answer')
  const isDone = answer !== undefined && !(answer instanceof Error) && answer.taskId === undefined
  if (isDone && completed > 0) faults.push('answered in the call, and a task as well')
  if (isDone && !results.includes((answer as unknown as { content: { text: string }[] }).content[0]!.text))
    faults.push(`answered ${JSON.stringify(answer)}`)
  const saysSo =
    planned.some(({ fault }) => fault === 'lost, then away') && /unknown whether/.test(String(answer))
  if (answer instanceof Error && completed > 0 && !saysSo) faults.push('an error, and a task as well')
  if (!isDone && !(answer instanceof Error) && completed === 0) faults.push('a task that did not end')
  return faults
}

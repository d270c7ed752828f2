/** Runs a scenario with one fault, until its tasks have ended, and returns what must not have been seen. */
import { createMemoryTaskStore, createTasks, type TaskRunner, type TaskStore } from '../../src/tasks.ts'
import { type SeenTask, TaskClient } from '../unit/tasks/_tasks.ts'
import { wait } from './_clock.ts'
import { createScenarioTool, History, type Scenario } from './_decisions.ts'
import { type Fault, Injector, Process } from './_faulty-store.ts'

const LEASE_MS = 400
const LOOK_MS = 10
const PROMPT: TaskRunner = { isPrompt: true, wake() {} }

export interface FaultRun {
  readonly writes: number
  readonly faults: readonly string[]
}

export async function runWithFault(scenario: Scenario, at?: number, fault?: Fault): Promise<FaultRun> {
  const history = new History()
  const injector = new Injector(at, fault)
  const memory = createMemoryTaskStore()
  const ids = new Set<string>()
  const seen: TaskStore = {
    ...memory,
    async create(task, maxOpen) {
      const isDone = await memory.create(task, maxOpen)
      if (isDone) ids.add(task.id)
      if (isDone) history.saw(task)
      return isDone
    },
    async replace(task) {
      const isDone = await memory.replace(task)
      if (isDone) history.saw(task)
      return isDone
    },
  }
  const start = (own: TaskStore, runner?: TaskRunner) => {
    const tasks = createTasks({ store: own, leaseMs: LEASE_MS, maxIdleRuns: 100, runner })
    const tool = createScenarioTool(scenario, history)
    return new TaskClient({ tools: { job: tool }, tasks, onError: () => {} })
  }
  const outside = start(seen, PROMPT)
  const first = new Process(seen, injector)
  const processes = [first, new Process(seen, injector)].map((own) => ({ own, client: start(own) }))

  // The process may die before it answers.
  let answer: SeenTask | Error | undefined
  void processes[0]!.client.call('job').then(
    (task) => {
      answer = task
    },
    (error: Error) => {
      answer = error
    },
  )
  const sent = new Set<string>()
  let quiet = 0
  for (let turn = 0; turn < 3000; turn++) {
    await wait(LOOK_MS)
    const alive = processes.find(({ own }) => !own.isDead)!
    void alive.client.server.tasks.runDue().catch(() => {})
    for (const [effect, names] of Object.entries(scenario.events ?? {})) {
      if (effect !== 'start' && !history.effects.includes(effect)) continue
      for (const id of ids) for (const name of names) await give(outside, id, name, sent)
    }
    const open = [...ids].filter((id) => isOpen(history, id))
    // A write that is late may still arrive.
    if (open.length > 0 || (answer === undefined && !first.isDead)) quiet = 0
    else if (++quiet > 10) break
  }
  return {
    writes: injector.writes,
    faults: [...history.faults, ...judge(scenario, history, answer, first.isDead, fault)],
  }
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

function isOpen(history: History, id: string): boolean {
  return history.stored(id).isOpen
}

function judge(
  scenario: Scenario,
  history: History,
  answer: SeenTask | Error | undefined,
  hasDied: boolean,
  fault: Fault | undefined,
): string[] {
  const faults: string[] = []
  const { either = [], results } = scenario
  const branches = either.filter((name) => history.count(name) > 0)
  if (branches.length > 1) faults.push(`both branches: ${branches.join(' + ')}`)
  for (const name of new Set(history.effects)) {
    // A step whose process died, or whose run lost its lease, may begin once more.
    const most = (name === 'try' ? 2 : 1) + (fault === 'lost, then away' || fault?.startsWith('dies') ? 1 : 0)
    if (history.count(name) > most) faults.push(`${name} ${history.count(name)} times`)
  }
  const ends = history.ends()
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
  const saysSo = fault === 'lost, then away' && /unknown whether/.test(String(answer))
  if (answer instanceof Error && completed > 0 && !saysSo) faults.push('an error, and a task as well')
  if (!isDone && !(answer instanceof Error) && completed === 0) faults.push('a task that did not end')
  return faults
}

/** One run of a task, without its original request: its context is created from the stored caller. */
import type { CompiledTool } from '../definition/compiled-tool.ts'
import type { Env } from '../definition/context.ts'
import { part } from '../definition/part.ts'
import type { TaskReader } from '../definition/task-option.ts'
import { type Asking, loadAsking } from '../interaction/load-asking.ts'
import type { ServerOptions } from '../request/options.ts'
import { RequestScope } from '../request/request-server.ts'
import { SetupServer } from '../request/setup-server.ts'
import { runTool, type ToolRunOptions } from '../request/tools.ts'
import type { ContextFacts } from '../request/wire.ts'
import { answersFor } from './changes.ts'
import { CodeChangedError } from './code-changed.ts'
import { RunContext, taskWire } from './context.ts'
import { TASK_FEATURE } from './feature.ts'
import type { Place, Places } from './places.ts'
import type { RareReport } from './rare-report.ts'
import type { Task, TaskRecord } from './record.ts'
import { TaskRun } from './run.ts'
import { type Settings, settingsOf } from './settings.ts'
import type { SlicePlatform } from './support.ts'
import type { TaskRecords } from './task-records.ts'
import type { TaskWatch } from './watch.ts'

/** What all runs of a server share. */
export interface SharedByRuns {
  readonly records: TaskRecords
  readonly settings: Settings
  /** The places for runs in this process. */
  readonly places: Places
  /** The runs of this process by task, which are notified of changes by this process. */
  readonly running: Map<string, TaskRun>
  /** Reads the tasks of one caller. */
  readonly readerFor: (principal: string) => TaskReader
  readonly report: (error: unknown) => void
  /** Whether it belongs to another server, which is reported once. */
  isForeign(server: string | undefined): boolean
  /** What marks the tasks of this server and its stage. */
  tag(): string
  /** Looks for the stage in the variables of a run. @throws TypeError for an invalid one. */
  see(env: unknown): void
  /** Once a minute for each kind. */
  readonly reportRarely: RareReport
  /** Undefined without telemetry of tasks. */
  watch(): TaskWatch | undefined
  /** @throws TypeError if the tasks do not belong to a server yet. */
  options(): ServerOptions
}

/** Runs a task whose lease this run holds. Resolves with the task after the run. Never rejects. */
export async function runTask(
  task: Task,
  platform: SlicePlatform,
  shared: SharedByRuns,
  place: Place,
): Promise<Task> {
  const watch = shared.watch()?.begin(task, platform)
  if (watch === undefined) return runUnwatched(task, platform, shared, place)
  const after = await watch.run(() => runUnwatched(task, platform, shared, place))
  watch.end(after)
  return after
}

async function runUnwatched(
  task: Task,
  platform: SlicePlatform,
  shared: SharedByRuns,
  place: Place,
): Promise<Task> {
  const { running, reportRarely } = shared
  const { record } = task
  let context: RunContext | undefined
  const run = createRun(task, platform, shared, place, (reason) => context?.abort(reason))
  // From here on it can be cancelled, even during its setup.
  running.set(task.id, run)
  try {
    const given = part(loadAsking)
    const asking = given instanceof Promise ? await given : given
    const options = shared.options()
    context = createContext(task, platform, shared, run, asking)
    const scope = new RequestScope(options.definition, context)
    const setUp = options.setup?.(
      new SetupServer(scope),
      new Request(record.caller.url ?? 'http://task.invalid/'),
    )
    await Promise.race([setUp, run.done])
    if (run.isOver) return run.task ?? task
    const tool = scope.findTool(record.tool)
    if (tool === undefined) {
      reportRarely(`tool ${record.tool}`, unknownTool(record.tool))
      await run.release()
    } else {
      const { toolVersion = 1 } = record
      const { version } = settingsOf(tool.source.task ?? 'auto', shared.settings)
      if (toolVersion < version) run.earlierVersion = toolVersion
      if (toolVersion > version) {
        const why = `it began with version ${toolVersion}, and this is version ${version}.`
        reportRarely(`version of ${record.tool}`, new CodeChangedError(task.id, record.tool, why))
        await run.release()
      } else {
        run.begin()
        await runToEnd(run, tool, record.arguments, context, options, 'run')
      }
    }
  } catch (error) {
    // Of `setup`, or of what makes the context: an outage that may be over in another run.
    reportRarely('setup', error)
    await run.release()
  } finally {
    if (running.get(task.id) === run) running.delete(task.id)
    place.leave()
  }
  return run.task ?? task
}

/** An old process in a rolling deployment does not know it, and a new one no longer may. */
function unknownTool(name: string): Error {
  return new Error(
    `This server has no tool "${name}", which waiting tasks call: they are tried again within 5 minutes, until they expire. Deploy the tool, or cancel them.`,
  )
}

/** Runs a tool to the end of its run. Never rejects. */
export async function runToEnd(
  run: TaskRun,
  tool: CompiledTool,
  input: unknown,
  context: RunContext,
  options: ToolRunOptions,
  task?: 'run',
): Promise<void> {
  const work = async (): Promise<void> => {
    try {
      await run.end(await runTool(tool, input, context, options, task))
    } catch (error) {
      await run.fail(error)
    }
  }
  // Not awaited, since a suspended tool never settles.
  void work()
  await run.done
}

function createRun(
  task: Task,
  { deadline = Number.POSITIVE_INFINITY }: SlicePlatform,
  { records, settings, report }: SharedByRuns,
  place: Place,
  abort: (reason: () => unknown) => void,
): TaskRun {
  const { record } = task
  return new TaskRun(
    {
      records,
      seed: record.seed,
      answers: answersFor(record),
      leaseMs: record.run?.leaseMs ?? settings.leaseMs,
      isAlone: (forMs) => place.isAlone(forMs),
      deadline: Math.min(deadline, Date.now() + settings.maxRunMs),
      report,
      onProgress: () => {},
      create: async () => undefined,
      waitsInside: false,
      asksAsTask: true,
      abort,
    },
    task,
  )
}

function createContext(
  { id, record }: Task,
  platform: SlicePlatform,
  { readerFor, report, options }: SharedByRuns,
  run: TaskRun,
  asking: Asking,
): RunContext {
  const serverOptions = options()
  const wire = taskWire(
    {
      rpcId: id,
      conditions: () => conditionsOf(record, serverOptions),
      publish: serverOptions.publish,
      rounds: { journal: record.journal, responses: answersFor(record) },
    },
    () => run,
    () => context.signal,
  )
  const context: RunContext = new RunContext(
    factsOf(record, platform, report),
    wire,
    () => run,
    readerFor(record.principal),
  )
  serverOptions.extendContext?.(context)
  wire.interaction(asking)
  return context
}

/** The stored caller of a task, for a run without a request. */
function factsOf(
  { caller }: TaskRecord,
  { env, deadline, waitUntil }: SlicePlatform,
  report: (error: unknown) => void,
): ContextFacts {
  const { era, protocolVersion, clientInfo, clientCapabilities, auth } = caller
  return {
    requestId: crypto.randomUUID(),
    era,
    protocolVersion,
    clientInfo,
    clientCapabilities,
    deadline,
    auth,
    env: (env ?? {}) as Env,
    waitUntil: (promise) => {
      const guarded = promise.catch(report)
      waitUntil?.(guarded)
    },
  }
}

function conditionsOf({ caller }: TaskRecord, { bus, asking }: ServerOptions) {
  return {
    era: caller.era,
    protocolVersion: caller.protocolVersion,
    clientCapabilities: caller.clientCapabilities,
    canStream: false,
    hasBus: bus !== undefined && bus !== false,
    hasSecret: false,
    hasRendezvous: false,
    legacyPolicy: asking.legacyPolicy,
    hasSession: false,
    extensions: TASK_FEATURE,
    isTask: true,
  }
}

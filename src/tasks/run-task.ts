/** One run of a task, without its original request: its context is created from the stored caller. */
import type { CompiledTool } from '../definition/compiled-tool.ts'
import type { Env } from '../definition/context.ts'
import type { TaskReader } from '../definition/task-option.ts'
import type { ReportError, ServerOptions } from '../request/options.ts'
import { RequestScope } from '../request/request-server.ts'
import type { SlicePlatform } from '../request/task-support.ts'
import { runTool } from '../request/tools.ts'
import type { ContextFacts } from '../request/wire.ts'
import { answersFor } from './changes.ts'
import { RunContext, taskWire } from './context.ts'
import type { Task, TaskRecord } from './record.ts'
import { TaskRun } from './run.ts'
import type { Settings } from './settings.ts'
import type { TaskRecords } from './task-records.ts'

/** What all runs of a server share. */
export interface SharedByRuns {
  readonly records: TaskRecords
  readonly settings: Settings
  /** The runs of this process by task, which are notified of changes by this process. */
  readonly running: Map<string, TaskRun>
  /** Reads the tasks of one caller. */
  readonly readerFor: (principal: string) => TaskReader
  readonly report: (error: unknown) => void
  /** @throws TypeError if the tasks do not belong to a server yet. */
  options(): ServerOptions
}

/** Runs a task whose lease this run holds. Resolves with the task after the run. Never rejects. */
export async function runTask(task: Task, platform: SlicePlatform, shared: SharedByRuns): Promise<Task> {
  const { running } = shared
  const { record } = task
  const options = shared.options()
  const run = createRun(task, platform, shared, (reason) => context.abort(reason))
  const context = createContext(task, platform, shared, run)
  // From here on it can be cancelled, even during its setup.
  running.set(task.id, run)
  try {
    const scope = new RequestScope(options.definition, context)
    const setUp = options.setup?.(scope, new Request(record.caller.url ?? 'http://task.invalid/'))
    await Promise.race([setUp, run.done])
    if (run.isOver) return run.task ?? task
    const tool = scope.findTool(record.tool)
    if (tool === undefined) throw new Error(`Tool "${record.tool}" of a task no longer exists.`)
    await runToEnd(run, tool, record.arguments, context, options.reportError)
  } catch (error) {
    await run.fail(error)
  } finally {
    running.delete(task.id)
  }
  return run.task ?? task
}

/** Runs a tool to the end of its run. Never rejects. */
export async function runToEnd(
  run: TaskRun,
  tool: CompiledTool,
  input: unknown,
  context: RunContext,
  reportError: ReportError,
): Promise<void> {
  const work = async (): Promise<void> => {
    try {
      await run.end(await runTool(tool, input, context, reportError))
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
  abort: (reason: () => unknown) => void,
): TaskRun {
  const { record } = task
  return new TaskRun(
    {
      records,
      seed: record.seed,
      answers: answersFor(record),
      leaseMs: record.run?.leaseMs ?? settings.leaseMs,
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
  wire.interaction()
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
    hasTasks: true,
  }
}

/**
 * What the calls, the methods and the tools of one server's tasks share: the book of tasks, and how one is run.
 */

import type { CompiledTool } from '../definition/compiled-tool.ts'
import type { Env } from '../definition/context.ts'
import { isThenable } from '../definition/hook.ts'
import type { TaskReader } from '../definition/task-option.ts'
import { withTimeout } from '../definition/timeout.ts'
import type { Context } from '../request/context.ts'
import type { ServerOptions } from '../request/options.ts'
import { RequestScope } from '../request/request-server.ts'
import { type SlicePlatform, TASK_URI, type TaskHost } from '../request/task-support.ts'
import { runTool } from '../request/tools.ts'
import type { ContextFacts } from '../request/wire.ts'
import { createBook } from './book.ts'
import { answersFor, failedWith } from './changes.ts'
import { RunContext, taskWire } from './context.ts'
import { describeDetails, isEnded, newLease, type Task, type TaskRecord } from './record.ts'
import { TaskRun } from './run.ts'
import { MIN_RUN_MS, type TasksOptions, toSettings } from './settings.ts'
import type { TaskStore } from './store.ts'

/** Milliseconds that a write waits for its runner to have been told. */
const WAKE_TIMEOUT_MS = 1000

export type TaskParts = ReturnType<typeof createParts>

export function createParts(options: TasksOptions & { readonly store: TaskStore }) {
  const settings = toSettings(options)
  const { runner } = settings
  let host: TaskHost | undefined
  /** The runs of this process, to be told of what this process knows. */
  const running = new Map<string, TaskRun>()
  let isClosed = false

  const hostOptions = (): ServerOptions => {
    if (host === undefined)
      throw new TypeError('These tasks belong to no server: pass them to MCPServer as "tasks".')
    return host.options()
  }
  const report = (error: unknown): void => hostOptions().reportError(error, { tasks: true })
  const book = createBook(
    settings.store,
    async (id, at) => {
      try {
        const told = at === null ? runner?.forget?.(id) : runner?.wake(id, at)
        if (isThenable(told)) await withTimeout(told, WAKE_TIMEOUT_MS, 'runner of the tasks')
      } catch (error) {
        report(error)
      }
    },
    (id) => void hostOptions().publish({ type: 'resourceUpdated', uri: TASK_URI + id }),
  )
  const taskStore: TaskReader = {
    async getTask(taskId) {
      const task = await book.read(taskId)
      return task && describeDetails(task)
    },
  }

  /** Runs a tool to the end of its run. Never rejects. */
  const execute = async (
    run: TaskRun,
    tool: CompiledTool,
    input: unknown,
    context: RunContext,
  ): Promise<void> => {
    const work = async (): Promise<void> => {
      try {
        await run.end(await runTool(tool, input, context, hostOptions().reportError))
      } catch (error) {
        await run.fail(error)
      }
    }
    // A suspended tool never settles, so that is not waited for.
    void work()
    await run.done
  }

  /** Runs a task that this run has taken. Resolves with the task as the run has left it. Never rejects. */
  const runTaken = async (task: Task, platform: SlicePlatform): Promise<Task> => {
    const { record } = task
    const requestOptions = hostOptions()
    const run: TaskRun = new TaskRun(
      {
        book,
        seed: record.seed,
        answers: answersFor(record),
        leaseMs: settings.leaseMs,
        deadline: Math.min(platform.deadline ?? Number.POSITIVE_INFINITY, Date.now() + settings.maxRunMs),
        report,
        onProgress: () => {},
        create: async () => undefined,
        waitsInside: false,
        asksAsTask: true,
        abort: (reason) => context.abort(reason),
      },
      task,
    )
    const wire = taskWire(
      {
        rpcId: task.id,
        conditions: () => conditionsOf(record, requestOptions),
        publish: requestOptions.publish,
        rounds: { journal: record.journal, responses: answersFor(record) },
      },
      () => run,
      () => context.signal,
    )
    const context: RunContext = new RunContext(factsOf(record, platform, report), wire, () => run, taskStore)
    wire.interaction()
    // From here on it may be cancelled, also while it is set up.
    running.set(task.id, run)
    try {
      const scope = new RequestScope(requestOptions.definition, context)
      const setUp = requestOptions.setup?.(scope, new Request(record.caller.url ?? 'http://task.invalid/'))
      await Promise.race([setUp, run.done])
      if (run.isOver) return run.task ?? task
      const tool = scope.findTool(record.tool)
      if (tool === undefined) throw new Error(`Tool "${record.tool}" of a task does not exist any more.`)
      await execute(run, tool, record.arguments, context)
    } catch (error) {
      await run.fail(error)
    } finally {
      running.delete(task.id)
    }
    return run.task ?? task
  }

  /** Takes a task for a run with this id if it is due, unless somebody else runs it. Resolves with the task as it is then. */
  const take = (id: string, runId: string): Promise<Task | undefined> =>
    book.change(id, ({ record, dueAt }) => {
      const now = Date.now()
      const { run } = record
      if (isEnded(record) || dueAt === null) return undefined
      if (run !== undefined && run.until > now) {
        // The runner has come to see whether that run is alive. It is, so far: one of those who come looks again.
        if (runner === undefined || runner.isPrompt || run.lookAt > now) return undefined
        return { record: { ...record, run: { ...run, lookAt: run.until } }, dueAt }
      }
      if (dueAt > now) return undefined
      if (record.idleRuns >= settings.maxIdleRuns)
        return { record: failedWith(record, stuck(settings.maxIdleRuns)), dueAt: null }
      const lease = newLease(runId, settings.leaseMs)
      return { record: { ...record, run: lease, idleRuns: record.idleRuns + 1 }, dueAt: lease.until }
    })

  return {
    book,
    settings,
    running,
    report,
    taskStore,
    execute,
    runTaken,
    options: hostOptions,
    attach(given: TaskHost): void {
      if (host !== undefined)
        throw new TypeError('These tasks belong to another server: create tasks for each server.')
      host = given
    },
    close(): void {
      isClosed = true
      runner?.close?.()
      for (const run of running.values()) run.stop()
    },
    async run(id: string, platform: SlicePlatform = {}): Promise<number | null> {
      if (isClosed) return Date.now()
      try {
        // A run without time for a step would only count as one that has finished none.
        if ((platform.deadline ?? Number.POSITIVE_INFINITY) - Date.now() < MIN_RUN_MS)
          return (await book.read(id))?.dueAt ?? null
        const runId = crypto.randomUUID()
        const task = await take(id, runId)
        const isOurs = task?.record.run?.id === runId
        return (isOurs ? await runTaken(task, platform) : task)?.dueAt ?? null
      } catch (error) {
        report(error)
        return Date.now()
      }
    },
    /** After a request has made a task due: runs it, unless its runner does so at once. */
    kick(task: Task, context: Context): void {
      const isDue = task.dueAt !== null && task.dueAt <= Date.now() && !isEnded(task.record)
      if (!isDue || runner?.isPrompt) return
      context.waitUntil(this.run(task.id, platformOf(context)))
    },
  }
}

/** The invocation of a request, for a run after its response. */
export function platformOf({ env, waitUntil, parts }: Context): SlicePlatform {
  const deadline = parts.wire.endsAt()
  return { env, waitUntil, ...(deadline !== undefined && { deadline }) }
}

/** What is known of the caller of a task, in a run without a request. */
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
    hasBus: bus !== undefined,
    hasSecret: false,
    hasRendezvous: false,
    legacyPolicy: asking.legacyPolicy,
    hasSession: false,
    hasTasks: true,
  }
}

function stuck(runs: number): { code: number; message: string } {
  return {
    code: -32603,
    message: `The task was given up: ${runs} runs in a row finished no step. A step may need longer than the platform allows for one run.`,
  }
}

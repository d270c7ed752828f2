/**
 * `tools/call` of a tool with `task`: as a task, as a call that may become one, or by its `fallback` for a client without the extension.
 */

import type { CompiledTool } from '../definition/compiled-tool.ts'
import { errorResult } from '../definition/content.ts'
import { isA } from '../definition/error-text.ts'
import { part } from '../definition/part.ts'
import { invalidParams } from '../definition/protocol-error.ts'
import { MAX_TIMER_MS } from '../definition/timeout.ts'
import { DEGRADED_META } from '../interaction/degraded-meta.ts'
import { EMPTY_JOURNAL } from '../interaction/journal.ts'
import { loadAsking } from '../interaction/load-asking.ts'
import type { Context } from '../request/context.ts'
import { inputRequired, type MethodResult, toMethodResult } from '../request/method-result.ts'
import { ownAuth } from '../request/own-auth.ts'
import { principalOf } from '../request/principal.ts'
import { runTool } from '../request/tools.ts'
import { createThroughMiddleware } from './admission.ts'
import { suspended, tooMany } from './changes.ts'
import { callWire, RunContext } from './context.ts'
import { isDeclared, requireDeclared } from './declared.ts'
import { handleResult } from './handle.ts'
import { newLease } from './lease.ts'
import type { Place } from './places.ts'
import { describeTask, type Task, type TaskRecord } from './record.ts'
import { TaskRun } from './run.ts'
import type { RunOptions, TaskStart } from './run-options.ts'
import { runTask, runToEnd } from './run-task.ts'
import { platformOf, type TaskRuns } from './runs.ts'
import { settingsOf, type ToolSettings } from './settings.ts'
import { toStoredInput } from './stored-input.ts'
import { TaskTooLargeError } from './task-records.ts'
import { UnknownTaskError } from './unknown-writes.ts'
import type { RunWatch } from './watch.ts'

/** `tools/call` of a tool with `task`. */
export type CallTask = (tool: CompiledTool, input: unknown, context: Context) => Promise<MethodResult>

/** Time that is reserved to turn a call into a task before the call would be ended. */
const ESCALATION_MS = 1500

export function createCall(runs: TaskRuns): CallTask {
  const { records, settings, report } = runs

  const create: Create = async (context, base, start, pause) => {
    const { record, dueAt } =
      pause === undefined ? { record: { ...base, ...start }, dueAt: dueOf(start) } : suspended(base, pause)
    const count = { owner: ownerOf(context), maxOpen: settings.maxOpenTasks }
    return records.create(record, dueAt, count, (work) => context.waitUntil(work))
  }

  const answer = (task: Task, tool: CompiledTool, context: Context): MethodResult =>
    isDeclared(context)
      ? { ...toMethodResult(describeTask(task)), type: 'task' }
      : toMethodResult(handleResult(task, tool))

  /** Creates the task first, and runs it after the response. */
  const createTask = async (base: TaskRecord, context: Context): Promise<Task> => {
    const isPrompt = settings.runner?.isPrompt === true
    // Without a place it is due, and runs like any other task.
    const place = isPrompt ? undefined : runs.places.enter(0)
    const run = place && newLease(crypto.randomUUID(), settings.leaseMs)
    try {
      const task = await create(context, base, { journal: EMPTY_JOURNAL, run })
      if (task === undefined) throw tooMany()
      if (place !== undefined) context.waitUntil(runTask(task, platformOf(context), runs, place))
      return task
    } catch (error) {
      place?.leave()
      throw toCallError(error, report)
    }
  }

  /** Runs the tool in the call, and turns the call into a task if needed. */
  const callInside = async (
    tool: CompiledTool,
    base: TaskRecord,
    context: Context,
    { afterMs, waitMs, fallback }: ToolSettings,
  ): Promise<MethodResult> => {
    const given = part(loadAsking)
    const asking = given instanceof Promise ? await given : given
    const { facts, wire } = context.parts
    const declared = isDeclared(context)
    const endsAt = wire.endsAt() ?? Number.POSITIVE_INFINITY
    let place: Place | undefined
    let watch: RunWatch | undefined
    const options: RunOptions = {
      records,
      seed: base.seed,
      answers: wire.rounds?.responses ?? {},
      leaseMs: settings.leaseMs,
      isAlone: () => false,
      deadline: Math.min(endsAt, Date.now() + settings.maxRunMs),
      report,
      onProgress: (params) => {
        if (wire.progressToken !== undefined) wire.send('notifications/progress', params)
      },
      create: async (start, pause) => {
        const task = await create(context, base, start, pause)
        if (task !== undefined) {
          runs.running.set(task.id, run)
          place = runs.places.join()
          // Its run goes on, unless the call has only waited so far.
          if (pause === undefined) watch = runs.watch()?.begin(task, context)
        }
        return task
      },
      waitsInside: !declared && fallback === 'wait',
      asksAsTask: !declared && (fallback === 'handle' || !context.can('elicitation.form').available),
      abort: (reason) => own.abort(reason),
    }
    // Not awaited: a call that stays one does not need the store.
    void records.clock.sync().catch(() => {})
    const run = new TaskRun(options)
    const ownWire = callWire(
      wire,
      () => run,
      () => own.signal,
    )
    const own: RunContext = new RunContext(facts, ownWire, () => run, runs.readerFor(base.principal))
    runs.options().extendContext?.(own)
    ownWire.interaction(asking)
    const leave = (): void => run.leave(() => context.signal.reason)
    context.signal.addEventListener('abort', leave)
    // While the part was loaded.
    if (context.signal.aborted) leave()
    const escalateAfterMs = declared || fallback === 'handle' ? afterMs : waitMs
    const at = Math.min(Date.now() + escalateAfterMs, endsAt - ESCALATION_MS)
    const timer = setTimeout(
      () => run.become().catch(report),
      Math.max(0, Math.min(at - Date.now(), MAX_TIMER_MS)),
    )
    const finished = runToEnd(run, tool, base.arguments, own, runs.options()).then(() => {
      place?.leave()
      if (run.task) watch?.end(run.task)
      if (run.task && runs.running.get(run.task.id) === run) runs.running.delete(run.task.id)
    })
    try {
      const outcome = await run.outcome
      if (outcome.kind === 'error') throw outcome.error
      if (outcome.kind === 'asked') return inputRequired(outcome.ending)
      if (outcome.kind === 'result') return outcome.result
      context.waitUntil(finished)
      runs.kick(outcome.task, context)
      return answer(outcome.task, tool, context)
    } finally {
      clearTimeout(timer)
      context.signal.removeEventListener('abort', leave)
    }
  }

  return async (tool, input, context) => {
    const toolSettings = settingsOf(tool.source.task!, settings)
    const declared = isDeclared(context)
    if (!declared && toolSettings.fallback === 'refuse') return refuse(tool, context)
    const validation = await tool.input.validate(input)
    // The result contains the error, so a task is not needed.
    if (!validation.ok) return runTool(tool, input, context, runs.options())
    const stored = await toStoredInput(tool, input, validation.value)
    const record = newRecord(tool.name, stored, context, toolSettings)
    const trace = runs.watch()?.traceOf(context)
    const base = trace === undefined ? record : { ...record, trace }
    const isTask = toolSettings.mode === 'required' && (declared || toolSettings.fallback === 'handle')
    if (isTask)
      return createThroughMiddleware(
        runs.options(),
        tool,
        context,
        { parsed: validation.value, sent: input },
        () => createTask(base, context),
        (task) => answer(task, tool, context),
      )
    return callInside(tool, base, context, toolSettings)
  }
}

/** For whom open tasks are counted: the principal; for an anonymous caller its address, if that is known. */
function ownerOf(context: Context): string {
  return principalOf(context) || (context.parts.wire.caller() ?? '')
}

function dueOf({ run, isUnconfirmed }: TaskStart): number | null {
  return isUnconfirmed ? null : (run?.until ?? Date.now())
}

type Create = (
  context: Context,
  base: TaskRecord,
  start: TaskStart,
  pause?: Parameters<typeof suspended>[1],
) => Promise<Task | undefined>

function newRecord(
  tool: string,
  input: unknown,
  context: Context,
  { ttlMs, pollIntervalMs, version }: ToolSettings,
): TaskRecord {
  const { era, protocolVersion, clientInfo, clientCapabilities, request } = context
  const now = Date.now()
  return {
    seed: crypto.randomUUID(),
    tool,
    toolVersion: version,
    arguments: input,
    principal: principalOf(context),
    caller: {
      url: request && withoutQuery(request.url),
      era,
      protocolVersion,
      clientInfo,
      clientCapabilities,
      auth: context.auth && { ...ownAuth(context.auth), token: '' },
    },
    createdAt: now,
    updatedAt: now,
    ttlMs,
    pollIntervalMs,
    status: 'working',
    journal: EMPTY_JOURNAL,
    questions: {},
    asked: 0,
    inbox: { answers: {}, events: {} },
    awaited: [],
    idleRuns: 0,
  }
}

/** `-32602` for arguments that do not fit in a task. A store that did not answer is also reported. */
function toCallError(error: unknown, report: (error: unknown) => void): unknown {
  if (isA(error, UnknownTaskError)) report(error)
  if (!isA(error, TaskTooLargeError)) return error
  const { bytes, limit } = error
  return invalidParams(
    `The arguments do not fit in a task, which would have ${bytes} bytes of ${limit}: send less, for example a URL.`,
  )
}

/** A query may contain a secret. */
function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

/** @throws ProtocolError `-32021` to a modern client. */
function refuse({ name }: CompiledTool, context: Context): MethodResult {
  if (context.era === 'modern') requireDeclared(context)
  const reason = `Tool "${name}" runs as a task, but this client does not support tasks.`
  const remedy = 'Connect with a client of MCP 2026-07-28 or later that supports the tasks extension.'
  const degraded = { feature: 'tasks', reason, remedy }
  return toMethodResult({ ...errorResult(`${reason} ${remedy}`), _meta: { [DEGRADED_META]: degraded } })
}

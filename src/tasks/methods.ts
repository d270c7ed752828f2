/**
 * `tasks/get`, `tasks/update` and `tasks/cancel`. A task of another caller does not exist.
 */
import { isA } from '../definition/error-text.ts'
import { NO_MEMBERS } from '../definition/json-members.ts'
import { invalidParams } from '../definition/protocol-error.ts'
import type { Access } from '../request/access.ts'
import type { ExtensionMethod } from '../request/extension-method.ts'
import { type MethodResult, toMethodResult } from '../request/method-result.ts'
import { objectParam, type Params, stringParam } from '../request/params.ts'
import { principalOf } from '../request/principal.ts'
import type { RequestScope } from '../request/request-server.ts'
import { cancelled } from './changes.ts'
import { requireDeclared } from './declared.ts'
import { answered, asInboxError, InboxError } from './inbox.ts'
import { describeDetails, type Task } from './record.ts'
import type { TaskRuns } from './runs.ts'
import { unknownTask } from './unknown-task.ts'

export function createMethods(runs: TaskRuns): ReadonlyMap<string, ExtensionMethod> {
  const { records } = runs

  const find = async (scope: RequestScope, params: Params): Promise<Task> => {
    const { context } = scope
    requireDeclared(context)
    const task = await readOwn(runs, stringParam(params, 'taskId'), principalOf(context))
    const tool = scope.findTool(task.record.tool)
    if (tool !== undefined) scope.requireAccess({ kind: 'tool', name: tool.name, scopes: tool.source.scopes })
    return task
  }

  const get = async (scope: RequestScope, params: Params): Promise<MethodResult> => {
    const task = await find(scope, params)
    runs.kick(task, scope.context)
    return toMethodResult(describeDetails(task))
  }

  const update = async (scope: RequestScope, params: Params): Promise<MethodResult> => {
    const task = await find(scope, params)
    const inputResponses = objectParam(params, 'inputResponses')
    const next = await takeAnswers(runs, task, inputResponses).catch((error: unknown) => {
      throw isA(error, InboxError) ? invalidParams(error.message) : error
    })
    if (next === undefined) throw unknownTask()
    runs.kick(next, scope.context)
    return { members: NO_MEMBERS }
  }

  const cancel = async (scope: RequestScope, params: Params): Promise<MethodResult> => {
    const task = await find(scope, params)
    await records.change(task.id, cancelled, task)
    // A run in this process is notified immediately, a run in another process at its next write.
    runs.running.get(task.id)?.lose()
    return { members: NO_MEMBERS }
  }

  const checked = (run: typeof get): ExtensionMethod => ({
    eras: ['modern'],
    run(scope, params, _options, headers) {
      // The extension, "Streamable HTTP: Routing Headers".
      headers?.checkName('taskId')
      return run(scope, params)
    },
  })
  return new Map([
    ['tasks/get', checked(get)],
    ['tasks/update', checked(update)],
    ['tasks/cancel', checked(cancel)],
  ])
}

/** @throws ProtocolError `-32602` for an unknown task, with the same message for another caller's task. */
export async function readOwn(runs: TaskRuns, taskId: string, principal: string): Promise<Task> {
  const task = await runs.records.read(taskId)
  if (task === undefined || task.record.principal !== principal || runs.isForeign(task.server))
    throw unknownTask()
  return task
}

/** Undefined if the task does not exist. @throws InboxError for answers that do not fit; the task is unchanged. */
export async function takeAnswers(
  { records, settings: { store } }: TaskRuns,
  task: Task,
  answers: { readonly [key: string]: unknown },
): Promise<Task | undefined> {
  try {
    return await records.change(task.id, (current) => answered(current, answers, store.maxStateBytes), task)
  } catch (error) {
    throw asInboxError(error)
  }
}

/** Whether the caller may use the task's tool: its token may have fewer scopes than the token of the original call. */
export function mayUse({ options }: TaskRuns, { record }: Task, access: Access | undefined): boolean {
  const tool = options().definition.tools.get(record.tool)
  if (access === undefined || tool === undefined) return true
  return access.allows({ kind: 'tool', name: record.tool, scopes: tool.source.scopes })
}

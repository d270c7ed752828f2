/**
 * Tasks of the servers behind (the extension `io.modelcontextprotocol/tasks`). Their ids are sealed for the caller that started them, so that
 * this server keeps nothing and no other caller can use one.
 */
import { mayVisit } from '../client/allowed-urls.ts'
import type { Connection } from '../client/connection.ts'
import type { DetailedTask, Task, TaskInputRequest } from '../client/task.ts'
import { cancelTask, getTask, updateTask } from '../client/task-requests.ts'
import { NO_MEMBERS } from '../definition/json-members.ts'
import type { Binding, Seal } from '../interaction/seal.ts'
import type { Context } from '../request/context.ts'
import type { ExtensionMethod } from '../request/extension-method.ts'
import type { GatewayHost } from '../request/gateway-support.ts'
import { StartedTask, toMethodResult } from '../request/method-result.ts'
import { objectParam, type Params, stringParam } from '../request/params.ts'
import { principalOf } from '../request/principal.ts'
import type { RequestScope } from '../request/request-server.ts'
import { requireDeclared } from '../tasks/declared.ts'
import { unknownTask } from '../tasks/unknown-task.ts'
import { toCallEnd, toCallerText } from './failure.ts'
import { capabilitiesFor, withoutProtocol } from './relay.ts'
import { guardOfUnknown } from './scopes.ts'
import type { Opened, Upstream } from './upstream.ts'

/** What a handle contains. */
interface Handle {
  readonly taskId: string
  /** The tool's name on this server. */
  readonly tool: string
}

/** Milliseconds for which a handle can be used, or longer if the server keeps the task longer. The server may forget it earlier. */
const HANDLE_MS = 30 * 24 * 60 * 60_000
/** The longest id that clients take, since it becomes a header. */
const MAX_HANDLE_LENGTH = 1024

/** The questions that the extension has, with the capability that a client must have declared. */
const QUESTIONS: { readonly [method: string]: 'elicitation' | 'sampling' | 'roots' } = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
}

/** The name of the server in the id of a task; undefined if it is not one of a server behind. */
export function serverIn(taskId: unknown): string | undefined {
  return typeof taskId === 'string' ? /^([\w-]+):/.exec(taskId)?.[1] : undefined
}

/** The task for its caller. @throws Error for an id that is too long for a handle. */
export async function toHandle(
  task: Task,
  tool: string,
  upstream: Upstream,
  context: Context,
  seal: Seal,
): Promise<StartedTask> {
  const { taskId, ttlMs, ...rest } = task
  const expiresAt = Date.now() + Math.max(HANDLE_MS, ttlMs ?? 0)
  const handle: Handle = { taskId, tool }
  const sealed = `${upstream.name}:${await seal.seal(handle, bindingOf(upstream, context), expiresAt)}`
  if (sealed.length > MAX_HANDLE_LENGTH)
    throw new TypeError(`The server "${upstream.name}" has task ids that are too long to be passed on.`)
  return new StartedTask({ ...rest, taskId: sealed, ttlMs })
}

function bindingOf({ name }: Upstream, context: Context): Binding {
  return { era: 'modern', method: 'tasks', target: name, arguments: {}, principal: principalOf(context) }
}

const METHODS: {
  readonly [method: string]: (
    connection: Connection,
    taskId: string,
    params: Params,
    signal: AbortSignal,
  ) => Promise<DetailedTask | undefined>
} = {
  'tasks/get': (connection, taskId, _params, signal) => getTask(connection, taskId, { signal }),
  'tasks/update': async (connection, taskId, params, signal) => {
    await updateTask(connection, taskId, objectParam(params, 'inputResponses') as never, { signal })
    return undefined
  },
  'tasks/cancel': async (connection, taskId, _params, signal) => {
    await cancelTask(connection, taskId, { signal })
    return undefined
  },
}

/** @param upstream Undefined for an id of no server. */
export function createTaskMethod(
  method: string,
  upstream: Upstream | undefined,
  { asking, reportError }: GatewayHost,
  openFor: (upstream: Upstream, context: Context) => Promise<Opened>,
): ExtensionMethod | undefined {
  const ask = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined
  if (ask === undefined) return undefined
  const run: ExtensionMethod['run'] = async (scope, params, _options, headers) => {
    const { context } = scope
    headers?.checkName('taskId')
    requireDeclared(context)
    const id = stringParam(params, 'taskId')
    if (upstream === undefined) throw unknownTask()
    const { taskId, tool } = await open(id, upstream, context, asking.sealFor(context.env))
    requireTool(scope, tool, upstream)
    try {
      const { credentials, lists } = await openFor(upstream, context)
      const prior = lists?.prior
      const capabilities = capabilitiesFor(context, { prior, canAskLive: false, mayRerun: false })
      const { connection, close } = upstream.connect(credentials, capabilities, prior, { tasks: true })
      try {
        const task = await ask(connection, taskId, params, context.signal)
        return task === undefined
          ? { members: NO_MEMBERS }
          : toMethodResult(forCaller(task, id, upstream, context))
      } finally {
        context.waitUntil(close())
      }
    } catch (error) {
      throw toCallEnd(error, upstream, context, reportError)
    }
  }
  return { eras: ['modern'], run }
}

async function open(
  id: string,
  upstream: Upstream,
  context: Context,
  seal: Seal | undefined,
): Promise<Handle> {
  const sealed = id.slice(upstream.name.length + 1)
  const opened = await seal?.open(sealed, bindingOf(upstream, context))
  if (!opened?.ok) throw unknownTask()
  return opened.value as Handle
}

/** The token may have fewer scopes than that of the call. */
function requireTool(scope: RequestScope, name: string, upstream: Upstream): void {
  const tool = scope.findTool(name)
  const item = { kind: 'tool', name: name.slice(upstream.prefix.length) } as const
  const guard = tool === undefined ? guardOfUnknown(upstream, [item], scope.context) : tool.source
  if (guard === undefined) throw unknownTask()
  scope.requireAccess({ kind: 'tool', name, scopes: guard.scopes })
}

function forCaller(task: DetailedTask, taskId: string, { url }: Upstream, context: Context): object {
  const base = {
    ...task,
    taskId,
    ...(task.statusMessage !== undefined && { statusMessage: toCallerText(task.statusMessage, url) }),
  }
  switch (task.status) {
    case 'completed':
      return { ...base, result: withoutProtocol(task.result) }
    case 'failed':
      return { ...base, error: { code: task.error.code, message: toCallerText(task.error.message, url) } }
    case 'input_required': {
      const questions = Object.entries(task.inputRequests).filter(([, one]) => mayAsk(one, context))
      return { ...base, inputRequests: Object.fromEntries(questions) }
    }
    default:
      return base
  }
}

/** Whether a question may reach the user: the client has declared it, and its URL may be opened. */
function mayAsk({ method, params }: TaskInputRequest, { clientCapabilities }: Context): boolean {
  const needed = Object.hasOwn(QUESTIONS, method) ? QUESTIONS[method] : undefined
  if (needed === undefined || clientCapabilities[needed] === undefined) return false
  return params?.mode !== 'url' || (typeof params.url === 'string' && mayVisit(params.url))
}

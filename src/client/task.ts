/**
 * A server's tasks as data (the extension `io.modelcontextprotocol/tasks`): a server's data is validated here, once, and typed afterwards.
 */

import { type ProtocolError, specTypeSchemas } from '@modelcontextprotocol/client'
import type { CallToolResult } from '../definition/content.ts'
import { isA } from '../definition/error-text.ts'
import { isObject, type JsonObject } from '../definition/is-object.ts'
import { printable } from './printable.ts'

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

/** A call that a server continues in the background. Its strings are untrusted. */
export interface Task {
  /** Anyone who has it and may call the server can access the task: treat it as a secret. */
  readonly taskId: string
  readonly status: TaskStatus
  /** For people. */
  readonly statusMessage?: string
  /** By the server's clock, in ISO 8601. */
  readonly createdAt: string
  readonly lastUpdatedAt: string
  /** Milliseconds from creation for which the server keeps it; null: forever. */
  readonly ttlMs: number | null
  /** Milliseconds between two polls, as requested by the server. */
  readonly pollIntervalMs?: number
}

/** A question of a task, under its key in `inputRequests`. */
export interface TaskInputRequest {
  /** `elicitation/create`, or another method that this client does not answer. */
  readonly method: string
  readonly params?: { readonly [name: string]: unknown }
}

/** A task with the members of its status. */
export type DetailedTask =
  | (Task & { readonly status: 'working' | 'cancelled' })
  | (Task & {
      readonly status: 'input_required'
      readonly inputRequests: { readonly [key: string]: TaskInputRequest }
    })
  | (Task & { readonly status: 'completed'; readonly result: CallToolResult })
  | (Task & { readonly status: 'failed'; readonly error: Pick<ProtocolError, 'code' | 'message' | 'data'> })

/** The server's data is not a valid task. */
export class MalformedTask extends Error {
  override readonly name = 'MalformedTask'
}

/** Passes a new task through the official client, which treats any answer other than a result as an error. */
export class TaskStarted extends Error {
  readonly task: Task

  constructor(task: Task) {
    super('The call has become a task.')
    this.task = task
  }
}

export function isTaskResult(result: object): boolean {
  return Reflect.get(result, 'resultType') === 'task'
}

/** The task in an answer to `tools/call`, to be thrown, or an error in it. */
export function readStarted(result: object, isAllowed: boolean): TaskStarted | MalformedTask {
  if (!isAllowed)
    return new MalformedTask('the server answered with a task, but this client did not declare tasks')
  try {
    return new TaskStarted(readTask(result))
  } catch (error) {
    return error as MalformedTask
  }
}

/** The task that answered a call of the official client. */
export function findStarted(error: unknown): Task | undefined {
  const data: unknown = isA(error, Error) ? Reflect.get(error, 'data') : undefined
  return data instanceof TaskStarted ? data.task : undefined
}

const STATUSES = ['working', 'input_required', 'completed', 'failed', 'cancelled']
/** Restricted, since it becomes a header. */
const MAX_ID_LENGTH = 1024
const MAX_TEXT_LENGTH = 16_384

/** The members that every task has. @throws MalformedTask */
export function readTask(value: unknown): Task {
  const task = asObject(value, 'the task')
  const { taskId, status, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs } = task
  if (typeof taskId !== 'string' || taskId === '' || taskId.length > MAX_ID_LENGTH) throw wrong('taskId')
  if (typeof status !== 'string' || !STATUSES.includes(status)) throw wrong('status')
  if (!isText(createdAt)) throw wrong('createdAt')
  if (!isText(lastUpdatedAt)) throw wrong('lastUpdatedAt')
  if (ttlMs !== null && !isDuration(ttlMs)) throw wrong('ttlMs')
  if (statusMessage !== undefined && typeof statusMessage !== 'string') throw wrong('statusMessage')
  if (pollIntervalMs !== undefined && !isDuration(pollIntervalMs)) throw wrong('pollIntervalMs')
  return {
    taskId,
    status: status as TaskStatus,
    ...(statusMessage !== undefined && { statusMessage: statusMessage.slice(0, MAX_TEXT_LENGTH) }),
    createdAt,
    lastUpdatedAt,
    ttlMs,
    ...(pollIntervalMs !== undefined && { pollIntervalMs }),
  }
}

/** An answer to `tasks/get`. @throws MalformedTask, also for another task. */
export function readDetails(value: unknown, taskId: string): DetailedTask {
  const task = readTask(value)
  if (task.taskId !== taskId) throw new MalformedTask('the server answered with another task')
  const { inputRequests, result, error } = value as { [name: string]: unknown }
  switch (task.status) {
    case 'input_required':
      return { ...task, status: task.status, inputRequests: readRequests(inputRequests) }
    case 'completed':
      return { ...task, status: task.status, result: readResult(result) }
    case 'failed':
      return { ...task, status: task.status, error: readError(error) }
    default:
      return { ...task, status: task.status }
  }
}

/** Whether it has ended and will not change. */
export function isEnded({ status }: Task): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled'
}

/** For error messages. */
export function printableId(taskId: string): string {
  return printable(taskId, 100)
}

function readRequests(value: unknown): { readonly [key: string]: TaskInputRequest } {
  const requests = asObject(value, 'inputRequests')
  for (const [key, request] of Object.entries(requests)) {
    if (key === '__proto__') throw wrong('inputRequests')
    const { method, params } = asObject(request, 'a question')
    if (typeof method !== 'string') throw wrong('inputRequests')
    if (params !== undefined) asObject(params, 'a question')
  }
  return requests as { [key: string]: TaskInputRequest }
}

/** The answer as from `tools/call`. */
function readResult(value: unknown): CallToolResult {
  const { resultType = 'complete', ...result } = asObject(value, 'the result of the task')
  if (resultType !== 'complete') throw new MalformedTask('the result of the task is not complete')
  const validated = specTypeSchemas.CallToolResult['~standard'].validate(result)
  if (validated instanceof Promise || validated.issues !== undefined)
    throw new MalformedTask('the result of the task is not a tool result')
  // The official type is the same, except for `| undefined` on optional properties.
  return validated.value as CallToolResult
}

function readError(value: unknown): { code: number; message: string; data?: unknown } {
  const { code, message, data } = asObject(value, 'the error of the task')
  if (!Number.isInteger(code) || typeof message !== 'string')
    throw new MalformedTask('the error of the task has no code and message')
  return { code: code as number, message, ...(data !== undefined && { data }) }
}

function asObject(value: unknown, what: string): JsonObject {
  if (isObject(value)) return value
  throw new MalformedTask(`${what} is not an object`)
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= 100
const isDuration = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0

const wrong = (member: string): MalformedTask => new MalformedTask(`the task has no valid ${member}`)

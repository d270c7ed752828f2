/** `tasks/get`, `tasks/update` and `tasks/cancel` (the extension `io.modelcontextprotocol/tasks`). */

import { type Client, ProtocolError } from '@modelcontextprotocol/client'
import { isA } from '../definition/error-text.ts'
import { ANYTHING } from './anything.ts'
import type { Connection, RequestSettings } from './connection.ts'
import { MCPClientError } from './errors.ts'
import { type DetailedTask, printableId, readDetails, TASKS_EXTENSION } from './task.ts'

/** The answers to questions of a task, by the key of the question: results of `elicitation/create`. */
export type TaskInputResponses = { readonly [key: string]: object }

const INVALID_PARAMS = -32602
const METHOD_NOT_FOUND = -32601

export function getTask(
  connection: Connection,
  taskId: string,
  settings?: RequestSettings,
): Promise<DetailedTask> {
  return ask(connection, 'tasks/get', taskId, {}, settings, (answer) => readDetails(answer, taskId))
}

export function updateTask(
  connection: Connection,
  taskId: string,
  inputResponses: TaskInputResponses,
  settings?: RequestSettings,
): Promise<void> {
  if (typeof inputResponses !== 'object' || inputResponses === null || Array.isArray(inputResponses))
    throw new TypeError('inputResponses must be an object of answers by key.')
  return ask(connection, 'tasks/update', taskId, { inputResponses }, settings, () => {})
}

export function cancelTask(
  connection: Connection,
  taskId: string,
  settings?: RequestSettings,
): Promise<void> {
  return ask(connection, 'tasks/cancel', taskId, {}, settings, () => {})
}

async function ask<T>(
  connection: Connection,
  method: string,
  taskId: string,
  params: object,
  settings: RequestSettings | undefined,
  read: (answer: unknown) => T,
): Promise<T> {
  if (typeof taskId !== 'string' || taskId === '') throw new TypeError('taskId must be a string.')
  try {
    return await connection.request(
      method,
      async (client, options, extra) => {
        const why = findRefusal(connection, client)
        if (why !== undefined) throw noTasks(connection, method, why)
        const request = { method, params: { taskId, ...params, ...extra } }
        // Otherwise a server could ask questions in the answer, in rounds that the extension does not have.
        return read(await client.request(request, ANYTHING, { ...options, allowInputRequired: true }))
      },
      settings,
    )
  } catch (error) {
    throw toTaskError(connection, method, taskId, error)
  }
}

function toTaskError({ server }: Connection, operation: string, taskId: string, error: unknown): unknown {
  if (!isA(error, MCPClientError)) return error
  const { cause } = error
  if (!isA(cause, ProtocolError)) return error
  const details = { server, operation, cause }
  if (cause.code === METHOD_NOT_FOUND) {
    return new MCPClientError('UNSUPPORTED', `MCP server "${server}" has no tasks.`, details)
  }
  if (cause.code !== INVALID_PARAMS) return error
  const text = `MCP server "${server}" does not know task ${printableId(taskId)}: it has expired, the id is wrong, or it belongs to another user.`
  return new MCPClientError('TASK_GONE', text, details)
}

/** A description of why there are no tasks. */
function findRefusal({ server, allowsTasks }: Connection, client: Client): string | undefined {
  if (!allowsTasks) return `servers.${server}.tasks is false`
  if (client.getProtocolEra() !== 'modern') return 'it does not support MCP 2026-07-28, which tasks need'
  const isDeclared = client.getServerCapabilities()?.extensions?.[TASKS_EXTENSION] !== undefined
  return isDeclared ? undefined : `it does not declare ${TASKS_EXTENSION}`
}

function noTasks({ server }: Connection, operation: string, why: string): MCPClientError {
  return new MCPClientError('UNSUPPORTED', `MCP server "${server}" has no tasks here: ${why}.`, {
    server,
    operation,
  })
}

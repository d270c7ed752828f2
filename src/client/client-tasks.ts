/** `client.tasks`: tasks by their id, even in another process than that of the call. */
import type { CallToolResult } from '../definition/content.ts'
import { refuseUnknown } from '../definition/unknown-option.ts'
import { Call } from './call.ts'
import { REQUEST_SETTINGS, type RequestSettings } from './connection.ts'
import type { Servers } from './servers.ts'
import type { DetailedTask } from './task.ts'
import { cancelTask, getTask, type TaskInputResponses, updateTask } from './task-requests.ts'
import { WAIT_SETTINGS, type WaitSettings, waitForTask } from './task-wait.ts'

/**
 * `client.tasks`. All methods reject with `TASK_GONE` for a task that the server does not or no longer know, and with `UNSUPPORTED` without
 * tasks.
 */
export interface ClientTasks<Name extends string> {
  /** The current state of the task. */
  get(server: Name, taskId: string, settings?: RequestSettings): Promise<DetailedTask>
  /** Answers questions of the task, by their keys in `inputRequests`. */
  update(
    server: Name,
    taskId: string,
    inputResponses: TaskInputResponses,
    settings?: RequestSettings,
  ): Promise<void>
  /** Asks the server to cancel the task. It may still end in another way. */
  cancel(server: Name, taskId: string, settings?: RequestSettings): Promise<void>
  /**
   * Waits for the end of the task like `callTool`, and resolves with the tool's result. The result is not checked against the tool's
   * `outputSchema`, since a task does not contain its tool's name.
   */
  wait(server: Name, taskId: string, settings?: WaitSettings): Promise<CallToolResult>
}

export function createClientTasks<Name extends string>(servers: Servers<Name>): ClientTasks<Name> {
  return {
    get: async (server, taskId, settings) => {
      refuseUnknown('The settings of tasks.get', settings, REQUEST_SETTINGS)
      return getTask(servers.of(server), taskId, settings)
    },
    update: async (server, taskId, inputResponses, settings) => {
      refuseUnknown('The settings of tasks.update', settings, REQUEST_SETTINGS)
      return updateTask(servers.of(server), taskId, inputResponses, settings)
    },
    cancel: async (server, taskId, settings) => {
      refuseUnknown('The settings of tasks.cancel', settings, REQUEST_SETTINGS)
      return cancelTask(servers.of(server), taskId, settings)
    },
    wait: async (server, taskId, settings) => {
      refuseUnknown('The settings of tasks.wait', settings, WAIT_SETTINGS)
      const call = new Call()
      return waitForTask(servers.of(server), taskId, call, settings).finally(() => call.end())
    },
  }
}

/** `client.tasks`: tasks by their id, also in another process than the one that made the call. */
import type { CallToolResult } from '../definition/content.ts'
import { Call } from './call.ts'
import type { RequestSettings } from './connection.ts'
import type { Servers } from './servers.ts'
import type { DetailedTask } from './task.ts'
import { cancelTask, getTask, type TaskInputResponses, updateTask } from './task-requests.ts'
import { type WaitSettings, waitForTask } from './task-wait.ts'

/**
 * `client.tasks`. All methods reject with `TASK_GONE` for a task that the server does not know (any more), and with `UNSUPPORTED` where
 * there are no tasks.
 */
export interface ClientTasks<Name extends string> {
  /** The task as it is now. */
  get(server: Name, taskId: string, settings?: RequestSettings): Promise<DetailedTask>
  /** Answers questions of the task, by their keys in `inputRequests`. */
  update(
    server: Name,
    taskId: string,
    inputResponses: TaskInputResponses,
    settings?: RequestSettings,
  ): Promise<void>
  /** Asks the server to cancel the task. It may end in another way all the same. */
  cancel(server: Name, taskId: string, settings?: RequestSettings): Promise<void>
  /**
   * Waits for the end of the task as `callTool` does, and resolves with the tool's result; the result is not checked against the tool's
   * `outputSchema`, since a task does not name its tool.
   */
  wait(server: Name, taskId: string, settings?: WaitSettings): Promise<CallToolResult>
}

export function createClientTasks<Name extends string>(servers: Servers<Name>): ClientTasks<Name> {
  return {
    get: async (server, taskId, settings) => getTask(servers.of(server), taskId, settings),
    update: async (server, taskId, inputResponses, settings) =>
      updateTask(servers.of(server), taskId, inputResponses, settings),
    cancel: async (server, taskId, settings) => cancelTask(servers.of(server), taskId, settings),
    wait: async (server, taskId, settings) => {
      const call = new Call()
      return waitForTask(servers.of(server), taskId, call, settings).finally(() => call.end())
    },
  }
}

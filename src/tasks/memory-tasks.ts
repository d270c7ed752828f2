/**
 * Tasks in the memory of one process, which also runs them.
 */
import { refuseUnknown } from '../definition/unknown-option.ts'
import { createMemoryTaskStore } from './memory-store.ts'
import { TASKS_OPTIONS, type TasksOptions } from './settings.ts'
import type { TaskSupport } from './support.ts'
import { createTasks } from './tasks.ts'
import { createTimerRunner } from './timer-runner.ts'

/**
 * Creates tasks that end with their process, for development, tests, and servers that may lose them.
 *
 * ```ts
 * export default new MCPServer({ name: 'Reports', version: '1.0.0', tools: { report }, tasks: createMemoryTasks() })
 * ```
 */
export function createMemoryTasks(options: TasksOptions = {}): TaskSupport {
  refuseUnknown('createMemoryTasks', options, TASKS_OPTIONS)
  return createTasks({ runner: createTimerRunner(), ...options, store: createMemoryTaskStore() })
}

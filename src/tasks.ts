/**
 * The entry point `mayfly-mcp/tasks`: tool calls that outlive a request.
 */
export type { TaskContext, TaskMode, TaskOption, TaskOptions } from './definition/task-option.ts'
export { CodeChangedError } from './tasks/code-changed.ts'
export {
  createTaskEndpoint,
  type TaskEndpoint,
  type TaskEndpointOptions,
  type TaskUrlOptions,
} from './tasks/endpoint.ts'
export { createMemoryTaskStore } from './tasks/memory-store.ts'
export { createMemoryTasks } from './tasks/memory-tasks.ts'
export type { TasksOptions } from './tasks/settings.ts'
export type {
  DueOptions,
  DueStats,
  ListOptions,
  RunnerOwner,
  StoredTask,
  StoredTaskPage,
  TaskRunner,
  TaskStore,
} from './tasks/store.ts'
export type { SlicePlatform, TaskControls, TaskSupport } from './tasks/support.ts'
export { createTasks } from './tasks/tasks.ts'
export { type PollingOptions, pollingRunner } from './tasks/timer-runner.ts'

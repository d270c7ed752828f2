/**
 * The entry point `mayfly-mcp/tasks-admin`: lists, shows, retries and cancels the tasks of all callers, for operators.
 */
export {
  createTaskAdmin,
  type ServerWithTasks,
  type TaskAdmin,
  type TaskAdminOptions,
} from './tasks/admin/admin.ts'
export type { TaskDetails } from './tasks/admin/details.ts'
export type { TaskEntry } from './tasks/admin/entries.ts'
export type { TaskListOptions, TaskOperations, TaskPage } from './tasks/admin/operations.ts'
export { type TaskAdminCode, TaskAdminError } from './tasks/admin/refusal.ts'
export type { ShownError, ShownValue } from './tasks/admin/shown.ts'
export type { TaskSummary } from './tasks/admin/summary.ts'

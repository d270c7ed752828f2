/** Whether a call can become a task: the answer of `ctx.can('tasks')`. */
import type { Availability } from '../definition/context.ts'
import type { Conditions } from '../interaction/matrix.ts'
import { isDeclared } from './declared.ts'

/** For clients of 2025-11-25 and earlier. */
export const LEGACY_TASKS = {
  reason: 'The tasks extension needs MCP 2026-07-28.',
  remedy: "Choose the tool's task.fallback: wait in the call, return a handle, or refuse.",
}

/** Of a server with tasks. */
export const TASK_FEATURE: NonNullable<Conditions['extensions']> = {
  available(feature, conditions): Availability | undefined {
    if (feature !== 'tasks') return undefined
    if (conditions.era === 'legacy') return { available: false, ...LEGACY_TASKS }
    if (!isDeclared(conditions))
      return {
        available: false,
        reason: 'The client did not declare this capability.',
        remedy: 'Use a client that supports it.',
      }
    if (conditions.hasTaskOption !== false) return { available: true }
    return {
      available: false,
      reason: 'This call cannot become a task.',
      remedy: 'Give the tool the option `task`.',
    }
  },
}

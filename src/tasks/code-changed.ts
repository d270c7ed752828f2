/** The code of a tool does not fit to a task that waits. */

/**
 * A task cannot continue with this code of its tool: it asks for other steps than those that are recorded, or the task began with a later
 * `version`. The task is not lost: it is tried again, ever more slowly. Deploy code that asks for the recorded steps in their order, or branch on
 * `ctx.earlierVersion`. Match `code`; the text of `message` may change.
 */
export class CodeChangedError extends Error {
  override readonly name = 'CodeChangedError'
  readonly code = 'CODE_CHANGED'
  readonly taskId: string
  readonly tool: string
  /** What is recorded next, as in `step charge`; undefined if the task began with a later version. */
  readonly expected: string | undefined

  constructor(taskId: string, tool: string, why: string, expected?: string) {
    super(`Task ${taskId} of tool "${tool}" cannot continue with this code: ${why}`)
    this.taskId = taskId
    this.tool = tool
    this.expected = expected
  }
}

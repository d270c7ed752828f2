/** The error of a context without a task. */

/** A tool that needs a task was called without one, for example by `tool.execute`. Match `code`; the text of `message` may change. */
export class TaskNeededError extends Error {
  override readonly name = 'TaskNeededError'
  readonly code = 'TASK_NEEDED'

  constructor(what: string) {
    super(
      `${what} needs a task, and this call cannot become one: call the tool over MCP, or pass your own "${what.slice(4)}" with the context.`,
    )
  }
}

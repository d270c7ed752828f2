/** The members of a context that need a task, for a context without a task. */

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

export class Taskless {
  /** Whether the call may become a task. */
  get hasTaskOption(): boolean {
    return false
  }

  /** @throws TaskNeededError */
  async sleep(_name: string, _ms: number): Promise<void> {
    throw new TaskNeededError('ctx.sleep')
  }

  /** @throws TaskNeededError */
  async waitFor(_name: string, _options?: object): Promise<unknown> {
    throw new TaskNeededError('ctx.waitFor')
  }
}

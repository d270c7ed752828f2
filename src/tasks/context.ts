/** The context of a tool with `task`: that of any call, plus the members for tasks. */
import type { Progress, StepOptions } from '../definition/context.ts'
import type { Jsonified } from '../definition/jsonified.ts'
import type { TaskContext, TaskReader } from '../definition/task-option.ts'
import { refuseUnknown } from '../definition/unknown-option.ts'
import type { Interaction } from '../interaction/interaction.ts'
import type { Asking } from '../interaction/load-asking.ts'
import type { StepFunction } from '../interaction/steps.ts'
import { Context } from '../request/context.ts'
import { checkProgress } from '../request/notifier.ts'
import type { ContextFacts, ContextWire } from '../request/wire.ts'
import type { TaskRun } from './run.ts'
import { isOwnStep } from './waits.ts'

export class RunContext extends Context implements TaskContext {
  readonly taskStore: TaskReader
  readonly #run: () => TaskRun

  constructor(facts: ContextFacts, wire: ContextWire, run: () => TaskRun, taskStore: TaskReader) {
    super(facts, wire)
    this.#run = run
    this.taskStore = taskStore
  }

  override get hasTaskOption(): boolean {
    return true
  }

  get taskId(): string | undefined {
    return this.#run().task?.id
  }

  get earlierVersion(): number | undefined {
    return this.#run().earlierVersion
  }

  /** Not throttled, and starts again with each run: each write stores the latest value. */
  override reportProgress(progress: Progress): void {
    checkProgress(progress)
    if (this.taskId === undefined) super.reportProgress(progress)
    else this.#run().sendProgress({ ...progress })
  }

  sleep(name: string, ms: number): Promise<void> {
    return this.#run().waits.sleep(name, ms)
  }

  override async step<Value>(
    name: string,
    fn: StepFunction<Value>,
    options?: StepOptions,
  ): Promise<Jsonified<Value>> {
    if (isOwnStep(name))
      throw new TypeError(
        `A step of a tool with "task" cannot be called "${name}": names that begin with "ctx." are reserved for sleeps and events.`,
      )
    return super.step(name, fn, options)
  }

  // biome-ignore lint/suspicious/noExplicitAny: as in TaskContext.
  waitFor<Value = any>(name: string, options: { readonly timeoutMs?: number } = {}): Promise<Value> {
    refuseUnknown('ctx.waitFor', options, { timeoutMs: [0] })
    return this.#run().waits.waitFor(name, options.timeoutMs) as Promise<Value>
  }
}

/** The wire of a run that is a task from the start: nothing is sent, and questions are stored with the task. */
export function taskWire(
  wire: Pick<ContextWire, 'rpcId' | 'conditions' | 'publish' | 'rounds'>,
  run: () => TaskRun,
  signal: () => AbortSignal,
): ContextWire {
  return {
    ...wire,
    method: 'tools/call',
    meta: undefined,
    // Any token: progress becomes the status message.
    progressToken: 0,
    logLevel: undefined,
    send: (method, params) => {
      if (method === 'notifications/progress') run().sendProgress(params)
    },
    interaction: once(({ Replay }) => {
      const replay = new Replay({
        journal: wire.rounds!.journal,
        responses: wire.rounds!.responses,
        signal,
        onSuspend: (suspension) => void run().conclude(suspension),
        onStuck: (error) => void run().fail(error),
        hooks: run(),
      })
      run().onReplay(replay)
      return replay
    }),
    begin: () => {
      throw new TypeError('A task cannot become one.')
    },
    endsAt: () => undefined,
    caller: () => undefined,
  }
}

/** The wire of a call that may become a task: the call's own until then. */
export function callWire(wire: ContextWire, run: () => TaskRun, signal: () => AbortSignal): ContextWire {
  const begin = (asking: Asking): Interaction =>
    wire.begin({ signal: signal(), end: (ending) => run().control(ending), hooks: run() }, asking)
  return {
    rpcId: wire.rpcId,
    method: wire.method,
    meta: wire.meta,
    // Without a token, the client gets no progress notifications, but a task's status still contains the progress.
    progressToken: wire.progressToken ?? 0,
    logLevel: wire.logLevel,
    rounds: wire.rounds,
    publish: wire.publish,
    conditions: () => wire.conditions(),
    send: (method, params) => {
      if (method === 'notifications/progress') run().sendProgress(params)
      else if (run().task === undefined) wire.send(method, params)
    },
    interaction: once((asking) => asTask(begin(asking), run)),
    begin: (given, asking) => wire.begin(given, asking),
    endsAt: () => wire.endsAt(),
    caller: () => wire.caller(),
  }
}

/** One journal for each run: steps, sleeps and questions must see each other. */
function once(begin: (asking: Asking) => Interaction): (asking: Asking) => Interaction {
  let begun: Interaction | undefined
  return (asking) => {
    begun ??= begin(asking)
    return begun
  }
}

/** Asks like a call until it becomes a task, then like a task. */
function asTask(call: Interaction, run: () => TaskRun): Interaction {
  const now = (): Interaction => (run().asksAsTask ? run().replay : call)
  return {
    ask: (question) => now().ask(question),
    async askReturned(questions, state) {
      const answers = await now().askReturned(questions, state)
      run().keepReturned(answers, state)
      return answers
    },
    step: (name, fn, options) => run().replay.step(name, fn, options),
    isSuspended: () => call.isSuspended(),
    // A task is stored with its steps.
    mustRemember: () => !run().asksAsTask && run().replay.mustRemember(),
    close: () => call.close(),
  }
}

/** One task with all that is stored of it. */
import type { Era } from '../../definition/context.ts'
import type { Task } from '../record.ts'
import type { TaskRuns } from '../runs.ts'
import { entriesOf, type TaskEntry } from './entries.ts'
import { type ShownError, type ShownValue, shown, shownError, shownText } from './shown.ts'
import { summarize, type TaskSummary } from './summary.ts'

export interface TaskDetails extends TaskSummary {
  readonly arguments: ShownValue
  /** What the tool has done, in the recorded order; of a long journal the last 1000 entries. */
  readonly journal: readonly TaskEntry[]
  /** Without an answer yet, by the key that clients see. */
  readonly questions: readonly {
    readonly key: string
    readonly method: string
    readonly params: ShownValue
  }[]
  /** What has arrived and was not read yet. */
  readonly inbox: { readonly answers: readonly string[]; readonly events: readonly string[] }
  readonly result?: ShownValue
  readonly error?: ShownError
  readonly caller: {
    readonly era: Era
    readonly clientInfo?: { readonly name: string; readonly version: string }
    /** Of its token. Kept until the task completes or is cancelled. */
    readonly clientId?: string
    /** For whom open tasks are counted, as a digest. */
    readonly owner: string
  }
}

const MAX_NAMES = 100

export async function describeDetails(task: Task, { records }: TaskRuns): Promise<TaskDetails> {
  const { record, owner } = task
  const { offsetMs } = records.clock
  const { era, clientInfo, auth } = record.caller
  const { answers, events } = record.inbox
  const names = (given: object): string[] =>
    Object.keys(given)
      .slice(0, MAX_NAMES)
      .map((name) => shownText(name))
  return {
    ...summarize(task),
    arguments: shown(record.arguments),
    journal: await entriesOf(record.journal, record.seed, offsetMs),
    questions: Object.entries(record.questions)
      .slice(0, MAX_NAMES)
      .map(([key, { method, params }]) => ({ key: shownText(key), method, params: shown(params) })),
    inbox: { answers: names(answers), events: names(events) },
    ...(record.result !== undefined && { result: shown(record.result) }),
    ...(record.error !== undefined && { error: shownError(record.error) }),
    caller: {
      era,
      ...(clientInfo !== undefined && {
        clientInfo: { name: shownText(clientInfo.name), version: shownText(clientInfo.version) },
      }),
      ...(typeof auth?.clientId === 'string' && { clientId: shownText(auth.clientId) }),
      owner,
    },
  }
}

/** The journal of a task as a list: what was decided, in its order, and then what is not decided yet. */
import { digest } from '../../definition/digest.ts'
import type { Journal } from '../../interaction/journal.ts'
import { own } from '../../interaction/journal-records.ts'
import { SLEEP, WAIT, WAITED } from '../waits.ts'
import { type ShownError, type ShownValue, shown, shownError, shownText, shownTime } from './shown.ts'

/** The last entries of a journal that are shown. */
const MAX_ENTRIES = 1000

export interface TaskEntry {
  /** The place in the journal, from 0. */
  readonly at: number
  /** `attempt`: a step that failed, and is tried again. `decision`: of a version that is not known here. */
  readonly kind: 'step' | 'sleep' | 'wait' | 'question' | 'attempt' | 'decision'
  readonly name: string
  /** The idempotency key of a step, or the key of a question. */
  readonly key?: string
  readonly value?: ShownValue
  readonly error?: ShownError
  /** When a sleep, a wait or the pause before the next attempt ends: ISO 8601. */
  readonly until?: string
  /** Attempts that failed. */
  readonly attempts?: number
  /** The tool has not got its result yet. */
  readonly isPending?: true
}

type Unplaced = Omit<TaskEntry, 'at'>

/** @param offsetMs By how much the clock of the journal is ahead. */
export async function entriesOf(journal: Journal, seed: string, offsetMs: number): Promise<TaskEntry[]> {
  const all = [...decided(journal, offsetMs), ...undecided(journal, offsetMs)]
  const first = Math.max(0, all.length - MAX_ENTRIES)
  return Promise.all(
    all.slice(first).map(async (entry, index) => {
      const isStep = entry.kind === 'step' || entry.kind === 'attempt'
      const key = isStep ? { key: await digest(`${seed} ${entry.name}`) } : {}
      return { at: first + index, ...entry, ...key, name: shownText(entry.name) }
    }),
  )
}

function decided(journal: Journal, offsetMs: number): Unplaced[] {
  const failures = new Map<string, number>()
  return (journal.order ?? []).map((decision): Unplaced => {
    const [, kind = '', name = decision] = /^(step|sleep|event|answer) (.*)$/s.exec(decision) ?? []
    if (kind === 'step') {
      const count = failures.get(name) ?? 0
      failures.set(name, count + 1)
      const error = own(journal.errors ?? {}, name)?.[count]
      if (error !== undefined) return { kind: 'step', name, error: shownError(error) }
      return { kind: 'step', name, ...valueIn(own(journal.steps, name)) }
    }
    if (kind === 'sleep') return { kind: 'sleep', name, ...untilOf(journal, SLEEP + name, offsetMs) }
    if (kind === 'event') {
      const [outcome] = (own(journal.steps, WAITED + name) ?? []) as [(readonly unknown[])?]
      const isLate = outcome !== undefined && outcome.length === 0
      return {
        kind: 'wait',
        name,
        ...untilOf(journal, WAIT + name, offsetMs),
        ...(isLate
          ? { error: { name: 'TimeoutError', message: 'It did not arrive in time.' } }
          : valueIn(outcome)),
      }
    }
    if (kind === 'answer') return questionOf(journal, name)
    return { kind: 'decision', name }
  })
}

/** Steps that the tool has not got yet, sleeps and waits that go on, attempts, and refused answers. */
function undecided(journal: Journal, offsetMs: number): Unplaced[] {
  const order = new Set(journal.order)
  const steps = Object.keys(journal.steps).flatMap((step): Unplaced[] => {
    if (step.startsWith(SLEEP)) return waiting('sleep', step.slice(SLEEP.length), step)
    if (step.startsWith(WAITED)) return []
    if (step.startsWith(WAIT)) return waiting('wait', step.slice(WAIT.length), step)
    if (order.has(`step ${step}`)) return []
    return [{ kind: 'step', name: step, ...valueIn(journal.steps[step]), isPending: true }]
  })
  function waiting(kind: 'sleep' | 'wait', name: string, step: string): Unplaced[] {
    if (order.has(`${kind === 'sleep' ? 'sleep' : 'event'} ${name}`)) return []
    return [{ kind, name, ...untilOf(journal, step, offsetMs), isPending: true }]
  }
  const attempts = Object.entries(journal.retries ?? {}).map(
    ([name, [count, at]]): Unplaced => ({
      kind: 'attempt',
      name,
      attempts: count,
      ...toUntil(at - offsetMs),
      isPending: true,
    }),
  )
  const refused = Object.keys(journal.refusals)
    .filter((key) => !order.has(`answer ${key}`))
    .map((key): Unplaced => ({ ...questionOf(journal, key), isPending: true }))
  return [...steps, ...attempts, ...refused]
}

function questionOf(journal: Journal, key: string): Unplaced {
  const answer = own(journal.answers, key)
  const refusal = own(journal.refusals, key)
  return {
    kind: 'question',
    name: key,
    key: shownText(key),
    ...(answer !== undefined && { value: shown(answer) }),
    ...(answer === undefined && refusal !== undefined && { error: shownError({ message: refusal[1] }) }),
  }
}

/** Of `[value]`, or `[]` for undefined. */
function valueIn(stored: readonly unknown[] | undefined): Pick<TaskEntry, 'value'> {
  return stored === undefined ? {} : { value: shown(stored[0]) }
}

function untilOf(journal: Journal, step: string, offsetMs: number): Pick<TaskEntry, 'until'> {
  const at = own(journal.steps, step)?.[0]
  return typeof at === 'number' ? toUntil(at - offsetMs) : {}
}

function toUntil(at: number): Pick<TaskEntry, 'until'> {
  const until = shownTime(at)
  return until === null ? {} : { until }
}

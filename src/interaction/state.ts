/**
 * The journal of a call, kept by the client: sealed when a round ends, opened when the next begins.
 */
import { ErrorCode, invalidParams, ProtocolError } from '../definition/protocol-error.ts'
import type { Journal } from './replay.ts'
import type { Binding, Seal } from './seal.ts'

/** Remembers which states were used. Shared by all isolates, or it proves nothing. */
export interface SingleUseStore {
  /** Returns true the first time it sees `id`, false after. May forget it after `expiresAt` (milliseconds since the epoch). */
  claim(id: string, expiresAt: number): boolean | Promise<boolean>
}

export interface StateOptions {
  readonly seal: Seal | undefined
  /** Milliseconds a state is good for. */
  readonly ttlMs: number
  readonly singleUse: SingleUseStore | undefined
  /** Told why a state was refused; the client is not. */
  readonly onRefused: (reason: string) => void
}

/** Characters of a sealed state. */
const MAX_STATE_LENGTH = 32 * 1024

/** Seals what a later round must know; undefined where there is nothing. @throws like `sealJournal`. */
export async function keepJournal(
  journal: Journal,
  binding: Binding,
  options: StateOptions,
): Promise<string | undefined> {
  const { answers, steps, state } = journal
  const isEmpty = state === undefined && Object.keys(answers).length === 0 && Object.keys(steps).length === 0
  return isEmpty ? undefined : sealJournal(journal, binding, options)
}

/** Seals a journal. @throws ProtocolError without a secret, or where the state is over 32 KB. */
export async function sealJournal(
  journal: Journal,
  binding: Binding,
  options: StateOptions,
): Promise<string> {
  if (options.seal === undefined) {
    throw new ProtocolError(
      ErrorCode.internal,
      'A question after a step or an earlier answer needs a secret: set MAYFLY_SECRET (32 or more random characters) on this deployment.',
    )
  }
  const { answers, steps } = journal
  const known = journal.state === undefined ? [answers, steps] : [answers, steps, journal.state]
  const state = await options.seal.seal(known, binding, Date.now() + options.ttlMs)
  if (state.length <= MAX_STATE_LENGTH) return state
  throw new ProtocolError(
    ErrorCode.internal,
    `This call has more to remember than fits (${state.length} of ${MAX_STATE_LENGTH} characters): return less from ${largest(journal)}.`,
  )
}

/** Opens a state that came back. @throws ProtocolError `-32602`, the same for every reason. */
export async function restoreJournal(
  state: string,
  binding: Binding,
  options: StateOptions,
): Promise<Journal> {
  const refuse = (reason: string): never => {
    options.onRefused(reason)
    throw invalidParams(
      'Invalid params: "requestState" is not valid here. Send the request again without it.',
    )
  }
  if (options.seal === undefined) return refuse('this deployment has no secret')
  if (state.length > MAX_STATE_LENGTH) return refuse('it is too long')
  const opened = await options.seal.open(state, binding)
  if (!opened.ok) return refuse(opened.reason)
  if (options.singleUse !== undefined && !(await options.singleUse.claim(opened.id, opened.expiresAt))) {
    return refuse('it was used before')
  }
  const [answers, steps, returned] = opened.value as [Journal['answers'], Journal['steps'], Journal['state']]
  return { answers, steps, state: returned }
}

function largest({ steps, answers, state = '' }: Journal): string {
  const sizes = [
    ['requestState', state.length] as const,
    ...Object.entries(steps).map(
      ([name, value]) => [`step "${name}"`, JSON.stringify(value).length] as const,
    ),
    ...Object.entries(answers).map(
      ([key, value]) => [`answer ${key}`, JSON.stringify(value).length] as const,
    ),
  ]
  return sizes.reduce((most, entry) => (entry[1] > most[1] ? entry : most))[0]
}

/** The journal of a call, stored by the client: sealed at the end of a round, opened at the start of the next. */
import { ErrorCode, invalidParams, ProtocolError } from '../definition/protocol-error.ts'
import { ANSWER_TIMEOUT_MS, withTimeout } from '../definition/timeout.ts'
import type { Journal } from './journal.ts'
import type { Binding, Seal } from './seal.ts'

/** Remembers which states were used. All isolates must share it, otherwise a state can be used once in each. */
export interface SingleUseStore {
  /** Returns true the first time it sees `id`, then false. May forget it after `expiresAt` (milliseconds since the epoch). */
  claim(id: string, expiresAt: number): boolean | Promise<boolean>
}

export interface StateOptions {
  readonly seal: Seal | undefined
  /** Milliseconds for which a state is valid. */
  readonly ttlMs: number
  readonly singleUse: SingleUseStore | undefined
  /** Receives the reason why a state was refused; the client does not. */
  readonly onRefused: (reason: string) => void
}

/** Maximum characters of a sealed state. */
const MAX_STATE_LENGTH = 32 * 1024

/** Maximum characters of a journal. Compressed, it may be a thousand times smaller, and every round reads it. */
const MAX_JOURNAL_LENGTH = 1024 * 1024

/** Seals what later rounds need; undefined if they need nothing. @throws like `sealJournal`. */
export async function sealIfNeeded(
  journal: Journal,
  binding: Binding,
  options: StateOptions,
): Promise<string | undefined> {
  return isNeeded(journal, options) ? sealJournal(journal, binding, options) : undefined
}

function isNeeded(
  { answers, steps, errors = {}, refusals, unread, state }: Journal,
  { seal, singleUse }: StateOptions,
): boolean {
  // For single use, a state is needed even without content, since the store uses its id.
  if (state !== undefined || singleUse !== undefined || !isEmpty(answers)) return true
  if (!isEmpty(steps) || !isEmpty(errors)) return true
  // Without a secret these are dropped, so that a first question still works.
  return seal !== undefined && !(isEmpty(refusals) && isEmpty(unread))
}

function isEmpty(record: object): boolean {
  return Object.keys(record).length === 0
}

/**
 * Seals a journal.
 *
 * @throws ProtocolError without a secret, and for a journal that is too large: `-32602` if a client's answer is the cause.
 */
export async function sealJournal(
  journal: Journal,
  binding: Binding,
  options: StateOptions,
): Promise<string> {
  if (options.seal === undefined) {
    throw new ProtocolError(
      ErrorCode.internal,
      'A question after a step or an earlier answer, or with single use, needs a secret: set MAYFLY_SECRET (32 or more random characters) on this deployment, or `secret` if no adapter serves it.',
    )
  }
  const { length } = JSON.stringify(journal)
  if (length > MAX_JOURNAL_LENGTH) throw tooLarge(journal, length, MAX_JOURNAL_LENGTH)
  const state = await options.seal.seal(journal, binding, Date.now() + options.ttlMs)
  if (state.length > MAX_STATE_LENGTH) throw tooLarge(journal, state.length, MAX_STATE_LENGTH)
  return state
}

/** Opens a state that the client sent back. @throws ProtocolError `-32602`, the same for every reason. */
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
  const claim = options.singleUse?.claim(opened.id, opened.expiresAt)
  if (claim !== undefined && !(await withTimeout(claim, ANSWER_TIMEOUT_MS, 'store of "singleUse"')))
    return refuse('it was used before')
  return opened.value as Journal
}

function tooLarge(journal: Journal, length: number, limit: number): ProtocolError {
  const { what, isAnswer } = largest(journal)
  const found = `The state of this call is too large (${length} of ${limit} characters)`
  return isAnswer
    ? invalidParams(`Invalid params: ${found}, because of ${what}.`)
    : new ProtocolError(ErrorCode.internal, `${found}: return less from ${what}.`)
}

function largest({ steps, answers, unread, state }: Journal): { what: string; isAnswer: boolean } {
  const sizes = [
    { what: 'requestState', value: state, isAnswer: false },
    ...Object.entries(steps).map(([name, value]) => ({ what: `step "${name}"`, value, isAnswer: false })),
    ...Object.entries({ ...answers, ...unread }).map(([key, value]) => ({
      what: `answer "${key}"`,
      value,
      isAnswer: true,
    })),
  ].map((one) => ({ ...one, length: JSON.stringify(one.value ?? null).length }))
  return sizes.reduce((most, one) => (one.length > most.length ? one : most))
}

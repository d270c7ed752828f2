/**
 * A legacy client cannot be asked by a result, so a policy decides: explain why, let the model ask and call again, or wait for the client's
 * answer at a rendezvous. URL mode on 2025-11-25 uses a special error. Every wait has a time limit.
 */
import type { LegacyPolicy } from '../definition/ask.ts'
import type { Availability, Feature } from '../definition/context.ts'
import { ProtocolError } from '../definition/protocol-error.ts'
import { ANSWER_TIMEOUT_MS, withTimeout } from '../definition/timeout.ts'
import { CONTINUE } from './continuation.ts'
import { degradedError, degradedResult, warnOperator } from './degraded.ts'
import type { Ending } from './ending.ts'
import { type CallControl, createReplay, endCall, type Interaction } from './interaction.ts'
import type { Journal } from './journal.ts'
import { policyFor } from './matrix.ts'
import { askedAgain, MAX_REFUSALS, type Question, refusalReason, tooManyRefusals } from './question.ts'
import { QUESTION_ID, type Rendezvous, rendezvousKey } from './rendezvous.ts'
import type { OpenQuestion } from './replay.ts'
import type { Binding } from './seal.ts'
import { type StateOptions, sealJournal } from './state.ts'

/** An error code that only 2025-11-25 has. */
const URL_ELICITATION_REQUIRED = -32042

export interface LegacyCall {
  readonly journal: Journal
  readonly responses: { readonly [key: string]: unknown }
  readonly binding: Binding
  readonly protocolVersion: string
  /** The entry of the degradation matrix for a feature, under a policy. */
  readonly can: (feature: Feature, policy: LegacyPolicy) => Availability
}

export interface LegacyOptions extends StateOptions {
  readonly policy: LegacyPolicy
  /** In a session the client can be asked directly, without a policy. */
  readonly hasSession: boolean
  readonly rendezvous: Rendezvous | undefined
  /** Milliseconds to wait for an answer at the rendezvous. */
  readonly askTimeoutMs: number
  /** Counts this call as one that waits. Returns a function to call when it no longer waits; undefined if too many wait. */
  readonly beginWait: () => (() => void) | undefined
}

export function createLegacyInteraction(
  call: LegacyCall,
  control: CallControl,
  options: LegacyOptions,
): Interaction {
  const { method, principal } = call.binding
  const replay = createReplay(call, control, async ({ questions, journal }) => {
    const token = await sealJournal(journal, call.binding, options)
    return { kind: 'result', result: continuationResult(questions, token) }
  })
  const end = (ending: Ending): Promise<never> => endCall(replay, control, ending)
  const policyOf = (question: Question | undefined): LegacyPolicy =>
    options.hasSession ? 'rendezvous' : policyFor(method, question?.legacy ?? options.policy)

  const degrade = (question: Question, { reason, remedy }: { reason: string; remedy: string }) => {
    const degraded = { feature: question.feature, reason, remedy }
    if (method !== 'tools/call') return end({ kind: 'error', error: degradedError(degraded) })
    const { message = 'The tool needs an answer from the client.' } = question.params as { message?: string }
    return end({ kind: 'result', result: degradedResult(degraded, message) })
  }

  /** Undefined if the question can be asked. */
  const refuse = (question: Question): Promise<never> | undefined => {
    const availability = call.can(question.feature, policyOf(question))
    return availability.available ? undefined : degrade(question, availability)
  }

  const send = async (question: Question): Promise<unknown> => {
    const id = QUESTION_ID + crypto.randomUUID()
    const deadline = Date.now() + options.askTimeoutMs
    const waiting = options.rendezvous!.wait(rendezvousKey(id, principal), deadline, control.signal)
    const { answer } = await withTimeout(waiting, ANSWER_TIMEOUT_MS, 'rendezvous')
    control.sendRequest(id, question.method, forVersion(question, call.protocolVersion))
    // The rendezvous itself should end the wait at the deadline.
    return withTimeout(answer, options.askTimeoutMs + ANSWER_TIMEOUT_MS, 'rendezvous')
  }

  const askAndWait = async (question: Question): Promise<unknown> => {
    const endWait = options.beginWait()
    if (endWait === undefined) {
      warnOperator(
        'A client was not asked, since too many calls wait for answers: see "http.maxWaitingCalls".',
      )
      return degrade(question, TOO_MANY_WAIT)
    }
    try {
      return await askUntilValid(question)
    } finally {
      endWait()
    }
  }

  const askUntilValid = async (question: Question): Promise<unknown> => {
    let asked = question
    for (let refusals = 1; ; refusals++) {
      const answer = await send(asked)
      const over = replay.over()
      if (over !== undefined) return over
      if (answer === undefined || answer === null) return degrade(question, UNANSWERED)
      const validation = await question.validate(answer)
      if (validation.ok) return validation.value
      const reason = refusalReason(validation.issues)
      if (refusals === MAX_REFUSALS) throw tooManyRefusals(question, reason)
      asked = askedAgain(question, reason)
    }
  }

  let returned = 0
  return {
    async ask(question) {
      const refused = replay.refusal() ?? refuse(question)
      if (refused !== undefined) return refused
      if (policyOf(question) === 'rendezvous') return askAndWait(question)
      if (question.feature === 'elicitation.url') return end({ kind: 'error', error: urlRequired(question) })
      return replay.ask(question)
    },
    async askReturned(questions, state) {
      for (const { question } of questions) {
        const refused = refuse(question)
        if (refused !== undefined) return refused
      }
      // A result without a question only asks for another run, which needs nothing from the client.
      if (questions.length === 0 && ++returned > MAX_RETURNED) throw new TypeError(ENDLESS)
      if (questions.length === 0 || policyOf(undefined) === 'rendezvous') {
        const answers = questions.map(async ({ key, question }) => [key, await askAndWait(question)])
        return Object.fromEntries(await Promise.all(answers))
      }
      const url = questions.find(({ question }) => question.feature === 'elicitation.url')
      if (url !== undefined) return end({ kind: 'error', error: urlRequired(url.question) })
      return replay.askReturned(questions, state)
    },
    step: (name, fn, options) => replay.step(name, fn, options),
    isSuspended: () => replay.isSuspended(),
    // The policy that needs a state needs a secret in any case.
    mustRemember: () => false,
    close: () => replay.close(),
  }
}

/** How often a tool may return no question and run again in one call. */
const MAX_RETURNED = 100
const ENDLESS = `The tool returned input_required without a question ${MAX_RETURNED} times: return a result.`

const UNANSWERED = {
  reason: 'The client did not answer in time.',
  remedy: 'Call the tool again.',
}

const TOO_MANY_WAIT = {
  reason: 'Too many calls wait for answers.',
  remedy: 'Call the tool again later.',
}

/** The question as a tool result: the model asks its user and calls the tool again. */
function continuationResult(
  questions: readonly OpenQuestion[],
  token: string,
): { content: { type: 'text'; text: string }[]; _meta: Record<string, unknown> } {
  const asked = questions.map(({ key, question }) => {
    const { message, requestedSchema } = question.params as { message: string; requestedSchema: object }
    return { key, message, schema: requestedSchema }
  })
  const example = {
    [CONTINUE]: {
      token,
      answers: Object.fromEntries(asked.map(({ key }) => [key, { action: 'accept', content: {} }])),
    },
  }
  const text = [
    'This tool needs answers from the user before it can continue. Ask the user; do not answer for them:',
    ...asked.map(
      ({ key, message, schema }) =>
        `- ${key}: ${message} Answer according to this JSON Schema: ${JSON.stringify(schema)}`,
    ),
    `Then call this tool again with the same arguments and with ${JSON.stringify(example)}, each "content" filled in; "action" may also be "decline" or "cancel".`,
  ].join('\n')
  return { content: [{ type: 'text', text }], _meta: { 'mayfly/continue': { token, questions: asked } } }
}

function urlRequired({ params }: Question): ProtocolError {
  return new ProtocolError(URL_ELICITATION_REQUIRED, 'The user must visit a URL before this request.', {
    elicitations: [{ ...params, elicitationId: crypto.randomUUID() }],
  })
}

/** In 2025-06-18 forms have no `mode`; in 2025-11-25 each URL elicitation has an id. */
function forVersion({ params, feature }: Question, protocolVersion: string): object {
  if (feature === 'elicitation.url') return { ...params, elicitationId: crypto.randomUUID() }
  if (protocolVersion >= '2025-11-25') return params
  const { mode: _mode, ...rest } = params as { mode?: unknown }
  return rest
}

/**
 * The legacy era cannot be called back, so asking it is a policy: explain, let the model ask and call again, or meet the
 * client's answer at a rendezvous. URL mode on 2025-11-25 has an error of its own. No way waits for ever.
 */
import type { LegacyPolicy } from '../definition/ask.ts'
import type { Availability, Feature } from '../definition/context.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { degradedError, degradedResult } from './degraded.ts'
import { type CallControl, endWith, type Interaction, never } from './interaction.ts'
import type { Question } from './question.ts'
import type { Rendezvous } from './rendezvous.ts'
import { type Journal, Replay, type Suspension } from './replay.ts'
import type { Binding } from './seal.ts'
import { type StateOptions, sealJournal } from './state.ts'

/** The argument with which a model continues a call under the policy `arguments`. */
export const CONTINUE = '_continue'

/** How the ids of our questions begin; the rest cannot be guessed. */
export const QUESTION_ID = 'mayfly-'

/** Code of 2025-11-25 alone. */
const URL_ELICITATION_REQUIRED = -32042

export interface LegacyCall {
  readonly journal: Journal
  readonly responses: { readonly [key: string]: unknown }
  readonly binding: Binding
  readonly protocolVersion: string
  /** What the degradation matrix says of a feature, under a policy. */
  readonly can: (feature: Feature, policy: LegacyPolicy) => Availability
}

export interface LegacyOptions extends StateOptions {
  readonly policy: LegacyPolicy
  /** The client can be asked as it is: no policy is needed. */
  readonly hasSession: boolean
  readonly rendezvous: Rendezvous | undefined
  /** Milliseconds to wait for an answer at the rendezvous. */
  readonly askTimeoutMs: number
}

export function createLegacyInteraction(
  call: LegacyCall,
  control: CallControl,
  options: LegacyOptions,
): Interaction {
  const isTool = call.binding.method === 'tools/call'
  const onSuspend = async ({ questions, journal }: Suspension): Promise<void> => {
    try {
      const token = await sealJournal(journal, call.binding, options)
      control.end({ kind: 'result', result: continuationResult(questions, token) })
    } catch (error) {
      control.end({ kind: 'error', error })
    }
  }
  const replay = new Replay({ journal: call.journal, responses: call.responses, onSuspend })

  const degrade = (question: Question, reason: string, remedy: string): Promise<never> => {
    const degraded = { feature: question.feature, reason, remedy }
    if (!isTool) return endWith(control, degradedError(degraded))
    const { message = 'The tool needs something of the client.' } = question.params as { message?: string }
    control.end({ kind: 'result', result: degradedResult(degraded, message) })
    return never()
  }

  const meet = async (question: Question): Promise<unknown> => {
    const id = QUESTION_ID + crypto.randomUUID()
    const { answer: arrival } = await options.rendezvous!.wait(
      rendezvousKey(id, call.binding.principal),
      Date.now() + options.askTimeoutMs,
      control.signal,
    )
    control.sendRequest(id, question.method, forVersion(question, call.protocolVersion))
    const answer = await arrival
    if (control.signal.aborted) return never()
    const validation = await question.validate(answer)
    if (validation.ok) return validation.value
    const reason =
      answer === undefined
        ? 'The client did not answer in time.'
        : 'The client answered with something else than was asked for.'
    return degrade(question, reason, 'Call the tool again.')
  }

  return {
    async ask(question) {
      const policy = options.hasSession ? 'rendezvous' : (question.legacy ?? options.policy)
      const availability = call.can(question.feature, policy)
      if (!availability.available) return degrade(question, availability.reason, availability.remedy)
      if (policy === 'rendezvous') return meet(question)
      if (question.feature === 'elicitation.url') return endWith(control, urlRequired(question))
      return replay.ask(question)
    },
    async askReturned(questions, state) {
      for (const { question } of questions) {
        const availability = call.can(question.feature, options.policy)
        if (!availability.available) return degrade(question, availability.reason, availability.remedy)
      }
      if (options.policy === 'rendezvous') {
        const answers = questions.map(async ({ key, question }) => [key, await meet(question)])
        return Object.fromEntries(await Promise.all(answers))
      }
      const visit = questions.find(({ question }) => question.feature === 'elicitation.url')
      if (visit !== undefined) return endWith(control, urlRequired(visit.question))
      void onSuspend({ questions, journal: { ...replay.journal, state } })
      return never()
    },
    step: (name, fn) => replay.step(name, fn),
  }
}

/** Where an answer is delivered. Another principal's answer goes elsewhere, which is nowhere. */
export function rendezvousKey(id: string, principal: string): string {
  return `${id} ${principal}`
}

/** The question as a result: the model asks its user and calls the tool again. */
function continuationResult(
  questions: readonly { readonly key: string; readonly question: Question }[],
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
    'This tool needs answers from the user before it can go on. Ask the user, do not answer for them:',
    ...asked.map(
      ({ key, message, schema }) =>
        `- ${key}: ${message} Answer by this JSON Schema: ${JSON.stringify(schema)}`,
    ),
    `Then call this tool again with the same arguments and with ${JSON.stringify(example)}, each "content" filled in; "action" may also be "decline" or "cancel".`,
  ].join('\n')
  return { content: [{ type: 'text', text }], _meta: { 'mayfly/continue': { token, questions: asked } } }
}

function urlRequired({ params }: Question): ProtocolError {
  return new ProtocolError(URL_ELICITATION_REQUIRED, 'This request needs a visit to a URL first.', {
    elicitations: [{ ...params, elicitationId: crypto.randomUUID() }],
  })
}

/** 2025-06-18 has forms without a `mode`; 2025-11-25 names each visit to a URL. */
function forVersion({ params, feature }: Question, protocolVersion: string): object {
  if (feature === 'elicitation.url') return { ...params, elicitationId: crypto.randomUUID() }
  if (protocolVersion >= '2025-11-25') return params
  const { mode: _mode, ...rest } = params as { mode?: unknown }
  return rest
}

/** Reads `_continue`: what to open, and the answers. @throws ProtocolError `-32602` where it is malformed. */
export function readContinuation(value: unknown): { token: string; answers: Record<string, unknown> } {
  const { token, answers } = (value ?? {}) as { token?: unknown; answers?: unknown }
  if (
    typeof token !== 'string' ||
    answers === null ||
    typeof answers !== 'object' ||
    Array.isArray(answers)
  ) {
    throw new ProtocolError(
      ErrorCode.invalidParams,
      `Invalid params: "${CONTINUE}" needs a string "token" and an object "answers".`,
    )
  }
  return { token, answers: answers as Record<string, unknown> }
}

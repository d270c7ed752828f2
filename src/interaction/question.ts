/**
 * The questions that a tool can ask the client: elicitation (form or URL), sampling, roots.
 */
import {
  type CreateMessageParams,
  type CreateMessageResult,
  ELICIT_OPTIONS,
  type ElicitOptions,
  type ElicitParams,
  elicitOptionsIn,
  type LegacyPolicy,
} from '../definition/ask.ts'
import type { ClientCapabilities } from '../definition/context.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import {
  type CompiledSchema,
  describeIssues,
  type Schema,
  type SchemaIssue,
  type Validation,
} from '../definition/schema.ts'
import { refuseUnknown } from '../definition/unknown-option.ts'
import { withReason } from './asked-again.ts'
import type { Degraded } from './degraded-meta.ts'
import { type RequestedSchema, validate } from './form-content.ts'
import { compileForm } from './form-schema.ts'
import { QuestionError } from './question-error.ts'

export type QuestionMethod = 'elicitation/create' | 'sampling/createMessage' | 'roots/list'

export interface Question {
  readonly method: QuestionMethod
  readonly params: object
  /** The capabilities that the client must have declared. */
  readonly needs: ClientCapabilities
  readonly feature: 'elicitation.form' | 'elicitation.url' | 'sampling' | 'roots'
  /** The question's key on the wire, if the tool set one. */
  readonly key?: string | undefined
  /** Overrides the server's policy for legacy clients. */
  readonly legacy?: LegacyPolicy | undefined
  /** Validates a client's answer; the tool receives the resulting value. */
  validate(answer: unknown): Validation | Promise<Validation>
}

const refused = (path: string, message: string): Validation => ({ ok: false, issues: [{ path, message }] })

/** Maximum invalid answers to one question; after that the tool gets an error with the last reason. */
export const MAX_REFUSALS = 3

/** Maximum characters of the reason why an answer was invalid. */
const MAX_REASON_LENGTH = 400

/** Why an answer was invalid: the field, and the expected value. */
export function refusalReason(issues: readonly SchemaIssue[]): string {
  return describeIssues(issues).slice(0, MAX_REASON_LENGTH)
}

/** The question to ask again: its message, if any, says why. */
export function askedAgain(question: Question, reason: string): Question {
  const { message } = question.params as { message?: unknown }
  if (typeof message !== 'string') return question
  return { ...question, params: { ...question.params, message: withReason(message, reason) } }
}

export function tooManyRefusals({ method, params }: Question, reason: string): QuestionError {
  const { message = method } = params as { message?: string }
  return new QuestionError(
    'INVALID_ANSWERS',
    `The client answered ${MAX_REFUSALS} times with an invalid answer to the question "${message}": ${reason}`,
  )
}

/** A form. @throws TypeError for a schema that a form does not allow. */
function formQuestion(message: string, schema: Schema, options?: ElicitOptions): Question {
  const form = compileForm(schema, options)
  return {
    method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema: form.jsonSchema },
    needs: { elicitation: { form: {} } },
    feature: 'elicitation.form',
    key: options?.key,
    legacy: options?.legacy,
    validate: (answer) => validateElicitation(answer, form),
  }
}

/** A URL for the user to visit. @throws TypeError unless it is an absolute http(s) URL. */
function urlQuestion(message: string, url: string, options?: ElicitOptions): Question {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new TypeError(`URL mode needs an http(s) URL, not ${url}.`)
  return {
    method: 'elicitation/create',
    params: { mode: 'url', message, url },
    needs: { elicitation: { url: {} } },
    feature: 'elicitation.url',
    key: options?.key,
    legacy: options?.legacy,
    validate: (answer) => validateElicitation(answer, undefined),
  }
}

export function samplingQuestion(params: CreateMessageParams): Question {
  return {
    method: 'sampling/createMessage',
    params,
    needs: { sampling: params.tools === undefined ? {} : { tools: {} } },
    feature: 'sampling',
    validate: (answer) => {
      const { role, content, model } = (answer ?? {}) as Partial<CreateMessageResult>
      const isResult =
        typeof role === 'string' &&
        typeof model === 'string' &&
        content !== null &&
        typeof content === 'object'
      return isResult ? { ok: true, value: answer } : refused('', 'expected role, model and content')
    },
  }
}

export function rootsQuestion(): Question {
  return {
    method: 'roots/list',
    params: {},
    needs: { roots: {} },
    feature: 'roots',
    validate: (answer) => {
      const { roots } = (answer ?? {}) as { roots?: unknown }
      const areRoots = Array.isArray(roots) && roots.every((root) => typeof root?.uri === 'string')
      return areRoots ? { ok: true, value: roots } : refused('roots', 'expected a list of objects with a uri')
    },
  }
}

function validateElicitation(
  answer: unknown,
  form: CompiledSchema | undefined,
): Validation | Promise<Validation> {
  const { action, content } = (answer ?? {}) as { action?: unknown; content?: unknown }
  if (action === 'decline' || action === 'cancel') return { ok: true, value: { action } }
  if (action !== 'accept') return refused('action', 'expected accept, decline or cancel')
  if (form === undefined) return { ok: true, value: { action } }
  const accept = (validation: Validation): Validation =>
    validation.ok ? { ok: true, value: { action, content: validation.value } } : validation
  const validation = form.validate(content)
  return validation instanceof Promise ? validation.then(accept) : accept(validation)
}

/** The arguments of `ctx.elicit`, in its three signatures. */
export type ElicitArguments =
  | readonly [message: string, schema: Schema, options?: ElicitOptions]
  | readonly [message: string, url: string | URL, options?: ElicitOptions]
  | readonly [params: ElicitParams, options?: ElicitOptions | undefined]

/** @throws TypeError for a question that cannot be asked. */
export function elicitQuestion(...[first, second, options]: ElicitArguments): Question {
  refuseUnknown('ctx.elicit', typeof first === 'string' ? options : second, ELICIT_OPTIONS)
  if (typeof first !== 'string') {
    const given = second as ElicitOptions | undefined
    if (first.mode === 'url') return urlQuestion(first.message, first.url, given)
    return formQuestion(first.message, wireForm(first.requestedSchema), given)
  }
  if (typeof second === 'string' || second instanceof URL) return urlQuestion(first, String(second), options)
  return formQuestion(first, second as Schema, options)
}

/**
 * Converts a request, in the form that servers of earlier revisions send, to a question. Its value is the client's result.
 *
 * @throws ProtocolError for a request that is not a question, saying what to do instead.
 */
export function sentQuestion(method: string, params: object, options?: ElicitOptions): Question {
  if (method === 'elicitation/create') return elicitQuestion(params as ElicitParams, elicitOptionsIn(options))
  if (method === 'sampling/createMessage') return samplingQuestion(params as CreateMessageParams)
  if (method === 'roots/list') return withResult(rootsQuestion(), (roots) => ({ roots }))
  const degraded = {
    feature: method.startsWith('tasks/') ? 'tasks' : 'sessions',
    reason: `There is no connection to send "${method}" on: the server keeps no state between requests.`,
    remedy: 'Only elicitation/create, sampling/createMessage and roots/list are possible.',
  } satisfies Degraded
  throw new ProtocolError(ErrorCode.internal, `${degraded.reason} ${degraded.remedy}`, degraded)
}

function withResult(question: Question, toResult: (value: unknown) => unknown): Question {
  const finish = (validation: Validation): Validation =>
    validation.ok ? { ok: true, value: toResult(validation.value) } : validation
  return {
    ...question,
    validate(answer) {
      const validation = question.validate(answer)
      return validation instanceof Promise ? validation.then(finish) : finish(validation)
    },
  }
}

/** A form given as wire parameters, without a schema library that could validate the answer. */
function wireForm(requestedSchema: { properties: object; required?: string[] }): Schema {
  const standard = {
    version: 1 as const,
    vendor: 'mayfly-mcp',
    jsonSchema: { input: () => ({ ...requestedSchema }), output: () => ({ ...requestedSchema }) },
    validate(value: unknown) {
      if (value === null || typeof value !== 'object') return { issues: [{ message: 'expected an object' }] }
      const issues = validate(requestedSchema as RequestedSchema, value as Record<string, unknown>)
      return issues.length === 0
        ? { value }
        : { issues: issues.map(({ field, message }) => ({ path: [field], message })) }
    },
  }
  return { '~standard': standard } as unknown as Schema
}

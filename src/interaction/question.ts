/**
 * Questions a tool may put to the client: elicitation (form or URL), sampling, roots.
 */
import type {
  CreateMessageParams,
  CreateMessageResult,
  ElicitOptions,
  ElicitParams,
  LegacyPolicy,
} from '../definition/ask.ts'
import type { ClientCapabilities } from '../definition/context.ts'
import type { CompiledSchema, Schema, Validation } from '../definition/schema.ts'
import { degradedError } from './degraded.ts'
import { compileForm } from './form-schema.ts'

export type QuestionMethod = 'elicitation/create' | 'sampling/createMessage' | 'roots/list'

export interface Question {
  readonly method: QuestionMethod
  readonly params: object
  /** What the client must have declared. */
  readonly needs: ClientCapabilities
  readonly feature: 'elicitation.form' | 'elicitation.url' | 'sampling' | 'roots'
  /** Its name on the wire, where the tool gave it one. */
  readonly key?: string | undefined
  /** Overrides the server's policy for legacy clients. */
  readonly legacy?: LegacyPolicy | undefined
  /** Whether a client's answer is one to this question; the value is what the tool gets. */
  validate(answer: unknown): Validation | Promise<Validation>
}

const REFUSED: Validation = { ok: false, issues: [] }

/** A form. @throws TypeError for a schema that is no form. */
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

/** A visit to a URL. @throws TypeError unless it is an absolute http(s) URL. */
function urlQuestion(message: string, url: string, options?: ElicitOptions): Question {
  if (!/^https?:$/.test(new URL(url).protocol))
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
      return isResult ? { ok: true, value: answer } : REFUSED
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
      return areRoots ? { ok: true, value: roots } : REFUSED
    },
  }
}

function validateElicitation(
  answer: unknown,
  form: CompiledSchema | undefined,
): Validation | Promise<Validation> {
  const { action, content } = (answer ?? {}) as { action?: unknown; content?: unknown }
  if (action === 'decline' || action === 'cancel') return { ok: true, value: { action } }
  if (action !== 'accept') return REFUSED
  if (form === undefined) return { ok: true, value: { action } }
  const accept = (validation: Validation): Validation =>
    validation.ok ? { ok: true, value: { action, content: validation.value } } : validation
  const validation = form.validate(content)
  return validation instanceof Promise ? validation.then(accept) : accept(validation)
}

/** The arguments of `ctx.elicit`, in its three forms. */
export type ElicitArguments =
  | readonly [message: string, schema: Schema, options?: ElicitOptions]
  | readonly [message: string, url: string | URL, options?: ElicitOptions]
  | readonly [params: ElicitParams]

/** @throws TypeError for a question that cannot be asked. */
export function elicitQuestion(...[first, second, options]: ElicitArguments): Question {
  if (typeof first !== 'string') {
    if (first.mode === 'url') return urlQuestion(first.message, first.url)
    return formQuestion(first.message, wireForm(first.requestedSchema), options)
  }
  if (typeof second === 'string' || second instanceof URL) return urlQuestion(first, String(second), options)
  return formQuestion(first, second as Schema, options)
}

/**
 * A request as a server of earlier revisions would send it, as a question whose answer is the client's result.
 *
 * @throws ProtocolError with what to do instead, for a request that is no question.
 */
export function sentQuestion(method: string, params: object): Question {
  if (method === 'elicitation/create') return elicitQuestion(params as ElicitParams)
  if (method === 'sampling/createMessage') return samplingQuestion(params as CreateMessageParams)
  if (method === 'roots/list') return withResult(rootsQuestion(), (roots) => ({ roots }))
  throw degradedError({
    feature: method.startsWith('tasks/') ? 'tasks' : 'sessions',
    reason: `There is no connection to send "${method}" on: nothing is kept between requests.`,
    remedy: 'Only elicitation/create, sampling/createMessage and roots/list reach the client.',
  })
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

/** A form given as wire parameters: only what kind of value each field holds is checked, since no library stands behind it. */
function wireForm(requestedSchema: { properties: object; required?: string[] }): Schema {
  const { properties, required = [] } = requestedSchema
  const standard = {
    version: 1 as const,
    vendor: 'mayfly-mcp',
    jsonSchema: { input: () => ({ ...requestedSchema }), output: () => ({ ...requestedSchema }) },
    validate(value: unknown) {
      if (value === null || typeof value !== 'object') return { issues: [{ message: 'expected an object' }] }
      const content = value as Record<string, unknown>
      const issues = Object.entries(properties as Record<string, JsonField>)
        .filter(([name, field]) => !fits(content[name], field, required.includes(name)))
        .map(([name]) => ({ path: [name], message: 'does not fit the form' }))
      return issues.length > 0 ? { issues } : { value: content }
    },
  }
  return { '~standard': standard } as unknown as Schema
}

interface JsonField {
  type?: unknown
  enum?: readonly unknown[]
  oneOf?: readonly { const: unknown }[]
}

function fits(value: unknown, { type, enum: choices, oneOf }: JsonField, isRequired: boolean): boolean {
  if (value === undefined) return !isRequired
  if (choices !== undefined) return choices.includes(value)
  if (oneOf !== undefined) return oneOf.some((choice) => choice.const === value)
  if (type === 'integer') return Number.isInteger(value)
  return type === 'array' ? Array.isArray(value) : typeof value === type
}

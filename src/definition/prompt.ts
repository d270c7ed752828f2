/**
 * Prompts: declared one by one, or answered by callbacks, and what each compiles to.
 */

import type { Completers } from './completion.ts'
import type { GetPromptResult, Icon, Meta, PromptMessage } from './content.ts'
import type { RequestContext } from './context.ts'
import { type CompiledSchema, compileSchema, type InferOutput, type Schema } from './schema.ts'

export interface PromptArgument {
  name: string
  title?: string
  description?: string
  required?: boolean
}

/** A prompt as `prompts/list` shows it. */
export interface Prompt {
  name: string
  title?: string
  description?: string
  arguments?: PromptArgument[]
  icons?: Icon[]
  _meta?: Meta
}

/** What a prompt may return: the user's text, messages, or the whole result. */
export type PromptOutput = string | readonly PromptMessage[] | GetPromptResult

/** A declared prompt. Arguments reach it validated by `argsSchema`; on the wire they are strings. */
export interface PromptConfig<Args extends Schema | undefined = Schema | undefined> {
  title?: string
  description?: string
  argsSchema?: Args
  /** Suggests values for the arguments. */
  complete?: Completers
  icons?: Icon[]
  _meta?: Meta
  /** What the caller's token must have, where the server has `auth`. Default nothing. */
  scopes?: readonly string[]
  get(
    args: Args extends Schema ? InferOutput<Args> : Record<string, string>,
    context: RequestContext,
  ): PromptOutput | Promise<PromptOutput>
}

/** A declared prompt of any schema. */
export type AnyPrompt = Omit<PromptConfig, 'get'> & {
  // biome-ignore lint/suspicious/noExplicitAny: parameters are contravariant, so only `any` accepts every prompt.
  get(args: any, context: RequestContext): PromptOutput | Promise<PromptOutput>
}

/** What the callbacks are given: one object, so that callbacks written for other frameworks run unchanged. */
export interface PromptRequest {
  context: RequestContext
  extra: RequestContext['mcp']['extra']
}

/** A prompt as callbacks list it; several versions may share a name, and the first one is the default. */
export type VersionedPrompt = Prompt & { version?: string }

/** Prompts that only your code can list and fill in. */
export interface PromptCallbacks {
  listPrompts(request: PromptRequest): readonly VersionedPrompt[] | Promise<readonly VersionedPrompt[]>
  getPromptMessages(
    request: PromptRequest & { name: string; version?: string; args: Record<string, string> },
  ): PromptOutput | Promise<PromptOutput>
  /** Suggests values for a prompt's arguments, by prompt name. */
  complete?: { readonly [prompt: string]: Completers }
}

/** Callbacks, or declarations by name. */
export type PromptsConfig = PromptCallbacks | { readonly [name: string]: AnyPrompt }

/**
 * Declares a prompt.
 *
 * ```ts
 * const review = createPrompt({
 *   description: 'Review some code',
 *   argsSchema: z.object({ code: z.string(), language: z.string().optional() }),
 *   complete: { language: (value) => ['typescript', 'python'].filter((name) => name.startsWith(value)) },
 *   get: ({ code }) => `Please review:\n${code}`,
 * })
 * ```
 */
export function createPrompt<Args extends Schema | undefined = undefined>(
  config: PromptConfig<Args>,
): PromptConfig<Args> {
  return config
}

export interface CompiledPrompt {
  readonly name: string
  readonly prompt: Prompt
  readonly json: string
  readonly args: CompiledSchema | undefined
  readonly required: readonly string[]
  readonly config: AnyPrompt
}

export interface CompiledPrompts {
  readonly declared: ReadonlyMap<string, CompiledPrompt>
  readonly callbacks: PromptCallbacks | undefined
}

function isPromptCallbacks(config: PromptsConfig): config is PromptCallbacks {
  return typeof (config as PromptCallbacks).listPrompts === 'function'
}

/**
 * Compiles prompts once.
 *
 * @throws TypeError for an unusable `argsSchema` or a prompt without `get`.
 */
export function compilePrompts(
  config: PromptsConfig | undefined,
  registered: readonly (readonly [string, AnyPrompt])[],
): CompiledPrompts {
  const callbacks = config !== undefined && isPromptCallbacks(config) ? config : undefined
  if (callbacks !== undefined && typeof callbacks.getPromptMessages !== 'function') {
    throw new TypeError('prompts has listPrompts but no getPromptMessages: nothing could be filled in.')
  }
  const declarations =
    config === undefined || callbacks !== undefined
      ? []
      : Object.entries(config as { [name: string]: AnyPrompt })
  const declared = new Map<string, CompiledPrompt>()
  for (const [name, prompt] of [...declarations, ...registered]) {
    if (declared.has(name)) throw new TypeError(`Prompt "${name}" is declared twice.`)
    declared.set(name, compilePrompt(name, prompt))
  }
  return { declared, callbacks }
}

function compilePrompt(name: string, config: AnyPrompt): CompiledPrompt {
  if (typeof config?.get !== 'function') throw new TypeError(`Prompt "${name}" has no get function.`)
  const args =
    config.argsSchema === undefined
      ? undefined
      : compileSchema(config.argsSchema, `argsSchema of prompt "${name}"`)
  const { properties = {}, required = [] } = (args?.jsonSchema ?? {}) as {
    properties?: Record<string, { title?: string; description?: string }>
    required?: string[]
  }
  const list = Object.entries(properties).map(([argument, { title, description }]) => ({
    name: argument,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    required: required.includes(argument),
  }))
  const prompt: Prompt = {
    name,
    ...(config.title !== undefined && { title: config.title }),
    ...(config.description !== undefined && { description: config.description }),
    ...(list.length > 0 && { arguments: list }),
    ...(config.icons !== undefined && { icons: config.icons }),
    ...(config._meta !== undefined && { _meta: config._meta }),
  }
  return { name, prompt, json: JSON.stringify(prompt), args, required, config }
}

/** What a prompt returned, as the result on the wire. */
export function toPromptResult(output: PromptOutput, description: string | undefined): GetPromptResult {
  const described = description === undefined ? {} : { description }
  if (typeof output === 'string') {
    return { ...described, messages: [{ role: 'user', content: { type: 'text', text: output } }] }
  }
  if (Array.isArray(output)) return { ...described, messages: [...output] }
  return { ...described, ...(output as GetPromptResult) }
}

/**
 * Prompts: declared one by one, or answered by callbacks, and their compiled form.
 */

import type { Completers } from './completion.ts'
import type { GetPromptResult, Icon, Meta, PromptMessage } from './content.ts'
import type { McpContext } from './context.ts'
import { present } from './present.ts'
import {
  type CompiledSchema,
  compileSchema,
  type InferInput,
  type InferOutput,
  type Schema,
} from './schema.ts'
import { type Names, refuseMisspelt, refuseUnknown, requireOptions } from './unknown-option.ts'

/** An argument of a prompt as `prompts/list` shows it. */
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
  /**
   * Only for prompts listed by callbacks; clients see it as `_meta.version`. Several prompts may share a name; the first is the default.
   */
  version?: string
}

/** What a prompt may return: the user's text, messages, or the whole result. `prompt` in a result names the prompt, as in Mastra. */
export type PromptOutput = string | readonly PromptMessage[] | (GetPromptResult & { prompt?: Prompt })

/** A declared prompt. Its arguments are strings on the wire; `get` receives them validated by `argsSchema`. */
export interface PromptConfig<Args extends Schema | undefined = Schema | undefined> {
  title?: string
  description?: string
  argsSchema?: Args
  /** Suggests values for the arguments. */
  complete?: Completers
  icons?: Icon[]
  _meta?: Meta
  /** The scopes that the caller's token must have, if the server has `auth`. Default: none. */
  scopes?: readonly string[]
  get(
    args: Args extends Schema ? InferOutput<Args> : Record<string, string>,
    context: McpContext,
  ): PromptOutput | Promise<PromptOutput>
}

/** A declared prompt with any schema. */
export type AnyPrompt = Omit<PromptConfig, 'get'> & {
  // biome-ignore lint/suspicious/noExplicitAny: parameters are contravariant, so only `any` accepts every prompt.
  get(args: any, context: McpContext): PromptOutput | Promise<PromptOutput>
}

/** The argument of the callbacks. */
export interface PromptRequest {
  context: McpContext
}

/** Prompts that your code lists and fills in. */
export interface PromptCallbacks<Request = PromptRequest> {
  listPrompts(request: Request): readonly Prompt[] | Promise<readonly Prompt[]>
  getPromptMessages(
    request: Request & { name: string; version?: string; args: Record<string, string> },
  ): PromptOutput | Promise<PromptOutput>
  /** Suggests values for a prompt's arguments, by prompt name. */
  complete?: { readonly [prompt: string]: Completers }
}

/** Callbacks, or declarations by name. */
export type PromptsConfig<Request = PromptRequest> =
  | PromptCallbacks<Request>
  | { readonly [name: string]: AnyPrompt }

const OPTIONS: Names<PromptConfig> = {
  title: 'string',
  description: 'string',
  argsSchema: 'object',
  complete: 'object',
  icons: 'object',
  _meta: 'object',
  scopes: 'strings',
  get: 'function',
}
const CALLBACKS: Names<PromptCallbacks> = {
  listPrompts: 'function',
  getPromptMessages: 'function',
  complete: 'object',
}

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
 *
 * @throws TypeError for an unknown option.
 */
export function createPrompt<Args extends Schema | undefined = undefined>(
  config: PromptConfig<Args> & TakesStrings<Args>,
): PromptConfig<Args> {
  requireOptions('createPrompt', config, OPTIONS, 'get')
  return config
}

/** Prompt arguments are strings: a schema that does not accept strings for an argument could never match. */
type TakesStrings<Args> = Args extends Schema
  ? {
      [Name in keyof InferInput<Args>]: Extract<InferInput<Args>[Name], string> extends never
        ? unknown extends InferInput<Args>[Name]
          ? never
          : Name
        : never
    }[keyof InferInput<Args>] extends infer Wrong
    ? [Exclude<Wrong, undefined>] extends [never]
      ? unknown
      : { argsSchema: 'Prompt arguments are strings: use a coercing schema, such as z.coerce.number().' }
    : unknown
  : unknown

/** A prompt ready to serve. Members that depend on `argsSchema` throw a TypeError if it is invalid. */
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

/** @throws TypeError for an unknown option, and for `listPrompts` without `getPromptMessages`, which Mastra allows. */
export function checkPrompts(config: PromptsConfig | undefined): void {
  if (config === undefined) return
  if (!isPromptCallbacks(config)) {
    for (const [name, prompt] of Object.entries(config)) checkPrompt(name, prompt)
    return
  }
  refuseMisspelt('"prompts"', config, CALLBACKS)
  if (typeof config.getPromptMessages === 'function') return
  throw new TypeError(
    '"prompts" has listPrompts but no getPromptMessages: add it, so that clients can get a prompt.',
  )
}

/** @throws TypeError for an unknown option. */
export function checkPrompt(name: string, prompt: AnyPrompt): void {
  refuseUnknown(`Prompt "${name}"`, prompt, OPTIONS)
}

export function isPromptCallbacks(config: PromptsConfig): config is PromptCallbacks {
  return typeof (config as PromptCallbacks).listPrompts === 'function'
}

/** @throws TypeError for a prompt without `get`, and for two with the same name. */
export function compilePrompts(
  config: PromptsConfig | undefined,
  registered: readonly (readonly [string, AnyPrompt])[],
): CompiledPrompts {
  const callbacks = config !== undefined && isPromptCallbacks(config) ? config : undefined
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
  return new LazyPrompt(name, config)
}

/** Compiled at its first use, like tools. */
class LazyPrompt implements CompiledPrompt {
  readonly name: string
  readonly config: AnyPrompt
  #compiled: Pick<CompiledPrompt, 'prompt' | 'args' | 'required'> | undefined
  #json: string | undefined

  constructor(name: string, config: AnyPrompt) {
    this.name = name
    this.config = config
  }

  get prompt(): Prompt {
    return this.#compile().prompt
  }

  get args(): CompiledSchema | undefined {
    return this.#compile().args
  }

  get required(): readonly string[] {
    return this.#compile().required
  }

  get json(): string {
    this.#json ??= JSON.stringify(this.prompt)
    return this.#json
  }

  #compile(): Pick<CompiledPrompt, 'prompt' | 'args' | 'required'> {
    this.#compiled ??= compileArguments(this.name, this.config)
    return this.#compiled
  }
}

function compileArguments(
  name: string,
  { argsSchema, title, description, icons, _meta }: AnyPrompt,
): Pick<CompiledPrompt, 'prompt' | 'args' | 'required'> {
  const args =
    argsSchema === undefined ? undefined : compileSchema(argsSchema, `argsSchema of prompt "${name}"`)
  const { properties = {}, required = [] } = (args?.jsonSchema ?? {}) as {
    properties?: Record<string, { title?: string; description?: string }>
    required?: string[]
  }
  const list = Object.entries(properties).map(([name, { title, description }]) =>
    present<PromptArgument>({ name, title, description, required: required.includes(name) }),
  )
  const prompt = present<Prompt>({
    name,
    title,
    description,
    arguments: list.length > 0 ? list : undefined,
    icons,
    _meta,
    version: undefined,
  })
  return { prompt, args, required }
}

/**
 * `prompts/list` and `prompts/get`.
 */
import type { GetPromptResult } from '../definition/content.ts'
import type { CompiledPrompt, Prompt, PromptOutput, PromptRequest } from '../definition/prompt.ts'
import { invalidParams } from '../definition/protocol-error.ts'
import { describeIssues } from '../definition/schema.ts'
import type { RequestOptions } from './extension.ts'
import { type MethodResult, toMethodResult } from './method-result.ts'
import { pageMembers, pageStart } from './pagination.ts'
import {
  optionalObjectParam,
  optionalStringParam,
  type Params,
  stringParam,
  stringRecordParam,
} from './params.ts'
import type { RequestScope } from './request-server.ts'

export async function listPrompts(
  scope: RequestScope,
  params: Params,
  options: RequestOptions,
): Promise<MethodResult> {
  const { declared } = scope.definition.prompts
  const items = Array.from(declared.values())
    .filter(({ name, config }) => scope.allows({ kind: 'prompt', name, scopes: config.scopes }))
    .map(({ json }) => json)
  for (const prompt of await callbackPrompts(scope)) {
    if (!scope.allows({ kind: 'prompt', name: prompt.name, scopes: undefined })) continue
    items.push(JSON.stringify(toListed(prompt)))
  }
  return {
    members: pageMembers(
      'prompts',
      items,
      pageStart(params, items.length, options.pageSize),
      options.pageSize,
    ),
  }
}

/** @throws ProtocolError `-32602` for an unknown prompt or version, and for missing or invalid arguments. */
export async function getPrompt(scope: RequestScope, params: Params): Promise<MethodResult> {
  const name = stringParam(params, 'name')
  const args = stringRecordParam(params, 'arguments')
  const declared = scope.definition.prompts.declared.get(name)
  scope.requireAccess({ kind: 'prompt', name, scopes: declared?.config.scopes })
  return declared === undefined
    ? getCallbackPrompt(scope, name, versionOf(params), args)
    : getDeclaredPrompt(scope, declared, args)
}

/** MCP has no prompt versions: a client names one in `version`, or in `_meta.version`. */
function versionOf(params: Params): string | undefined {
  return (
    optionalStringParam(params, 'version') ??
    optionalStringParam(optionalObjectParam(params, '_meta'), 'version')
  )
}

async function getDeclaredPrompt(
  scope: RequestScope,
  { name, config, args: schema, required }: CompiledPrompt,
  args: Record<string, string>,
): Promise<MethodResult> {
  refuseMissing(name, required, args)
  const validation = schema === undefined ? { ok: true as const, value: args } : await schema.validate(args)
  if (!validation.ok)
    throw invalidParams(
      `Invalid arguments for prompt ${name} (all arguments are strings): ${describeIssues(validation.issues)}`,
    )
  return toMethodResult(toPromptResult(await config.get(validation.value, scope.context), config.description))
}

async function getCallbackPrompt(
  scope: RequestScope,
  name: string,
  version: string | undefined,
  args: Record<string, string>,
): Promise<MethodResult> {
  const prompts = await callbackPrompts(scope)
  const prompt = prompts.find(
    (one) => one.name === name && (version === undefined || one.version === version),
  )
  if (prompt === undefined) {
    scope.requireKnown('prompt', name)
    throw invalidParams(
      version === undefined ? `Unknown prompt: ${name}` : `Unknown prompt: ${name}, version ${version}`,
    )
  }
  const required = (prompt.arguments ?? [])
    .filter((argument) => argument.required)
    .map((argument) => argument.name)
  refuseMissing(name, required, args)
  const chosen = version ?? prompt.version
  const output = await scope.definition.prompts.callbacks!.getPromptMessages({
    name,
    ...(chosen !== undefined && { version: chosen }),
    args,
    ...callbackRequest(scope),
  })
  return toMethodResult(toPromptResult(output, prompt.description))
}

async function callbackPrompts(scope: RequestScope): Promise<readonly Prompt[]> {
  return (await scope.definition.prompts.callbacks?.listPrompts(callbackRequest(scope))) ?? []
}

function callbackRequest({ context }: RequestScope): PromptRequest {
  return { context }
}

function refuseMissing(name: string, required: readonly string[], args: Record<string, string>): void {
  const missing = required.filter((argument) => !Object.hasOwn(args, argument))
  if (missing.length > 0)
    throw invalidParams(`Missing required arguments for prompt ${name}: ${missing.join(', ')}`)
}

/** MCP's `Prompt` has no `version`, so it is sent in `_meta`. */
function toListed({ version, ...prompt }: Prompt): object {
  return version === undefined ? prompt : { ...prompt, _meta: { ...prompt._meta, version } }
}

/** The output of a prompt as a `GetPromptResult`. */
function toPromptResult(output: PromptOutput, description: string | undefined): GetPromptResult {
  const described = description === undefined ? {} : { description }
  if (typeof output === 'string') {
    return { ...described, messages: [{ role: 'user', content: { type: 'text', text: output } }] }
  }
  if (Array.isArray(output)) return { ...described, messages: [...output] }
  const { prompt: _, ...result } = output as GetPromptResult & { prompt?: Prompt }
  return { ...described, ...result }
}

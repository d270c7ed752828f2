/**
 * `resources/list`, `resources/templates/list`, `resources/read`, and the legacy `resources/subscribe`.
 */
import { ErrorCode, invalidParams, ProtocolError } from '../definition/protocol-error.ts'
import {
  type CompiledResources,
  type ReadAnswer,
  type ResourceRequest,
  toResourceContents,
} from '../definition/resource.ts'
import type { Access, Guarded } from './access.ts'
import type { RequestOptions } from './options.ts'
import { pageMembers, pageStart } from './pagination.ts'
import { type Params, stringParam } from './params.ts'
import type { RequestScope } from './request-server.ts'
import { type MethodResult, toMethodResult } from './result.ts'

export async function listResources(
  scope: RequestScope,
  params: Params,
  options: RequestOptions,
): Promise<MethodResult> {
  const { fixed, callbacks } = scope.definition.resources
  const items = Array.from(fixed.values())
    .filter(({ config }) => scope.allows(guardedBy(config.uri, config)))
    .map(({ json }) => json)
  const more = callbacks === undefined ? [] : await callbacks.listResources(callbackRequest(scope))
  for (const resource of more) {
    if (scope.allows(guardedBy(resource.uri))) items.push(JSON.stringify(resource))
  }
  return {
    members: pageMembers(
      'resources',
      items,
      pageStart(params, items.length, options.pageSize),
      options.pageSize,
    ),
  }
}

export async function listResourceTemplates(
  scope: RequestScope,
  params: Params,
  options: RequestOptions,
): Promise<MethodResult> {
  const { templates, callbacks } = scope.definition.resources
  const items = templates
    .filter(({ config }) => scope.allows(guardedBy(config.uriTemplate, config)))
    .map(({ json }) => json)
  const more = (await callbacks?.resourceTemplates?.(callbackRequest(scope))) ?? []
  for (const template of more) {
    if (scope.allows(guardedBy(template.uriTemplate))) items.push(JSON.stringify(template))
  }
  const start = pageStart(params, items.length, options.pageSize)
  return { members: pageMembers('resourceTemplates', items, start, options.pageSize) }
}

/** @throws ProtocolError for an unknown URI: `-32602` with `data.uri`, in the legacy era `-32002`. */
export async function readResource(scope: RequestScope, params: Params): Promise<MethodResult> {
  const uri = stringParam(params, 'uri')
  const { answer, mimeType } = await read(scope, uri)
  if (answer === undefined || answer === null) throw unknownResource(scope, uri)
  return toMethodResult({ contents: toResourceContents(answer, uri, mimeType) } as object)
}

/**
 * Legacy only. Subscribing is acknowledged for clients that do it without asking what is advertised: no update can
 * follow, which is why `subscribe` is not advertised (see the degradation matrix).
 */
export function acknowledgeSubscription(params: Params): MethodResult {
  stringParam(params, 'uri')
  return { members: '' }
}

/** Whether a caller may hear of changes of `uri`. */
export function mayRead(
  { fixed, templates }: CompiledResources,
  access: Access | undefined,
  uri: string,
): boolean {
  if (access === undefined) return true
  const declared = fixed.get(uri)?.config
  if (declared !== undefined) return access.allows(guardedBy(uri, declared))
  const matched = templates.find(({ template }) => template.match(uri) !== undefined)?.config
  return access.allows(matched === undefined ? guardedBy(uri) : guardedBy(matched.uriTemplate, matched))
}

/** Asks whoever knows the URI: a fixed resource, the first template that matches, or the callback. */
async function read(
  scope: RequestScope,
  uri: string,
): Promise<{ answer: ReadAnswer; mimeType?: string | undefined }> {
  const { fixed, templates, callbacks } = scope.definition.resources
  const declared = fixed.get(uri)?.config
  if (declared !== undefined) {
    scope.requireAccess(guardedBy(uri, declared))
    return { answer: await declared.read({ uri, variables: {} }, scope.context), mimeType: declared.mimeType }
  }
  for (const { template, config } of templates) {
    const variables = template.match(uri)
    if (variables === undefined) continue
    scope.requireAccess(guardedBy(config.uriTemplate, config))
    return { answer: await config.read({ uri, variables }, scope.context), mimeType: config.mimeType }
  }
  if (callbacks === undefined) return { answer: undefined }
  scope.requireAccess(guardedBy(uri))
  return { answer: await callbacks.getResourceContent({ uri, ...callbackRequest(scope) }) }
}

/** What is declared under `name`, a URI or a URI template; what callbacks list needs no scope. */
export function guardedBy(name: string, config: { scopes?: readonly string[] } = {}): Guarded {
  return { kind: 'resource', name, scopes: config.scopes }
}

function callbackRequest({ context }: RequestScope): ResourceRequest {
  return { context, extra: context.mcp.extra }
}

function unknownResource({ context }: RequestScope, uri: string): ProtocolError {
  return context.era === 'modern'
    ? invalidParams('Resource not found', { uri })
    : new ProtocolError(ErrorCode.resourceNotFound, 'Resource not found', { uri })
}

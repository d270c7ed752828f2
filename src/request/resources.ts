/**
 * `resources/list`, `resources/templates/list`, `resources/read`, and the legacy `resources/subscribe`.
 */
import { ErrorCode, invalidParams, ProtocolError } from '../definition/protocol-error.ts'
import { type ReadAnswer, type ResourceRequest, toResourceContents } from '../definition/resource.ts'
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
  const items = Array.from(fixed.values(), ({ json }) => json)
  const more = callbacks === undefined ? [] : await callbacks.listResources(callbackRequest(scope))
  for (const resource of more) items.push(JSON.stringify(resource))
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
  const items = templates.map(({ json }) => json)
  const more = (await callbacks?.resourceTemplates?.(callbackRequest(scope))) ?? []
  for (const template of more) items.push(JSON.stringify(template))
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

/** Asks whoever knows the URI: a fixed resource, the first template that matches, or the callback. */
async function read(
  scope: RequestScope,
  uri: string,
): Promise<{ answer: ReadAnswer; mimeType?: string | undefined }> {
  const { fixed, templates, callbacks } = scope.definition.resources
  const declared = fixed.get(uri)?.config
  if (declared !== undefined) {
    return { answer: await declared.read({ uri, variables: {} }, scope.context), mimeType: declared.mimeType }
  }
  for (const { template, config } of templates) {
    const variables = template.match(uri)
    if (variables === undefined) continue
    return { answer: await config.read({ uri, variables }, scope.context), mimeType: config.mimeType }
  }
  return { answer: await callbacks?.getResourceContent({ uri, ...callbackRequest(scope) }) }
}

function callbackRequest({ context }: RequestScope): ResourceRequest {
  return { context, extra: context.mcp.extra }
}

function unknownResource({ context }: RequestScope, uri: string): ProtocolError {
  return context.era === 'modern'
    ? invalidParams('Resource not found', { uri })
    : new ProtocolError(ErrorCode.resourceNotFound, 'Resource not found', { uri })
}

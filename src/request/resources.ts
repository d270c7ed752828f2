/**
 * `resources/list`, `resources/templates/list`, `resources/read`, and the legacy `resources/subscribe`.
 */
import { ErrorCode, invalidParams, ProtocolError } from '../definition/protocol-error.ts'
import { type ReadOutput, type ResourceRequest, toResourceContents } from '../definition/resource.ts'
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
  const found = await read(scope, uri)
  if (found === undefined) throw unknownResource(scope, uri)
  return toMethodResult({ contents: toResourceContents(found.output, uri, found.mimeType) } as object)
}

/**
 * Legacy only. Subscribing is acknowledged for clients that do it without asking what is advertised: no update can
 * follow, which is why `subscribe` is not advertised (see the degradation matrix).
 */
export function acknowledgeSubscription(params: Params): MethodResult {
  stringParam(params, 'uri')
  return { members: '' }
}

async function read(
  scope: RequestScope,
  uri: string,
): Promise<{ output: ReadOutput; mimeType: string | undefined } | undefined> {
  const { fixed, templates, callbacks } = scope.definition.resources
  const declared = fixed.get(uri)
  if (declared !== undefined) {
    return {
      output: await declared.config.read({ uri, variables: {} }, scope.context),
      mimeType: declared.resource.mimeType,
    }
  }
  for (const { template, config } of templates) {
    const variables = template.match(uri)
    if (variables !== undefined) {
      return { output: await config.read({ uri, variables }, scope.context), mimeType: config.mimeType }
    }
  }
  const output = await callbacks?.getResourceContent({ uri, ...callbackRequest(scope) })
  return output === undefined || output === null ? undefined : { output, mimeType: undefined }
}

function callbackRequest({ context }: RequestScope): ResourceRequest {
  return { context, extra: context.mcp.extra }
}

function unknownResource({ context }: RequestScope, uri: string): ProtocolError {
  return context.era === 'modern'
    ? invalidParams('Resource not found', { uri })
    : new ProtocolError(ErrorCode.resourceNotFound, 'Resource not found', { uri })
}

/**
 * `resources/list`, `resources/templates/list`, `resources/read`, and the legacy `resources/subscribe`.
 */

import type { Env } from '../definition/context.ts'
import { isA } from '../definition/error-text.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import type {
  CompiledResources,
  ReadAnswer,
  ResourceRequest,
  SubscribeContext,
} from '../definition/resource.ts'
import { withTimeout } from '../definition/timeout.ts'
import { templateOf } from '../definition/uri-template.ts'
import { BUS_TIMEOUT_MS } from '../events/outage.ts'
import { type Access, type Guarded, guardedBy } from './access.ts'
import type { RequestOptions } from './extension.ts'
import { type MethodResult, toMethodResult } from './method-result.ts'
import { ownAuth } from './own-auth.ts'
import { pageMembers, pageStart } from './pagination.ts'
import { type Params, stringParam } from './params.ts'
import type { Subscriber } from './platform.ts'
import type { RequestScope } from './request-server.ts'
import { toResourceContents } from './resource-contents.ts'
import { type Found, guardsOf } from './resource-guards.ts'

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

/** Whether a caller may be notified of changes of `uri`: only if a resource answers it and the caller may use that resource. */
export function mayRead(resources: CompiledResources, access: Access | undefined, uri: string): boolean {
  return access === undefined || mayUse(resources, access, uri, findResource(resources, uri))
}

function mayUse(
  resources: CompiledResources,
  access: Access,
  uri: string,
  found: Found | undefined,
): boolean {
  if (found === undefined) return false
  const allows = (item: Guarded): boolean => access.allows(item)
  for (const item of guardsOf(resources, uri, found, allows)) if (!allows(item)) return false
  return true
}

/**
 * Of the URIs, those of whose changes a caller may be notified.
 *
 * @throws Error if `canSubscribe` takes too long for all of them, and what it throws.
 */
export function subscribable(
  resources: CompiledResources,
  uris: readonly string[],
  { access, auth, platform }: Subscriber,
): Promise<string[]> {
  const context: SubscribeContext = { auth: auth && ownAuth(auth), env: (platform.env ?? {}) as Env }
  const ask = async (): Promise<string[]> => {
    const allowed: string[] = []
    for (const uri of uris) {
      const found = findResource(resources, uri)
      if (access !== undefined && !mayUse(resources, access, uri, found)) continue
      const { config, variables = {} } = found ?? {}
      const asked = config ?? resources.callbacks
      // One after another: each may be a query, and a client names up to a thousand.
      if (!asked?.canSubscribe || (await asked.canSubscribe({ uri, variables }, context)) === true)
        allowed.push(uri)
    }
    return allowed
  }
  return withTimeout(ask(), BUS_TIMEOUT_MS, 'canSubscribe')
}

async function read(
  scope: RequestScope,
  uri: string,
): Promise<{ answer: ReadAnswer; mimeType?: string | undefined }> {
  const { resources } = scope.definition
  const found = findResource(resources, uri)
  if (found === undefined) {
    scope.requireKnown('resource', uri)
    return { answer: undefined }
  }
  if (scope.hasAccess) {
    const allows = (item: Guarded): boolean => scope.allows(item)
    for (const item of guardsOf(resources, uri, found, allows)) scope.requireAccess(item, uri)
  }
  const { config, variables } = found
  try {
    return config === undefined
      ? { answer: await resources.callbacks!.getResourceContent({ uri, ...callbackRequest(scope) }) }
      : { answer: await config.read({ uri, variables }, scope.context), mimeType: config.mimeType }
  } catch (error) {
    const isUnknown = isA(error, ProtocolError) && error.code === ErrorCode.resourceNotFound
    throw isUnknown ? unknownResource(scope, uri, error) : error
  }
}

/** Finds what serves a URI: a fixed resource unless a template before it matches, the first template that does, or the callbacks. */
export function findResource(
  { fixed, templates, callbacks }: CompiledResources,
  uri: string,
): Found | undefined {
  const declared = fixed.get(uri)
  for (const { config } of declared === undefined ? templates : templates.slice(0, declared.after ?? 0)) {
    const template = templateOf(config)
    const variables = template.match(uri)
    if (variables !== undefined) return { config, variables, template }
  }
  if (declared !== undefined) return { config: declared.config, variables: {} }
  return callbacks && { variables: {} }
}

function callbackRequest({ context }: RequestScope): ResourceRequest {
  return { context }
}

function unknownResource(
  { context }: RequestScope,
  uri: string,
  { message }: { readonly message: string } = { message: 'Resource not found' },
): ProtocolError {
  const code = context.era === 'modern' ? ErrorCode.invalidParams : ErrorCode.resourceNotFound
  return new ProtocolError(code, message, { uri })
}

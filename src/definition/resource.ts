/**
 * Resources: declared one by one, or answered by callbacks, and their compiled form.
 */

import type { Completers } from './completion.ts'
import type { Annotations, Icon, Meta } from './content.ts'
import type { McpContext } from './context.ts'
import { templateVariables } from './template-variables.ts'
import { type Known, type Names, refuseMisspelt, requireOptions } from './unknown-option.ts'

interface ResourceFacts {
  name: string
  title?: string
  description?: string
  mimeType?: string
  annotations?: Annotations
  icons?: Icon[]
  _meta?: Meta
}

/** A resource as `resources/list` shows it. */
export interface Resource extends ResourceFacts {
  uri: string
  /** Size in bytes, if known. */
  size?: number
}

/** A template as `resources/templates/list` shows it. */
export interface ResourceTemplate extends ResourceFacts {
  uriTemplate: string
}

/** One part of a resource: text, or bytes (base64 text or `Uint8Array`). `uri` and `mimeType` default to those of the resource. */
export type ResourceContent =
  | { text: string; uri?: string; mimeType?: string; _meta?: Meta }
  | { blob: string | Uint8Array; uri?: string; mimeType?: string; _meta?: Meta }

/** What a read may return: text, bytes, one part, several parts, or the whole result. */
export type ReadOutput =
  | string
  | Uint8Array
  | ResourceContent
  | readonly ResourceContent[]
  | { contents: readonly ResourceContent[] }

/** The result of a read. Undefined or null means an unknown URI: the client receives "resource not found". */
export type ReadAnswer = ReadOutput | undefined | null

/** The caller that subscribes. */
export type SubscribeContext = Pick<McpContext, 'auth' | 'env'>

/** If it returns false or throws, the caller silently gets no notifications for that URI. */
export type CanSubscribe = (
  request: { uri: string; variables: Record<string, string> },
  context: SubscribeContext,
) => boolean | Promise<boolean>

/** A resource at a fixed URI. */
export interface FixedResourceConfig extends Omit<Resource, 'name'> {
  name?: string
  /** The scopes that the caller's token must have, if the server has `auth`. Default: none. */
  scopes?: readonly string[]
  /** Whether this caller may be notified of changes of a URI: called once per subscription. Default: only the scopes decide. */
  canSubscribe?: CanSubscribe
  read(
    request: { uri: string; variables: Record<string, string> },
    context: McpContext,
  ): ReadAnswer | Promise<ReadAnswer>
}

/** The resources that match an RFC 6570 template. */
export interface TemplateResourceConfig extends Omit<ResourceTemplate, 'name'> {
  name?: string
  /** The scopes that the caller's token must have, if the server has `auth`. Default: none. */
  scopes?: readonly string[]
  /** Whether this caller may be notified of changes of a URI: called once per subscription. Default: only the scopes decide. */
  canSubscribe?: CanSubscribe
  /** Suggests values for the template's variables. */
  complete?: Completers
  read(
    request: { uri: string; variables: Record<string, string> },
    context: McpContext,
  ): ReadAnswer | Promise<ReadAnswer>
}

/** A declared resource, for `createResource`. */
export type ResourceConfig = FixedResourceConfig | TemplateResourceConfig

/** The argument of the callbacks. */
export interface ResourceRequest {
  context: McpContext
}

/** Resources that your code lists and reads. */
export interface ResourceCallbacks<Request = ResourceRequest> {
  listResources(request: Request): readonly Resource[] | Promise<readonly Resource[]>
  getResourceContent(request: Request & { uri: string }): ReadAnswer | Promise<ReadAnswer>
  resourceTemplates?(request: Request): readonly ResourceTemplate[] | Promise<readonly ResourceTemplate[]>
  /** Whether this caller may be notified of changes of a URI: called once per subscription. Default: only the scopes decide. */
  canSubscribe?: CanSubscribe
}

/** Callbacks, or declarations: a list, or a record whose keys are the names. */
export type ResourcesConfig<Request = ResourceRequest> =
  | ResourceCallbacks<Request>
  | readonly ResourceConfig[]
  | { readonly [name: string]: ResourceConfig }

const COMMON = {
  name: 'string',
  title: 'string',
  description: 'string',
  mimeType: 'string',
  annotations: 'object',
  icons: 'object',
  _meta: 'object',
  scopes: 'strings',
  canSubscribe: 'function',
  read: 'function',
} as const
const FIXED: Names<FixedResourceConfig> = { uri: 'string', ...COMMON, size: [0] }
const TEMPLATE: Names<TemplateResourceConfig> = { uriTemplate: 'string', ...COMMON, complete: 'object' }
const CALLBACKS: Names<ResourceCallbacks> = {
  listResources: 'function',
  getResourceContent: 'function',
  resourceTemplates: 'function',
  canSubscribe: 'function',
}

/** @throws TypeError for an unknown option. */
export function checkResource(where: string, config: ResourceConfig): void {
  requireOptions(where, config, Object.hasOwn(config ?? {}, 'uriTemplate') ? TEMPLATE : FIXED)
}

/** @throws TypeError for an unknown option. */
export function checkResources(config: ResourcesConfig | undefined): void {
  if (config === undefined) return
  if (isResourceCallbacks(config)) refuseMisspelt('"resources"', config, CALLBACKS)
  else for (const [name, one] of Object.entries(config)) checkResource(`Resource "${name}"`, one)
}

/**
 * Declares a resource: `uri` for a fixed one, `uriTemplate` for several.
 *
 * ```ts
 * const user = createResource({
 *   uriTemplate: 'users://{id}',
 *   mimeType: 'application/json',
 *   complete: { id: (value) => ['1', '2'].filter((id) => id.startsWith(value)) },
 *   read: ({ variables }) => JSON.stringify({ id: variables.id }),
 * })
 * ```
 *
 * @throws TypeError for an unknown option.
 */
export function createResource<Config extends ResourceConfig>(
  config: Config & Known<Config, ResourceConfig>,
): Config {
  checkResource('createResource', config)
  if (typeof config.read !== 'function') throw new TypeError('createResource needs "read".')
  return config
}

export interface CompiledFixedResource {
  readonly resource: Resource
  readonly json: string
  readonly config: FixedResourceConfig
  /** How many of the templates come before it, and so serve its URI if they match. Undefined: none. */
  readonly after?: number
}

export interface CompiledTemplateResource {
  readonly resourceTemplate: ResourceTemplate
  readonly json: string
  readonly config: TemplateResourceConfig
}

export interface CompiledResources {
  readonly fixed: ReadonlyMap<string, CompiledFixedResource>
  readonly templates: readonly CompiledTemplateResource[]
  readonly callbacks: ResourceCallbacks | undefined
}

/** Whether the configuration uses callbacks. */
export function isResourceCallbacks(config: ResourcesConfig): config is ResourceCallbacks {
  return typeof (config as ResourceCallbacks).listResources === 'function'
}

/**
 * Compiles resources once.
 *
 * @throws TypeError for a declaration without `uri` or `uriTemplate`, a URI declared twice, or an invalid template.
 */
export function compileResources(
  config: ResourcesConfig | undefined,
  registered: readonly ResourceConfig[],
): CompiledResources {
  const callbacks = config !== undefined && isResourceCallbacks(config) ? config : undefined
  if (callbacks !== undefined && typeof callbacks.getResourceContent !== 'function') {
    throw new TypeError(
      '"resources" has listResources but no getResourceContent: add it, so that clients can read a resource.',
    )
  }
  const declared =
    config === undefined || callbacks !== undefined
      ? []
      : declarations(config as Exclude<ResourcesConfig, ResourceCallbacks>)
  const fixed = new Map<string, CompiledFixedResource>()
  const templates: CompiledTemplateResource[] = []
  for (const resource of [...declared, ...registered]) {
    if (typeof resource.read !== 'function')
      throw new TypeError(`Resource ${JSON.stringify(resource.name)} has no read function.`)
    if ('uriTemplate' in resource) {
      const {
        read: _read,
        complete: _complete,
        scopes: _scopes,
        canSubscribe: _canSubscribe,
        ...facts
      } = resource
      const resourceTemplate = { ...facts, name: resource.name ?? resource.uriTemplate }
      // Only checked: most calls of a server compare no URI with it.
      templateVariables(resource.uriTemplate)
      templates.push({ resourceTemplate, json: JSON.stringify(resourceTemplate), config: resource })
      continue
    }
    if (typeof resource.uri !== 'string') throw new TypeError('A resource needs a uri or a uriTemplate.')
    if (fixed.has(resource.uri)) throw new TypeError(`Resource ${resource.uri} is declared twice.`)
    const { read: _read, scopes: _scopes, canSubscribe: _canSubscribe, ...facts } = resource
    const listed = { ...facts, name: resource.name ?? resource.uri }
    fixed.set(resource.uri, { resource: listed, json: JSON.stringify(listed), config: resource })
  }
  return { fixed, templates, callbacks }
}

function declarations(
  config: readonly ResourceConfig[] | { readonly [name: string]: ResourceConfig },
): ResourceConfig[] {
  if (Array.isArray(config)) return [...config]
  return Object.entries(config as { readonly [name: string]: ResourceConfig }).map(([name, resource]) => ({
    name,
    ...resource,
  }))
}

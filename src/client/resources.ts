/** `client.resources` and `client.prompts`. */
import type {
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
} from '@modelcontextprotocol/client'
import { type Names, refuseUnknown } from '../definition/unknown-option.ts'
import type { ResourceUpdate } from './changes.ts'
import { type Connection, REQUEST_SETTINGS, type RequestSettings } from './connection.ts'
import { askAllServers, type DiscoveryErrors, type DiscoveryOptions } from './lists-with-errors.ts'
import type { Servers } from './servers.ts'

/** Settings of `prompts.get`. */
export interface PromptSettings extends RequestSettings {
  /** A prompt's version. MCP has none, so it is sent as `_meta.version`. Default: chosen by the server. */
  readonly version?: string | undefined
}

const PROMPT_SETTINGS: Names<PromptSettings> = { ...REQUEST_SETTINGS, version: 'string' }

/** `client.resources`. */
export interface ClientResources<Name extends string> {
  /** The resources of every server that answers, by server. */
  list(): Promise<{ [name in Name]?: Resource[] }>
  /** `list()` with the errors of servers that are missing; `onError` is not called. */
  listWithErrors(
    options?: DiscoveryOptions,
  ): Promise<{ resources: { [name in Name]?: Resource[] } } & DiscoveryErrors<Name>>
  /** The resource templates of every server that answers, by server. */
  templates(): Promise<{ [name in Name]?: ResourceTemplateType[] }>
  /** `templates()` with the errors of servers that are missing; `onError` is not called. */
  templatesWithErrors(
    options?: DiscoveryOptions,
  ): Promise<{ templates: { [name in Name]?: ResourceTemplateType[] } } & DiscoveryErrors<Name>>
  read(server: Name, uri: string, settings?: RequestSettings): Promise<ReadResourceResult>
  /** Subscribes to changes of a resource, for `onUpdated`. Renewed on each new connection. */
  subscribe(server: Name, uri: string): Promise<void>
  /** Ends the subscription to a resource. */
  unsubscribe(server: Name, uri: string): Promise<void>
  /** Calls `listener` for each update. Returns a function that ends this. */
  onUpdated(server: Name, listener: (update: ResourceUpdate) => void): () => void
  /** Resolves once the subscription is active, with a function that ends it. */
  onListChanged(server: Name, listener: () => void): Promise<() => void>
}

/** `client.prompts`. */
export interface ClientPrompts<Name extends string> {
  /** The prompts of every server that answers, by server. */
  list(): Promise<{ [name in Name]?: Prompt[] }>
  /** `list()` with the errors of servers that are missing; `onError` is not called. */
  listWithErrors(
    options?: DiscoveryOptions,
  ): Promise<{ prompts: { [name in Name]?: Prompt[] } } & DiscoveryErrors<Name>>
  get(
    server: Name,
    name: string,
    args?: { readonly [name: string]: string },
    settings?: PromptSettings,
  ): Promise<GetPromptResult>
  /** Resolves once the subscription is active, with a function that ends it. */
  onListChanged(server: Name, listener: () => void): Promise<() => void>
}

export function createClientResources<Name extends string>(servers: Servers<Name>): ClientResources<Name> {
  return {
    list: () => servers.byName((connection) => listResources(connection)),
    listWithErrors: async (options) => {
      const { byName, failures } = await askAllServers(servers, listResources, options)
      return { resources: byName, ...failures }
    },
    templates: () => servers.byName((connection) => listTemplates(connection)),
    templatesWithErrors: async (options) => {
      const { byName, failures } = await askAllServers(servers, listTemplates, options)
      return { templates: byName, ...failures }
    },
    read: async (server, uri, settings) => {
      refuseUnknown('The settings of resources.read', settings, REQUEST_SETTINGS)
      return readResource(servers.of(server), uri, settings)
    },
    subscribe: async (server, uri) => servers.of(server).changes.subscribe(uri),
    unsubscribe: async (server, uri) => servers.of(server).changes.unsubscribe(uri),
    onUpdated: (server, listener) => servers.of(server).changes.onUpdated(listener),
    onListChanged: async (server, listener) =>
      servers.of(server).changes.onListChanged('resources', listener),
  }
}

export function createClientPrompts<Name extends string>(servers: Servers<Name>): ClientPrompts<Name> {
  return {
    list: () => servers.byName((connection) => listPrompts(connection)),
    listWithErrors: async (options) => {
      const { byName, failures } = await askAllServers(servers, listPrompts, options)
      return { prompts: byName, ...failures }
    },
    get: async (server, name, args, settings) => {
      refuseUnknown('The settings of prompts.get', settings, PROMPT_SETTINGS)
      return getPrompt(servers.of(server), name, args, settings)
    },
    onListChanged: async (server, listener) => servers.of(server).changes.onListChanged('prompts', listener),
  }
}

async function listResources(connection: Connection, settings?: RequestSettings): Promise<Resource[]> {
  const ask = connection.request(
    'resources/list',
    (client, options) => client.listResources(undefined, options),
    settings,
  )
  return (await ask).resources
}

async function listTemplates(
  connection: Connection,
  settings?: RequestSettings,
): Promise<ResourceTemplateType[]> {
  const ask = connection.request(
    'resources/templates/list',
    (client, options) => client.listResourceTemplates(undefined, options),
    settings,
  )
  return (await ask).resourceTemplates
}

async function listPrompts(connection: Connection, settings?: RequestSettings): Promise<Prompt[]> {
  const ask = connection.request(
    'prompts/list',
    (client, options) => client.listPrompts(undefined, options),
    settings,
  )
  return (await ask).prompts
}

function readResource(
  connection: Connection,
  uri: string,
  settings?: RequestSettings,
): Promise<ReadResourceResult> {
  return connection.request(
    'resources/read',
    (client, options, params) => client.readResource({ uri, ...params }, options),
    settings,
  )
}

function getPrompt(
  connection: Connection,
  name: string,
  args: { readonly [name: string]: string } = {},
  { version, ...settings }: PromptSettings = {},
): Promise<GetPromptResult> {
  return connection.request(
    'prompts/get',
    (client, options, params) => {
      const _meta = version === undefined ? params._meta : { ...params._meta, version }
      return client.getPrompt(
        { name, arguments: { ...args }, ...params, ...(_meta !== undefined && { _meta }) },
        options,
      )
    },
    settings,
  )
}

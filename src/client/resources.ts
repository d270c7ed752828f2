/** `client.resources` and `client.prompts`. */
import type {
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
} from '@modelcontextprotocol/client'
import type { ResourceUpdate } from './changes.ts'
import type { RequestSettings } from './connection.ts'
import type { Servers } from './servers.ts'

export interface ClientResources<Name extends string> {
  /** The resources of every server that answers, by server. */
  list(): Promise<{ [name in Name]?: Resource[] }>
  /** The resource templates of every server that answers, by server. */
  templates(): Promise<{ [name in Name]?: ResourceTemplateType[] }>
  read(server: Name, uri: string, settings?: RequestSettings): Promise<ReadResourceResult>
  /** Asks to be told of changes of this resource; `onUpdated` hears of them. Lasts across connections. */
  subscribe(server: Name, uri: string): Promise<void>
  unsubscribe(server: Name, uri: string): Promise<void>
  /** Returns what ends it. */
  onUpdated(server: Name, listener: (update: ResourceUpdate) => void): () => void
  /** Resolves, once the server will tell, with what ends it. */
  onListChanged(server: Name, listener: () => void): Promise<() => void>
}

export interface ClientPrompts<Name extends string> {
  /** The prompts of every server that answers, by server. */
  list(): Promise<{ [name in Name]?: Prompt[] }>
  get(
    server: Name,
    name: string,
    args?: { readonly [name: string]: string },
    settings?: RequestSettings,
  ): Promise<GetPromptResult>
  /** Resolves, once the server will tell, with what ends it. */
  onListChanged(server: Name, listener: () => void): Promise<() => void>
}

export function createClientResources<Name extends string>(servers: Servers<Name>): ClientResources<Name> {
  return {
    list: () =>
      servers.byName(async (connection) => {
        const ask = connection.request('resources/list', (client, options) =>
          client.listResources(undefined, options),
        )
        return (await ask).resources
      }),
    templates: () =>
      servers.byName(async (connection) => {
        const ask = connection.request('resources/templates/list', (client, options) =>
          client.listResourceTemplates(undefined, options),
        )
        return (await ask).resourceTemplates
      }),
    read: async (server, uri, settings) => {
      const connection = servers.of(server)
      return connection.request(
        'resources/read',
        (client, options, params) => client.readResource({ uri, ...params }, options),
        settings,
      )
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
    list: () =>
      servers.byName(async (connection) => {
        const ask = connection.request('prompts/list', (client, options) =>
          client.listPrompts(undefined, options),
        )
        return (await ask).prompts
      }),
    get: async (server, name, args = {}, settings) => {
      const connection = servers.of(server)
      return connection.request(
        'prompts/get',
        (client, options, params) => client.getPrompt({ name, arguments: { ...args }, ...params }, options),
        settings,
      )
    },
    onListChanged: async (server, listener) => servers.of(server).changes.onListChanged('prompts', listener),
  }
}

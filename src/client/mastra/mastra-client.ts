/** Mastra's `MCPClient`: the native one, with the names that Mastra has for its options and arguments. */
import type {
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
} from '@modelcontextprotocol/client'
import { type Names, refuseUnknown } from '../../definition/unknown-option.ts'
import type { RequestSettings } from '../connection.ts'
import type { DiscoveryErrors, DiscoveryOptions } from '../lists-with-errors.ts'
import { MCPClient as NativeClient } from '../mcp-client.ts'
import type { ClientPrompts, ClientResources } from '../resources.ts'
import type { ClientTool } from '../tools.ts'
import { type MastraClientConfig, readSpellings } from './spellings.ts'

/** The argument of `resources.read` as one object. */
export interface ResourceQuery<Name extends string = string> {
  serverName: Name
  uri: string
}

/** The argument of `prompts.get` as one object. */
export interface PromptQuery<Name extends string = string> {
  serverName: Name
  name: string
  args?: { readonly [name: string]: string }
  /** A prompt's version. MCP has none, so it is sent as `_meta.version`. Default: chosen by the server. */
  version?: string
}

const RESOURCE_QUERY: Names<ResourceQuery> = { serverName: 'string', uri: 'string' }
const PROMPT_QUERY: Names<PromptQuery> = {
  serverName: 'string',
  name: 'string',
  args: 'object',
  version: 'string',
}

/** By server, as Mastra types it: any name may be read, so that `for (const name in result)` compiles. */
export type ByServer<Name extends string, Item> = { [name in Name]?: Item } & { [name: string]: Item }

/** `client.resources`. */
export interface MastraResources<Name extends string> extends ClientResources<Name> {
  list(): Promise<ByServer<Name, Resource[]>>
  listWithErrors(
    options?: DiscoveryOptions,
  ): Promise<{ resources: ByServer<Name, Resource[]> } & DiscoveryErrors<Name>>
  templates(): Promise<ByServer<Name, ResourceTemplateType[]>>
  templatesWithErrors(
    options?: DiscoveryOptions,
  ): Promise<{ templates: ByServer<Name, ResourceTemplateType[]> } & DiscoveryErrors<Name>>
  read(server: Name, uri: string, settings?: RequestSettings): Promise<ReadResourceResult>
  read(query: ResourceQuery<Name>, settings?: RequestSettings): Promise<ReadResourceResult>
}

/** `client.prompts`. */
export interface MastraPrompts<Name extends string> extends ClientPrompts<Name> {
  list(): Promise<ByServer<Name, Prompt[]>>
  listWithErrors(
    options?: DiscoveryOptions,
  ): Promise<{ prompts: ByServer<Name, Prompt[]> } & DiscoveryErrors<Name>>
  get(...prompt: Parameters<ClientPrompts<Name>['get']>): Promise<GetPromptResult>
  get(query: PromptQuery<Name>, settings?: RequestSettings): Promise<GetPromptResult>
}

/** Methods of Mastra's client that this one does not have. */
const REFUSED_METHODS = {
  authenticate:
    'handle onRedirect of createOAuthProvider, and call finishAuth(server, query) with the query of the redirect',
  cancelAuthentication: 'leave it out: a sign-in expires by itself after an hour',
  getServerAuthState: 'errors[server]?.code is UNAUTHORIZED while a server needs its user to sign in',
  getServerStderr: 'pass a transport for this server, and manage its process yourself',
  toMCPServerProxies: 'serve the tools on: new MCPServer({ …, tools: await client.listTools() })',
} as const

function refused(name: keyof typeof REFUSED_METHODS): never {
  throw new TypeError(`MCPClient has no ${name}(): ${REFUSED_METHODS[name]}.`)
}

/**
 * The `MCPClient` of `mayfly-mcp/client`, which also takes the options and arguments that Mastra's takes.
 *
 * @throws TypeError for an option of Mastra that is not supported, saying what to write instead.
 */
export class MCPClient<Name extends string = string> extends NativeClient<Name> {
  declare readonly resources: MastraResources<Name>
  declare readonly prompts: MastraPrompts<Name>

  constructor(config: MastraClientConfig<Name>) {
    super(readSpellings(config))
    this.resources = withResourceQueries(this.resources)
    this.prompts = withPromptQueries(this.prompts)
  }

  override listToolsets(): Promise<ByServer<Name, Record<string, ClientTool>>> {
    return super.listToolsets() as Promise<ByServer<Name, Record<string, ClientTool>>>
  }

  override getServerInstructions(): ByServer<Name, string | undefined> {
    return super.getServerInstructions() as ByServer<Name, string | undefined>
  }

  /** @deprecated Throws a TypeError that says what to do instead: `finishAuth`. */
  async authenticate(_server: Name, _options?: object): Promise<never> {
    return refused('authenticate')
  }

  /** @deprecated Throws a TypeError that says why there is nothing to cancel. */
  async cancelAuthentication(_server: Name): Promise<never> {
    return refused('cancelAuthentication')
  }

  /** @deprecated Throws a TypeError that says what to do instead: `errors`. */
  getServerAuthState(_server: Name): never {
    return refused('getServerAuthState')
  }

  /** @deprecated Throws a TypeError that says what to do instead: `transport`. */
  getServerStderr(_server: Name): never {
    return refused('getServerStderr')
  }

  /** @deprecated Throws a TypeError that says what to do instead: `new MCPServer({ tools })`. */
  toMCPServerProxies(): never {
    return refused('toMCPServerProxies')
  }
}

function withResourceQueries<Name extends string>(resources: ClientResources<Name>): MastraResources<Name> {
  return {
    ...(resources as MastraResources<Name>),
    read: async (
      of: Name | ResourceQuery<Name>,
      uriOrSettings?: string | RequestSettings,
      settings?: RequestSettings,
    ) => {
      if (typeof of !== 'object') return resources.read(of, uriOrSettings as string, settings)
      refuseUnknown('resources.read', of, RESOURCE_QUERY)
      return resources.read(of.serverName, of.uri, uriOrSettings as RequestSettings | undefined)
    },
  }
}

function withPromptQueries<Name extends string>(prompts: ClientPrompts<Name>): MastraPrompts<Name> {
  return {
    ...(prompts as MastraPrompts<Name>),
    get: async (
      of: Name | PromptQuery<Name>,
      nameOrSettings?: string | RequestSettings,
      args?: PromptQuery['args'],
      settings?: RequestSettings,
    ) => {
      if (typeof of !== 'object') return prompts.get(of, nameOrSettings as string, args, settings)
      refuseUnknown('prompts.get', of, PROMPT_QUERY)
      return prompts.get(of.serverName, of.name, of.args, {
        ...(nameOrSettings as RequestSettings | undefined),
        version: of.version,
      })
    },
  }
}

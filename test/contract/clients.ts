/** The official clients under one interface, so that a scenario is written once: SDK v1, and SDK v2 in each of its modes. */
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js'

export interface CallResult {
  content: readonly object[]
  structuredContent?: unknown
  isError?: boolean | undefined
}

export interface LogMessage {
  level: string
  data: unknown
  logger?: string | undefined
}

export interface CallOptions {
  onProgress?: (progress: {
    progress: number
    total?: number | undefined
    message?: string | undefined
  }) => void
  signal?: AbortSignal
  /** Modern era: the level asked for in this request. */
  logLevel?: string
}

/** What both SDKs' clients have in common, as far as the scenarios need it. */
export interface OfficialClient {
  getServerVersion(): { name: string; version: string } | undefined
  getServerCapabilities(): object | undefined
  getInstructions(): string | undefined
  listTools(params?: { cursor: string }): Promise<{
    tools: {
      name: string
      title?: string | undefined
      inputSchema: object
      outputSchema?: object | undefined
    }[]
    nextCursor?: string | undefined
  }>
  listPrompts(): Promise<{ prompts: { name: string; arguments?: object[] | undefined }[] }>
  listResources(): Promise<{ resources: { uri: string; name: string }[] }>
  listResourceTemplates(): Promise<{ resourceTemplates: { uriTemplate: string }[] }>
  readResource(params: { uri: string }): Promise<{ contents: object[] }>
  getPrompt(params: { name: string; arguments?: Record<string, string> }): Promise<{ messages: object[] }>
  complete(params: {
    ref: { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string }
    argument: { name: string; value: string }
  }): Promise<{ completion: { values: string[] } }>
  close(): Promise<void>
}

/** One connected client; closed by `await using`. */
export interface Connection extends AsyncDisposable {
  readonly client: OfficialClient
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<CallResult>
  /** Log messages, in order of arrival. */
  readonly logged: LogMessage[]
}

export interface ClientKind {
  readonly kind: string
  readonly era: 'modern' | 'legacy'
  readonly protocolVersion: string
  connect(url: URL, headers?: Record<string, string>): Promise<Connection>
}

const IDENTITY = { name: 'contract-test', version: '4.5.6' }
const CAPABILITIES = { roots: {} }

async function connectV1(url: URL, headers: Record<string, string> = {}): Promise<Connection> {
  const client = new ClientV1(IDENTITY, { capabilities: CAPABILITIES })
  const logged: LogMessage[] = []
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params))
  // A cast at the SDK's own boundary: its transport class is not its Transport under exactOptionalPropertyTypes.
  await client.connect(new HttpV1(url, { requestInit: { headers } }) as Transport)
  return {
    client,
    logged,
    [Symbol.asyncDispose]: () => client.close(),
    call: async (name, args = {}, { onProgress, signal } = {}) => {
      const options = { ...(onProgress && { onprogress: onProgress }), ...(signal && { signal }) }
      return (await client.callTool({ name, arguments: args }, undefined, options)) as CallResult
    },
  }
}

type Mode = 'auto' | 'legacy' | { pin: string }

/** For what only SDK v2 has, `listen` above all. */
export async function connectV2(
  mode: Mode,
  url: URL,
  headers: Record<string, string> = {},
): Promise<Connection & { readonly client: ClientV2 }> {
  const client = new ClientV2(IDENTITY, { capabilities: CAPABILITIES, versionNegotiation: { mode } })
  const logged: LogMessage[] = []
  client.setNotificationHandler('notifications/message', ({ params }) => void logged.push(params))
  await client.connect(new HttpV2(url, { requestInit: { headers } }))
  return {
    client,
    logged,
    [Symbol.asyncDispose]: () => client.close(),
    call: async (name, args = {}, { onProgress, signal, logLevel } = {}) => {
      const meta = logLevel === undefined ? {} : { _meta: { 'io.modelcontextprotocol/logLevel': logLevel } }
      const options = { ...(onProgress && { onprogress: onProgress }), ...(signal && { signal }) }
      return client.callTool({ name, arguments: args, ...meta }, options)
    },
  }
}

export const MODERN = '2026-07-28'
export const LEGACY = '2025-11-25'

export const CLIENTS: readonly ClientKind[] = [
  { kind: 'SDK v1', era: 'legacy', protocolVersion: LEGACY, connect: connectV1 },
  {
    kind: 'SDK v2, legacy',
    era: 'legacy',
    protocolVersion: LEGACY,
    connect: (url, headers) => connectV2('legacy', url, headers),
  },
  {
    kind: 'SDK v2, auto',
    era: 'modern',
    protocolVersion: MODERN,
    connect: (url, headers) => connectV2('auto', url, headers),
  },
  {
    kind: 'SDK v2, pinned',
    era: 'modern',
    protocolVersion: MODERN,
    connect: (url, headers) => connectV2({ pin: MODERN }, url, headers),
  },
]

export const MODERN_CLIENTS: readonly ClientKind[] = CLIENTS.filter(({ era }) => era === 'modern')
export const LEGACY_CLIENTS: readonly ClientKind[] = CLIENTS.filter(({ era }) => era === 'legacy')

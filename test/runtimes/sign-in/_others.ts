/** Clients that others wrote, as an app has them: they are given a URL and a place for what they keep. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { connected, type Desk, transportFor } from '../auth/_desk.ts'

interface Connected {
  callTool(call: { readonly name: string; readonly arguments: { [name: string]: unknown } }): Promise<unknown>
  close(): Promise<void>
}

export interface OtherClient {
  /** Rejects for a server that wants a sign-in. */
  connect(): Promise<Connected>
  /** The browser came back. */
  finish(callback: URLSearchParams): Promise<unknown>
}

function officialClient(url: URL, desk: Desk): OtherClient {
  const transport = transportFor(url, desk)
  return { connect: () => connected(url, desk), finish: (callback) => transport.finishAuth(callback) }
}

function officialClientV1(url: URL, desk: Desk): OtherClient {
  let transport: HttpV1
  return {
    async connect() {
      transport = new HttpV1(url, { authProvider: desk })
      const client = new ClientV1({ name: 'desk', version: '1' })
      // A cast at the SDK's own boundary: its transport class is not its Transport under exactOptionalPropertyTypes.
      await client.connect(transport as Transport)
      return client
    },
    finish: (callback) => transport.finishAuth(callback.get('code')!),
  }
}

/** What is used of `@ai-sdk/mcp`: it is installed for these tests alone, so that its types are not there for everybody. */
interface AiSdk {
  createMCPClient(options: { readonly transport: object }): Promise<Connected>
  auth(
    provider: Desk,
    options: {
      readonly serverUrl: URL
      readonly authorizationCode: string
      readonly callbackState?: string
      readonly callbackIssuer?: string
    },
  ): Promise<string>
}

export function loadAiSdk(): Promise<AiSdk> {
  const path = join(import.meta.dirname, '../auth/ai-sdk/node_modules/@ai-sdk/mcp/dist/index.js')
  return import(pathToFileURL(path).href)
}

function aiSdk(url: URL, desk: Desk): OtherClient {
  return {
    async connect() {
      const { createMCPClient } = await loadAiSdk()
      return createMCPClient({ transport: { type: 'http', url: url.href, authProvider: desk } })
    },
    async finish(callback) {
      const { auth } = await loadAiSdk()
      return auth(desk, {
        serverUrl: url,
        authorizationCode: callback.get('code')!,
        callbackIssuer: callback.get('iss')!,
      })
    },
  }
}

export const OTHER_CLIENTS = [
  ['the official client', officialClient],
  ['the official client of v1', officialClientV1],
  ['the client of the AI SDK', aiSdk],
] as const

/**
 * The parts of the official SDKs that are used. Both are optional: only the one that a project uses is loaded, at its first request.
 */
import type { McpServerFactory } from '@modelcontextprotocol/server'
import type { AuthInfo } from '../definition/context.ts'
import type { SdkContext, SdkServer } from './sdk-server.ts'

interface RequestOptions {
  readonly parsedBody: unknown
  readonly authInfo?: AuthInfo
}

/** The stateless transport of SDK v1. */
export interface Transport {
  handleRequest(request: Request, options: RequestOptions): Promise<Response>
  send(message: unknown, options?: unknown): Promise<void>
}

type TransportClass = new (options: { enableJsonResponse: boolean; keepAliveMs: number }) => Transport

/** The result of SDK v2's `createMcpHandler`. */
export interface SdkHandler {
  fetch(request: Request, options: RequestOptions): Promise<Response>
}

type CreateHandler = (
  factory: (context: Pick<SdkContext, 'era' | 'authInfo' | 'requestInfo'>) => SdkServer | Promise<SdkServer>,
  options: { readonly [option: string]: unknown },
) => SdkHandler

// In a `try`, so that bundlers treat a package that is not installed as optional.
export async function loadTransport(): Promise<TransportClass> {
  try {
    const { WebStandardStreamableHTTPServerTransport } = await import(
      '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
    )
    return WebStandardStreamableHTTPServerTransport
  } catch (cause) {
    throw new Error(
      'An SDK v1 server needs @modelcontextprotocol/sdk 1.25 or newer: npm install @modelcontextprotocol/sdk',
      {
        cause,
      },
    )
  }
}

export async function loadHandler(): Promise<CreateHandler> {
  try {
    const { createMcpHandler } = await import('@modelcontextprotocol/server')
    return (factory, options) => createMcpHandler(factory as McpServerFactory, options)
  } catch (cause) {
    throw new Error(
      'An SDK v2 server needs @modelcontextprotocol/server: npm install @modelcontextprotocol/server',
      {
        cause,
      },
    )
  }
}

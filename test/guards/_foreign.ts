/** The same server with each official SDK, and as a Node handler. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  McpServer as McpServerV1,
  ResourceTemplate as TemplateV1,
} from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { McpServer as McpServerV2, ResourceTemplate as TemplateV2 } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { fromNode } from '../../src/from-node.ts'
import { fromSdk, type SdkContext } from '../../src/sdk.ts'
import { ADMIN, createBus, type Guarded, hosting } from './_ours.ts'
import type { Probe } from './_probe.ts'

/** A result that no answer can carry. */
const odd = () => ({ content: [], structuredContent: { amount: 1n } })

/** How a template lists what it stands for. */
const VAULT = { list: () => ({ resources: [{ uri: 'vault://one', name: 'one' }] }) }

const INFO = { name: 'guarded', version: '1.0.0' }
const said = (text: string) => ({ content: [{ type: 'text' as const, text }] })

/** What both SDKs register in the same words. */
function createCallbacks(probe: Probe, waitUntil: (promise: Promise<unknown>) => void) {
  const run = (what: 'say' | 'rule' | 'later' | 'big', text: string) => {
    probe.happened.push(what)
    return said(text)
  }
  return {
    say: ({ text }: { text?: string | undefined }) => run('say', text ?? 'said'),
    rule: () => run('rule', 'ruled'),
    later: () => {
      waitUntil(Promise.reject(new Error('later failed')))
      return run('later', 'now')
    },
    big: () => run('big', 'x'.repeat(10_000)),
    wait: async (signal: AbortSignal) => said(await probe.wait(signal)),
    read: (uri: URL) => ({ contents: [{ uri: uri.href, text: 'note' }] }),
  }
}

function createV1(probe: Probe, { waitUntil }: Pick<SdkContext, 'waitUntil'>): McpServerV1 {
  probe.throwIfTold()
  const server = new McpServerV1(INFO)
  const { say, rule, later, big, wait, read } = createCallbacks(probe, waitUntil)
  server.registerTool('say', { inputSchema: { text: z.string().optional() } }, say)
  server.registerTool('rule', {}, rule)
  server.registerTool('later', {}, later)
  server.registerTool('big', {}, big)
  server.registerTool('odd', {}, odd)
  server.registerTool('wait', { inputSchema: {} }, (_args, { signal }) => wait(signal))
  for (const name of ['open', 'secret']) server.registerResource(name, `note://${name}`, {}, read)
  server.registerResource('vault', new TemplateV1('vault://{name}', VAULT), {}, read)
  return server
}

function createV2(probe: Probe, { waitUntil }: SdkContext): McpServerV2 {
  probe.throwIfTold()
  if (probe.leavesWork) waitUntil(Promise.reject(new Error('later failed')))
  const capabilities = { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true } }
  const server = new McpServerV2(INFO, { capabilities })
  const { say, rule, later, big, wait, read } = createCallbacks(probe, waitUntil)
  server.registerTool('say', { inputSchema: z.looseObject({ text: z.string().optional() }) }, say)
  server.registerTool('rule', {}, rule)
  server.registerTool('later', {}, later)
  server.registerTool('big', {}, big)
  server.registerTool('odd', {}, odd)
  server.registerTool('wait', {}, (ctx) => wait(ctx.mcpReq.signal))
  for (const name of ['open', 'secret']) server.registerResource(name, `note://${name}`, {}, read)
  server.registerResource('vault', new TemplateV2('vault://{name}', VAULT), {}, read)
  return server
}

const SCOPES = {
  tools: { rule: ADMIN },
  prompts: { plan: ADMIN },
  resources: { 'note://secret': ADMIN, 'vault://{name}': ADMIN },
}

export const createSdkV1 = (probe: Probe, guarded: Guarded) =>
  fromSdk((context) => createV1(probe, context), { scopes: SCOPES, ...hosting(probe, guarded) })

export const createSdkV2 = (probe: Probe, guarded: Guarded) =>
  fromSdk((context) => createV2(probe, context), {
    scopes: SCOPES,
    handler: { bus: createBus(probe, (uri) => ({ kind: 'resource_updated', uri })) },
    ...hosting(probe, guarded),
  })

/** As SDK v1 is used with Express. */
export const createNode = (probe: Probe, guarded: Guarded) =>
  fromNode(
    async (
      request: IncomingMessage & { body?: unknown },
      response: ServerResponse,
      { waitUntil }: Pick<SdkContext, 'waitUntil'>,
    ) => {
      const server = createV1(probe, { waitUntil })
      const transport = new StreamableHTTPServerTransport({})
      response.on('close', () => void server.close())
      await server.connect(transport as never)
      await transport.handleRequest(request as never, response, request.body)
    },
    { scopes: SCOPES, ...hosting(probe, guarded), mcpPath: '*' },
  )

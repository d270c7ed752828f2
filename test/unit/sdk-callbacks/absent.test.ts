/** What cannot work is absent from the context of an SDK's callback, so that its own fallback runs. */
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js'
import type { CallToolResult, ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js'
import type { ServerContext } from '@modelcontextprotocol/server'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createTool as createNativeTool, type Feature, type MCPServerConfig } from '../../../src/index.ts'
import {
  createTool,
  MCPServer,
  type SdkRequestServer,
  type SdkToolContext,
} from '../../../src/sdk-context.ts'
import { callTool, legacyRequest, META, modernRequest, readAnswer, textOf } from '../_client.ts'

const serve = (config: Partial<MCPServerConfig<never>> = {}): MCPServer =>
  new MCPServer({ id: 'test', name: 'Test', version: '1.0.0', log: false, ...config } as never)

/** The features by the member that needs one of them. */
const MEMBERS = {
  elicitInput: ['elicitation.form', 'elicitation.url'],
  createMessage: ['sampling'],
  listRoots: ['roots'],
  reportProgress: ['progress'],
} as const satisfies { [name: string]: readonly Feature[] }
const names = Object.keys(MEMBERS) as (keyof typeof MEMBERS)[]

const look = (ctx: SdkToolContext) =>
  JSON.stringify(
    names.map((name) => [
      name,
      typeof ctx[name] === 'function',
      name in ctx && ctx[name] !== undefined,
      MEMBERS[name].some((feature) => ctx.can(feature).available),
    ]),
  )

/** The same tool, in each way in which it gets an SDK's context. */
const WAYS: { readonly [way: string]: () => MCPServer } = {
  registerTool: () => {
    const server = serve()
    server.registerTool('look', {}, look)
    return server
  },
  setup: () =>
    serve({
      tools: { other: { description: 'A server needs a tool for the method', execute: () => 'other' } },
      setup: (request: SdkRequestServer) => void request.registerTool('look', {}, look),
    } as never),
  createTool: () =>
    serve({ tools: { look: createTool({ id: 'look', execute: (_input, ctx) => look(ctx) }) } }),
}

const CLIENTS: readonly (readonly [string, object, object, string[]])[] = [
  ['nothing', {}, {}, []],
  ['a token', {}, { progressToken: 1 }, ['reportProgress']],
  ['forms', { elicitation: {} }, {}, ['elicitInput']],
  ['URLs', { elicitation: { url: {} } }, {}, ['elicitInput']],
  ['a model and folders', { sampling: {}, roots: {} }, {}, ['createMessage', 'listRoots']],
]

describe.each(Object.entries(WAYS))('by %s', (_way, create) => {
  it.each(CLIENTS)('a client with %s → the members that work', async (_name, capabilities, meta, there) => {
    const params = { name: 'look', _meta: meta }
    const sent = modernRequest('tools/call', params, { meta: { [META.clientCapabilities]: capabilities } })
    const seen = JSON.parse(textOf(await readAnswer(await create().fetch(sent)))!)
    expect(seen).toEqual(
      names.map((name) => [name, there.includes(name), there.includes(name), there.includes(name)]),
    )
  })

  it('a legacy client without a session → none that asks', async () => {
    const server = create()
    const sent = legacyRequest('tools/call', { name: 'look' })
    const seen = JSON.parse(textOf(await readAnswer(await server.fetch(sent)))!) as [string, boolean][]
    expect(seen.filter(([, isThere]) => isThere)).toEqual([])
  })
})

it('a fallback of a tool typed with the SDK runs, and `requestId` is the id of the request', async () => {
  const server = serve()
  type Asking = { elicitInput?: (params: never) => Promise<unknown> }
  server.registerTool(
    'v1',
    { inputSchema: { a: z.number() } },
    (
      _args: { a: number },
      extra: RequestHandlerExtra<ServerRequest, ServerNotification> & Asking,
    ): CallToolResult => ({
      content: [{ type: 'text', text: JSON.stringify([extra.requestId, extra.elicitInput === undefined]) }],
    }),
  )
  server.registerTool('v2', {}, (ctx: ServerContext & { requestId: string | number }) =>
    JSON.stringify([ctx.requestId, ctx.mcpReq.id]),
  )
  const call = async (name: string, args: object, id: number | string) => {
    const sent = modernRequest('tools/call', { name, arguments: args }, { id } as never)
    return JSON.parse(textOf(await readAnswer(await server.fetch(sent)))!)
  }
  expect(await call('v1', { a: 1 }, 'mine')).toEqual(['mine', true])
  expect(await call('v2', {}, 71)).toEqual([71, 71])
})

it('tools of `mayfly-mcp`, middleware and logs on the same server keep their context', async () => {
  const seen: unknown[] = []
  const failed: unknown[] = []
  const tool = createNativeTool({
    id: 'native',
    execute: async (_input, ctx) => {
      ctx.reportProgress({ progress: 1 })
      seen.push(ctx.requestId)
      await ctx.createMessage({ messages: [], maxTokens: 1 })
      return 'never'
    },
  })
  const server = serve({
    tools: { native: tool },
    use: [
      async (
        call: { context: { requestId: string; reportProgress(progress: object): void } },
        next: () => object,
      ) => {
        const result = await next()
        call.context.reportProgress({ progress: 2 })
        seen.push(call.context.requestId)
        return result
      },
    ],
    onError: (_error: unknown, { requestId }: { requestId?: string }) => void failed.push(requestId),
  } as never)
  server.registerTool('fails', {}, () => {
    throw new Error('broken')
  })
  const refused = await callTool(server, 'native', {})
  expect(refused.error ?? refused.result?._meta).toMatchObject({ code: -32021 })
  await callTool(server, 'fails', {})
  expect(seen).toHaveLength(1)
  expect(seen.concat(failed)).toEqual([
    expect.stringMatching(/^[0-9a-f-]{36}$/),
    expect.stringMatching(/^[0-9a-f-]{36}$/),
  ])
})

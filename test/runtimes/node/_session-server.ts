/** A server that needs what only a session gives to legacy clients. */
import * as z from 'zod'
import {
  createResource,
  createTool,
  MCPServer,
  type MCPServerConfig,
  type McpContext,
} from '../../../src/index.ts'

export interface SessionFixture {
  readonly server: MCPServer
  /** Aborted calls of the tool `wait`. */
  readonly aborted: string[]
}

const untilAborted = ({ signal, requestId }: McpContext, aborted: string[]): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      aborted.push(requestId)
      reject(signal.reason)
    })
  })

export function createFixture(config: Partial<MCPServerConfig> = {}): SessionFixture {
  const aborted: string[] = []
  const tools = {
    order: createTool({
      id: 'order',
      inputSchema: z.object({ item: z.string() }),
      execute: async ({ item }, ctx) => {
        const answer = await ctx.elicit(`How many ${item}?`, z.object({ count: z.number() }))
        return answer.action === 'accept' ? `${answer.content.count} ${item}` : answer.action
      },
    }),
    summarise: createTool({
      id: 'summarise',
      execute: async (_input, ctx) => {
        const { content } = await ctx.createMessage({
          messages: [{ role: 'user', content: { type: 'text', text: 'Hello' } }],
          maxTokens: 10,
        })
        return JSON.stringify(content)
      },
    }),
    roots: createTool({
      id: 'roots',
      execute: async (_input, ctx) => (await ctx.listRoots()).map(({ uri }) => uri).join(),
    }),
    work: createTool({
      id: 'work',
      execute: async (_input, ctx) => {
        ctx.log('debug', 'in detail')
        ctx.log('warning', 'careful')
        for (const progress of [1, 2]) await ctx.reportProgress({ progress, total: 2 })
        return ctx.sessionId ?? 'no session'
      },
    }),
    wait: createTool({ id: 'wait', execute: (_input, ctx) => untilAborted(ctx, aborted) }),
    logAndWait: createTool({
      id: 'logAndWait',
      execute(_input, ctx) {
        ctx.log('info', 'begun')
        return untilAborted(ctx, aborted)
      },
    }),
    who: createTool({ id: 'who', execute: (_input, ctx) => ctx.auth?.clientId ?? 'nobody' }),
    can: createTool({
      id: 'can',
      execute: (_input, ctx) => ({
        features: (['elicitation.form', 'logLevel', 'tools.listChanged', 'sessions'] as const).filter(
          (feature) => ctx.can(feature).available,
        ),
      }),
    }),
  }
  const note = createResource({ uri: 'note://1', name: 'note', read: () => 'a note' })
  const server = new MCPServer({
    id: 'lasting',
    name: 'Lasting',
    version: '1.0.0',
    log: false,
    tools,
    resources: [note],
    ...config,
  })
  return { server, aborted }
}

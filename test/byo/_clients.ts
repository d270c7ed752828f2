/** Mastra's own clients and the official ones, as far as the tests need them: all with the same user behind them. */
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema, LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { MCPClient as MastraClient1 } from 'mastra-mcp-1'
import { MCPClient as MastraClient2 } from 'mastra-mcp-2'

export const TOKEN = 'a-good-token-of-the-tests'
const NAME = { name: 'byo', version: '1.0.0' }
const HEADERS = { authorization: `Bearer ${TOKEN}`, 'x-tenant': 'acme' }

/** What the user answers to each question. */
const ANSWERS: { readonly [message: string]: Record<string, boolean | number | string> } = {
  'Refund 42?': { confirm: true },
  'Transfer 7?': { approved: true },
  'Which of 2?': { index: 1 },
  'Where to?': { answer: 'home' },
  'When?': { answer: 'noon' },
}
const answer = ({ message }: { message: string }) => ({
  action: 'accept' as const,
  content: ANSWERS[message] ?? {},
})

export interface Connected {
  /** The structured result where there is one, else the text. */
  call(name: string, args?: Record<string, unknown>): Promise<unknown>
  close(): Promise<void>
}

export interface OfficiallyConnected extends Connected {
  readonly client: ClientV1 | ClientV2
  readonly progress: unknown[]
  readonly logged: unknown[]
}

interface Result {
  content?: { text?: string }[]
  structuredContent?: unknown
}

const readValue = ({ content, structuredContent }: Result): unknown => {
  const text = content?.[0]?.text
  return structuredContent ?? (text?.startsWith('{') ? JSON.parse(text) : text)
}

export async function officialV1(url: string): Promise<OfficiallyConnected> {
  const client = new ClientV1(NAME, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => answer(params))
  const [progress, logged]: [unknown[], unknown[]] = [[], []]
  client.setNotificationHandler(
    LoggingMessageNotificationSchema,
    ({ params: { level, data } }) => void logged.push({ level, data }),
  )
  await client.connect(new HttpV1(new URL(url), { requestInit: { headers: HEADERS } }))
  return {
    client,
    progress,
    logged,
    close: () => client.close(),
    call: async (name, args = {}) => {
      const options = { onprogress: (seen: unknown) => progress.push(seen) }
      return readValue((await client.callTool({ name, arguments: args }, undefined, options)) as Result)
    },
  }
}

export async function officialV2(url: string): Promise<OfficiallyConnected> {
  const client = new ClientV2(NAME, {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: { mode: 'auto' },
  })
  client.setRequestHandler('elicitation/create', ({ params }) => answer(params))
  const [progress, logged]: [unknown[], unknown[]] = [[], []]
  client.setNotificationHandler(
    'notifications/message',
    ({ params: { level, data } }) => void logged.push({ level, data }),
  )
  await client.connect(new HttpV2(new URL(url), { requestInit: { headers: HEADERS } }))
  return {
    client,
    progress,
    logged,
    close: () => client.close(),
    call: async (name, args = {}) => {
      const _meta = { 'io.modelcontextprotocol/logLevel': 'info' }
      const options = { onprogress: (seen: unknown) => progress.push(seen) }
      return readValue((await client.callTool({ name, arguments: args, _meta }, options)) as Result)
    },
  }
}

interface MastraClient {
  listTools(): Promise<{ [name: string]: { execute?: unknown } }>
  disconnect(): Promise<void>
}

async function fromMastra(client: MastraClient): Promise<Connected> {
  const tools = await client.listTools()
  return {
    close: () => client.disconnect(),
    call: async (name, args = {}) => {
      // The tools of Mastra's client differ in type by its version; called they are alike.
      const execute = tools[`shop_${name}`]?.execute as (input: unknown, context: object) => Promise<unknown>
      const output = await execute(args, {})
      const isResult = typeof output === 'object' && output !== null && 'content' in output
      return isResult ? readValue(output as Result) : output
    },
  }
}

export async function mastra1(url: string): Promise<Connected> {
  const client = new MastraClient1({
    id: crypto.randomUUID(),
    servers: {
      shop: {
        url: new URL(url),
        requestInit: { headers: HEADERS },
        capabilities: { elicitation: { form: {} } },
      },
    },
  })
  await client.elicitation.onRequest('shop', async (request) => answer(request))
  return fromMastra(client)
}

export async function mastra2(url: string): Promise<Connected> {
  return fromMastra(
    new MastraClient2({
      id: crypto.randomUUID(),
      servers: {
        shop: {
          url: new URL(url),
          requestInit: { headers: HEADERS },
          inputRequests: async ({ params }) => answer(params),
        },
      },
    }),
  )
}

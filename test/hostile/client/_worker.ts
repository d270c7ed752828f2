/** A server whose one tool is a client: it goes to see a hostile server, and tells what became of it. */
import {
  createMemoryOAuthStorage,
  createOAuthProvider,
  MCPClient,
  MCPClientError,
} from '../../../src/client.ts'
import { createTool, jsonSchema, MCPServer } from '../../../src/index.ts'

export interface Visit {
  url: string
  timeoutMs?: number
  maxResponseBytes?: number
  /** What the user answers questions with. Default: there is no user. */
  user?: 'declines' | 'is silent' | 'throws'
  /** Asked for in this order. Default: a call. */
  steps?: readonly ('list' | 'call' | 'watch')[]
  /** With secrets in the headers, and an `authProvider`. */
  hasSecrets?: boolean
}

export interface Told {
  /** Of each step: what came of it, or the code of the error. */
  outcomes: unknown[]
  /** The codes of what was reported, and their texts. */
  reported: string[]
  texts: string[]
  /** Where the user was sent. */
  redirects: string[]
  questions: number
  changes: number
  /** What is wrong with the process afterwards. */
  isPolluted: boolean
  tookMs: number
}

async function visit({ url, timeoutMs = 8000, steps = ['call'], ...more }: Visit): Promise<Told> {
  const told: Told = {
    outcomes: [],
    reported: [],
    texts: [],
    redirects: [],
    questions: 0,
    changes: 0,
    isPolluted: false,
    tookMs: 0,
  }
  const authProvider = createOAuthProvider({
    storage: createMemoryOAuthStorage(),
    redirectUrl: 'http://127.0.0.1:9/callback',
    onRedirect: ({ href }) => told.redirects.push(href),
  })
  const secrets = { headers: { 'x-key': 'secret-key', authorization: 'Bearer secret-static' }, authProvider }
  const client = new MCPClient({
    id: crypto.randomUUID(),
    timeoutMs,
    ...(more.maxResponseBytes !== undefined && { maxResponseBytes: more.maxResponseBytes }),
    servers: { evil: { url, ...(more.hasSecrets && secrets) } },
    onError: ({ code, message }) => {
      told.reported.push(code)
      told.texts.push(message)
    },
  })
  if (more.user !== undefined) {
    const { user } = more
    client.elicitation.onRequest('evil', () => {
      told.questions++
      if (user === 'throws') throw new Error('secret-of-user')
      return user === 'declines' ? { action: 'decline' } : new Promise(() => {})
    })
  }
  const act = {
    call: () => client.callTool('evil', 'hello'),
    list: async () => {
      const tools = Object.keys(await client.listTools())
      return client.errors.evil === undefined ? tools : toCode(client.errors.evil)
    },
    watch: async () => {
      await client.tools.onListChanged('evil', () => {
        told.changes++
        client.listTools().catch(() => {})
      })
      return 'watching'
    },
  }
  const startedAt = Date.now()
  for (const step of steps) told.outcomes.push(await act[step]().catch(toCode))
  told.tookMs = Date.now() - startedAt
  await client.disconnect()
  told.isPolluted = 'polluted' in {}
  return told
}

function toCode(error: unknown): string {
  return error instanceof MCPClientError ? error.code : `no error of ours: ${error}`
}

export default new MCPServer({
  id: 'visitor',
  name: 'Visitor',
  version: '1.0.0',
  log: false,
  tools: {
    visit: createTool({
      id: 'visit',
      inputSchema: jsonSchema<Visit>({ type: 'object', properties: { url: { type: 'string' } } }),
      execute: (input) => visit(input),
    }),
  },
})

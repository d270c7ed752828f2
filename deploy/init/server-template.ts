/** The server that `mayfly init` writes: small, real, and the same for every platform. It also contains what `--with` adds. */

export const TEMPLATES = ['auth', 'asking', 'hono', 'fromSdk'] as const

export type Template = (typeof TEMPLATES)[number]

export interface ServerChoice {
  readonly name: string
  readonly templates: ReadonlySet<Template>
}

/** The file that exports the server; with Hono another one exports the app. */
export function serverPath(templates: ReadonlySet<Template>): string {
  return templates.has('hono') ? 'src/mcp.ts' : 'src/server.ts'
}

/** Its files, by their path. */
export function serverSources(choice: ServerChoice): [path: string, text: string][] {
  const { name, templates } = choice
  const server = templates.has('fromSdk') ? sdkSource(choice) : source(choice)
  return [
    [serverPath(templates), server],
    ...(templates.has('hono') ? [['src/server.ts', honoSource(name)] as [string, string]] : []),
  ]
}

const ROLL_INPUT = `z.object({
    count: z.int().min(1).max(20).default(1).describe('How many dice'),
    sides: z.int().min(2).max(100).default(6).describe('Sides of each'),
  })`

const rolls = (indent: string): string =>
  `${indent}const rolls = Array.from({ length: count }, () => 1 + Math.floor(Math.random() * sides))`

/** Tokens that are known beforehand are for the first day: docs/auth.md has the rest. */
const AUTH = `staticTokens(({ API_TOKEN }: { API_TOKEN: string }) => [{ token: API_TOKEN, clientId: 'me' }])`

function source({ name, templates }: ServerChoice): string {
  const [isAsking, hasAuth] = [templates.has('asking'), templates.has('auth')]
  return `import { createResource, createTool, MCPServer } from 'mayfly-mcp'
${hasAuth ? "import { staticTokens } from 'mayfly-mcp/auth'\n" : ''}import * as z from 'zod'

const rollDice = createTool({
  id: 'roll_dice',
  title: 'Roll dice',
  description: 'Rolls dice and adds them up',
  inputSchema: ${ROLL_INPUT},
  outputSchema: z.object({ rolls: z.array(z.int()), total: z.int() }),
  mcp: { annotations: { readOnlyHint: true } },
  execute: ({ count, sides }, ctx) => {
    ctx.log('info', { count, sides })
${rolls('    ')}
    return { rolls, total: rolls.reduce((sum, roll) => sum + roll, 0) }
  },
})

const startOver = createTool({
  id: 'start_over',
  description: 'Forgets all rolls, after asking the user',
  mcp: { annotations: { destructiveHint: true } },
  execute: async (_input, ctx) => {
    const answer = await ctx.elicit('Forget all rolls?', z.object({ confirm: z.boolean() }))
    return answer.action === 'accept' && answer.content.confirm ? 'Forgotten' : 'Kept'
  },
})
${isAsking ? PLAY : ''}
const rules = createResource({
  uri: 'dice://rules',
  name: 'rules',
  mimeType: 'text/plain',
  read: () => 'The highest total wins.',
})

export default new MCPServer({
  id: '${name}',
  name: '${name}',
  version: '0.1.0',
  description: 'Rolls dice',
  // A client without elicitation gives the question to its model, which asks the user and calls again.
  legacy: 'arguments',
  tools: { roll_dice: rollDice, start_over: startOver${isAsking ? ', play' : ''} },
  resources: [rules],
${hasAuth ? `  auth: ${AUTH},\n` : ''}})
`
}

const PLAY = `
const play = createTool({
  id: 'play',
  description: 'Plays a round of dice with the user: asks for a guess, then for a bet',
  execute: async (_input, ctx) => {
    // The tool runs again from the top with each answer: a step runs once, and its result comes back sealed.
    const roll = await ctx.step('roll', () => 1 + Math.floor(Math.random() * 6))
    const guess = await ctx.elicit('Which number comes up?', z.object({ number: z.int().min(1).max(6) }))
    if (guess.action !== 'accept') return 'No guess, no round'
    const { number } = guess.content
    const bet = await ctx.elicit(\`How many points on \${number}?\`, z.object({ points: z.int().min(1).max(100) }))
    if (bet.action !== 'accept') return 'No bet, no round'
    return \`It is \${roll}: you \${roll === number ? 'win' : 'lose'} \${bet.content.points} points\`
  },
})
`

/** A server of the official SDK, made anew for each request. */
function sdkSource({ name, templates }: ServerChoice): string {
  const hasAuth = templates.has('auth')
  return `import { McpServer } from '@modelcontextprotocol/server'
${hasAuth ? "import { staticTokens } from 'mayfly-mcp/auth'\n" : ''}import { fromSdk } from 'mayfly-mcp/sdk'
import * as z from 'zod'

/** A new server for each request: nothing that one request leaves in it is seen by another. */
function createServer(): McpServer {
  const server = new McpServer({ name: '${name}', version: '0.1.0' })
  server.registerTool(
    'roll_dice',
    {
      title: 'Roll dice',
      description: 'Rolls dice and adds them up',
      inputSchema: ${ROLL_INPUT.replaceAll('\n', '\n    ')},
      outputSchema: z.object({ rolls: z.array(z.int()), total: z.int() }),
      annotations: { readOnlyHint: true },
    },
    ({ count, sides }) => {
${rolls('      ')}
      const result = { rolls, total: rolls.reduce((sum, roll) => sum + roll, 0) }
      return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: result }
    },
  )
  return server
}

export default fromSdk(createServer${hasAuth ? `, {\n  auth: ${AUTH},\n}` : ''})
`
}

const honoSource = (name: string): string => `import { Hono } from 'hono'
import server from './mcp.ts'

const app = new Hono()
app.get('/hello', (c) => c.text('${name}: the MCP endpoint is /mcp'))
// Everything else is the server's: its endpoint, its page, its health check, and the metadata that clients look for.
app.all('*', (c) => server.fetch(c.req.raw, c.env))

export default app
`

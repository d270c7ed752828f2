/** The server that `mayfly init` writes: small, real, and the same for every platform. Includes the parts that `--with` adds. */
import type { GrantPlatform, TaskPlatform } from '../contract/target.ts'
import { ADD_NOTE, eventLines, NOTE_CREATED } from './events-template.ts'
import { grantLines, WHO_AM_I } from './sign-in-template.ts'
import { TOURNAMENT, taskLines } from './tasks-template.ts'

export const TEMPLATES = ['auth', 'sign-in', 'asking', 'tasks', 'events', 'hono', 'fromSdk'] as const

export type Template = (typeof TEMPLATES)[number]

export interface ServerChoice {
  readonly name: string
  readonly templates: ReadonlySet<Template>
  readonly tasks?: TaskPlatform | undefined
  readonly events?: TaskPlatform | undefined
  readonly grants?: GrantPlatform | undefined
}

/** The file that creates the server. With Hono, tasks or events, another file exports what is deployed. */
export function serverPath(templates: ReadonlySet<Template>): string {
  return ['hono', 'tasks', 'events'].some((name) => templates.has(name as Template))
    ? 'src/mcp.ts'
    : 'src/server.ts'
}

/** Its files, by their path. */
export function serverSources(choice: ServerChoice): [path: string, text: string][] {
  const { templates } = choice
  const server = templates.has('fromSdk') ? sdkSource(choice) : source(choice)
  return [
    [serverPath(templates), server],
    ...(serverPath(templates) === 'src/server.ts'
      ? []
      : [['src/server.ts', deployedSource(choice)] as [string, string]]),
  ]
}

const ROLL_INPUT = `z.object({
    count: z.int().min(1).max(20).default(1).describe('How many dice'),
    sides: z.int().min(2).max(100).default(6).describe('Sides of each'),
  })`

const rolls = (indent: string): string =>
  `${indent}const rolls = Array.from({ length: count }, () => 1 + Math.floor(Math.random() * sides))`

/** Static tokens are enough to begin with: docs/auth.md describes the alternatives. */
const AUTH = `staticTokens(({ API_TOKEN }: { API_TOKEN: string }) => [{ token: API_TOKEN, clientId: 'me' }])`

/** Lines with imports, and the option, of a server that wants to know who calls. */
function authOf(templates: ReadonlySet<Template>): { readonly imports: string; readonly option: string } {
  if (templates.has('auth'))
    return { imports: "import { staticTokens } from 'mayfly-mcp/auth'\n", option: `auth: ${AUTH},` }
  if (templates.has('sign-in')) return { imports: '', option: 'auth,' }
  return { imports: '', option: '' }
}

const OWN_AUTH = "import { auth } from './sign-in.ts'\n"

function source(choice: ServerChoice): string {
  const { name, templates } = choice
  const [isAsking, hasSignIn, hasTasks, hasEvents] = [
    templates.has('asking'),
    templates.has('sign-in'),
    templates.has('tasks'),
    templates.has('events'),
  ]
  return `import { createResource, createTool, MCPServer } from 'mayfly-mcp'
${authOf(templates).imports}${hasEvents ? "import { createEvent, type EventsOptions, events } from 'mayfly-mcp/mcp-events'\n" : ''}${hasTasks ? "import type { TaskSupport } from 'mayfly-mcp/tasks'\n" : ''}import * as z from 'zod'
${hasSignIn ? OWN_AUTH : ''}
const rollDice = createTool({
  id: 'roll_dice',
  title: 'Roll dice',
  description: 'Rolls dice and adds them up',
  inputSchema: ${ROLL_INPUT},
  outputSchema: z.object({ rolls: z.array(z.int()), total: z.int() }),
  mcp: { annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false } },
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
    // Asks before it acts: with the answer the tool runs again from its start.
    const answer = await ctx.elicit('Forget all rolls?', z.object({ confirm: z.boolean() }))
    return answer.action === 'accept' && answer.content.confirm ? 'Forgotten' : 'Kept'
  },
})
${hasSignIn ? WHO_AM_I : ''}${isAsking ? PLAY : ''}${hasTasks ? TOURNAMENT : ''}${hasEvents ? NOTE_CREATED : ''}
const rules = createResource({
  uri: 'dice://rules',
  name: 'rules',
  mimeType: 'text/plain',
  read: () => 'The highest total wins.',
})

${made(name, templates)}${ending(choice)}`
}

function made(name: string, templates: ReadonlySet<Template>): string {
  const [isAsking, hasTasks, hasEvents] = [
    templates.has('asking'),
    templates.has('tasks'),
    templates.has('events'),
  ]
  const { option } = authOf(templates)
  const tools = [
    'roll_dice: rollDice',
    'start_over: startOver',
    ...(templates.has('sign-in') ? ['who_am_i: whoAmI'] : []),
    ...(isAsking ? ['play'] : []),
    ...(hasTasks ? ['tournament'] : []),
    ...(hasEvents ? ['add_note: addNote'] : []),
  ]
  const options = `{
  id: '${name}',
  name: '${name}',
  version: '0.1.0',
  description: 'Rolls dice',
  // Over HTTP, clients of older protocols pass the question to the model, which asks the user and calls again.
  legacy: 'arguments',
  tools: { ${tools.join(', ')} },
  resources: [rules],
${option && `  ${option}\n`}${hasTasks ? '  tasks,\n' : ''}${hasEvents ? '  events: events({ types: { noteCreated }, ...delivery }),\n' : ''}}`
  if (hasEvents)
    return `/** @param delivery The store of events, and what sends them: src/events.ts has the platform's, tests use a store in memory. */
export function createServer(delivery: Pick<EventsOptions, 'store' | 'deliver' | 'runner'>): MCPServer {
${ADD_NOTE}  const server: MCPServer = new MCPServer(${options.replaceAll('\n', '\n  ')})
  return server
}
`
  if (!hasTasks) return `export default new MCPServer(${options})\n`
  return `/** @param tasks The task store: src/tasks.ts has the platform's, tests use one in memory. */
export function createServer(tasks: TaskSupport): MCPServer {
  return new MCPServer(${options.replaceAll('\n', '\n  ')})
}
`
}

/** What the platform needs of the file that is deployed, if this is it. */
function ending({ templates, grants }: ServerChoice): string {
  const lines = serverPath(templates) === 'src/server.ts' ? grantLines(grants) : []
  return lines.map((line) => `${line}\n`).join('')
}

const PLAY = `
const play = createTool({
  id: 'play',
  description: 'Plays a round of dice with the user: asks for a guess, then for a bet',
  execute: async (_input, ctx) => {
    // The tool runs again from the top with each answer: a step runs once, and its result comes back encrypted.
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

/** A server of the official SDK, created for each request. */
function sdkSource(choice: ServerChoice): string {
  const { name, templates } = choice
  const { imports, option } = authOf(templates)
  return `import { McpServer } from '@modelcontextprotocol/server'
${imports}import { fromSdk } from 'mayfly-mcp/sdk'
import * as z from 'zod'
${templates.has('sign-in') ? OWN_AUTH : ''}
/** Creates a server for each request, so that requests do not share state. */
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

export default fromSdk(createServer${option && `, {\n  ${option}\n}`})${ending(choice)}
`
}

/** What is deployed: the server with its tasks or events, in a Hono app if requested. */
function deployedSource({ name, templates, tasks, events, grants }: ServerChoice): string {
  const hasApp = templates.has('hono')
  const { imports, lines, exported, routes } =
    tasks !== undefined
      ? taskLines(tasks)
      : events !== undefined
        ? eventLines(events)
        : { imports: [], lines: [], exported: 'app', routes: [] }
  const given = events === undefined ? 'tasks' : 'delivery'
  return `${[
    ...(hasApp ? ["import { Hono } from 'hono'", "import { mcp } from 'mayfly-mcp/hono'"] : []),
    ...imports,
    ...(tasks === undefined && events === undefined
      ? ["import server from './mcp.ts'"]
      : [
          "import { createServer } from './mcp.ts'",
          `import { ${given} } from './${events === undefined ? 'tasks' : 'events'}.ts'`,
          '',
          `const server = createServer(${given})`,
        ]),
    ...lines,
    ...grantLines(grants),
    '',
    ...(hasApp ? appLines(name, routes) : []),
    `export default ${hasApp ? 'app' : exported}`,
  ].join('\n')}\n`
}

const appLines = (name: string, routes: readonly string[]): string[] => [
  'const app = new Hono()',
  `app.get('/hello', (c) => c.text('${name}: the MCP endpoint is /mcp'))`,
  ...routes,
  '// The server handles everything else: its endpoint, its page, its health check, and the metadata for clients.',
  "app.all('*', mcp(server))",
  '',
]

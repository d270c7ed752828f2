/** The `AGENTS.md` that `mayfly init` writes: what a coding agent must know about the project, in about twenty lines. */
import { serverPath, type Template } from './server-template.ts'

const DOCS = 'node_modules/mayfly-mcp'

/** A shell command that calls `roll_dice`, in parts. The 2025-03-26 protocol needs no other header. */
export function callOf(url: string, hasAuth: boolean): string[] {
  const params = { name: 'roll_dice', arguments: { count: 2 } }
  return [
    `curl ${url} -H 'content-type: application/json'`,
    ...(hasAuth ? ['-H "authorization: Bearer $(grep ^API_TOKEN= .env | cut -d= -f2)"'] : []),
    `-d '${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })}'`,
  ]
}

export interface AgentsAnswers {
  readonly name: string
  readonly templates: ReadonlySet<Template>
  readonly targets: readonly (readonly [
    name: string,
    target: { readonly title: string; readonly isOwnMachine?: boolean },
  ])[]
}

export function agentsFile({ name, targets, templates }: AgentsAnswers): string {
  const path = serverPath(templates)
  const titles = targets.map(([, { title }]) => title).join(', ')
  const define = templates.has('fromSdk')
    ? `\`${path}\` creates the server with the official SDK; \`fromSdk\` serves it. Keep the factory free of state: it runs for each request.`
    : `\`${path}\` creates the server. A tool is \`createTool({ id, description, inputSchema, execute })\`, listed under \`tools\`.`
  const lines = [
    define,
    'Each request gets a fresh server: do not keep state in module variables between requests. Put persistent state into a database.',
    'Describe every tool and every field (`.describe()`): the model sees nothing else.',
    'Throw an `Error` with a message that the model can act on; it becomes an `isError` result. Stacks never reach the client.',
    ...(templates.has('fromSdk')
      ? []
      : [
          '`ctx.elicit(message, schema)` asks the user. The tool then runs again from the start: put side effects that must happen once into `ctx.step(name, fn)`.',
        ]),
    ...(templates.has('auth')
      ? [
          'Clients need `API_TOKEN`. `ctx.auth` identifies the caller; `scopes` on a tool restricts who may call it.',
        ]
      : []),
    ...(templates.has('sign-in')
      ? [
          'People sign in (`src/sign-in.ts`). `ctx.auth.extra` has `sub`, `name` and `email` of the caller; `scopes` on a tool restricts who may call it.',
        ]
      : []),
    ...(templates.has('hono')
      ? [
          "`src/server.ts` is the Hono app: add your routes there. `honoContext(ctx)` is the app's context in a tool.",
        ]
      : []),
    ...(templates.has('tasks')
      ? [
          `A tool with \`task\` continues after its answer, across restarts: side effects that must happen once go into \`ctx.step\`, pauses are \`ctx.sleep\`. See \`${DOCS}/docs/tasks.md\`.`,
        ]
      : []),
    ...(templates.has('events')
      ? [
          `\`server.events.emit\` stores an event and tells who has subscribed to it; \`createEvent\` defines one. See \`${DOCS}/docs/mcp-events.md\`.`,
        ]
      : []),
    templates.has('fromSdk')
      ? 'The factory gets environment variables as `env`. Local secrets are in `.env`; never commit or log them.'
      : 'Read environment variables from `ctx.env`, not from `process.env`. Local secrets are in `.env`; never commit or log them.',
    '`npm run dev` reads `.env` again when it changes.',
    targets.every(([, { isOwnMachine }]) => isOwnMachine)
      ? 'The server may use web standards and `node:` modules.'
      : 'Use only web standards in the server. `node:` modules work only if the platform has them; they also need `npm install --save-dev @types/node`, and `"types": ["node"]` in tsconfig.json.',
  ]
  return `# ${name}

An MCP server for ${titles}, with mayfly-mcp.

${lines.map((line) => `- ${line}`).join('\n')}

\`\`\`sh
npm test          # after each change; add a test for each tool in test/server.test.ts
npm run types     # type-check
npm run dev       # serve it locally: the URL is in the line that begins with ready
npm run check -- <url>    # verify a deployed server
${templates.has('sign-in') ? '' : `${callOf('<url>', templates.has('auth')).join(' ')}\n`}\`\`\`

Documentation of the installed version: \`${DOCS}/llms.txt\` lists the pages, such as \`${DOCS}/docs/tools.md\`.
`
}

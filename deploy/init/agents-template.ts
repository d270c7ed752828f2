/** The `AGENTS.md` that `mayfly init` writes: what a coding agent must know of the project, in about twenty lines. */
import { serverPath, type Template } from './server-template.ts'

const DOCS = 'node_modules/mayfly-mcp'

/** A call of `roll_dice` in the shell, in parts. The protocol of 2025-03-26 needs no other header. */
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
    ? `\`${path}\` makes the server with the official SDK; \`fromSdk\` serves it. Keep the factory free of state: it runs for each request.`
    : `\`${path}\` makes the server. A tool is \`createTool({ id, description, inputSchema, execute })\`, listed under \`tools\`.`
  const lines = [
    define,
    'Each request gets a fresh server: keep nothing in module variables between requests. What must last goes to a database.',
    'Describe every tool and every field (`.describe()`): the model reads nothing else.',
    'Throw an `Error` with a message that the model can act on; it becomes an `isError` result. Stacks never reach the client.',
    ...(templates.has('fromSdk')
      ? []
      : [
          '`ctx.elicit(message, schema)` asks the user. The tool then runs again from its top: put what must happen once into `ctx.step(name, fn)`.',
        ]),
    ...(templates.has('auth')
      ? ['Clients need `API_TOKEN`. `ctx.auth` is who calls; `scopes` on a tool says who may.']
      : []),
    ...(templates.has('hono')
      ? [
          "`src/server.ts` is the Hono app: its own routes go there. `honoContext(ctx)` is the app's context in a tool.",
        ]
      : []),
    ...(templates.has('tasks')
      ? [
          `A tool with \`task\` goes on after its answer, across restarts: what must happen once goes into \`ctx.step\`, pauses are \`ctx.sleep\`. See \`${DOCS}/docs/tasks.md\`.`,
        ]
      : []),
    templates.has('fromSdk')
      ? 'The factory gets variables as `env`. Secrets are in `.env` here, and are never committed or logged.'
      : 'Read variables from `ctx.env`, not from `process.env`. Secrets are in `.env` here, and are never committed or logged.',
    'What changes in `.env` counts after a restart of `npm run dev`.',
    targets.every(([, { isOwnMachine }]) => isOwnMachine)
      ? 'The server may use web standards and `node:` modules.'
      : 'Only web standards in the server: no `node:` modules unless the platform has them. They need `npm install --save-dev @types/node`, and `"types": ["node"]` in tsconfig.json.',
  ]
  return `# ${name}

An MCP server for ${titles}, with mayfly-mcp.

${lines.map((line) => `- ${line}`).join('\n')}

\`\`\`sh
npm test          # after each change; add a test for each tool in test/server.test.ts
npm run types     # type-check
npm run dev       # serve it here: the URL is the line that begins with ready
npm run check -- <url>    # what clients would complain about
${callOf('<url>', templates.has('auth')).join(' ')}
\`\`\`

Documentation of the installed version: \`${DOCS}/llms.txt\` lists the pages, such as \`${DOCS}/docs/tools.md\`.
`
}

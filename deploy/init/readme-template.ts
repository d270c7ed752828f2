/** The `README.md` of a new project: its commands and its parts. */
import type { Target } from '../contract/target.ts'
import { callOf } from './agents-template.ts'
import { serverPath, type Template } from './server-template.ts'
import type { SignInParts } from './sign-in-template.ts'
import type { TaskParts } from './tasks-template.ts'

export interface ReadmeAnswers {
  readonly name: string
  readonly templates: ReadonlySet<Template>
  readonly targets: readonly (readonly [
    name: string,
    target: Pick<Target, 'defaultPort' | 'title' | 'isOwnMachine'>,
  ])[]
}

/** One of each, or none. */
interface AboutParts {
  readonly tasks: readonly TaskParts[]
  readonly events: readonly TaskParts[]
}

/** @param path of the local endpoint. */
export function readmeFile(
  answers: ReadmeAnswers,
  parts: AboutParts,
  signIn: readonly SignInParts[],
  path = '/mcp',
): string {
  const { name, targets, templates } = answers
  const titles = targets.map(([, { title }]) => title).join(', ')
  // If several scripts are named `start`, package.json has the last.
  const started = targets.findLast(([, { isOwnMachine }]) => isOwnMachine)
  const blocks = targets.map(([target, choice], index) =>
    commandsOf(choice, index === 0 ? '' : `:${target}`, target === started?.[0]),
  )
  const hasAuth = templates.has('auth')
  const url = `http://127.0.0.1:${targets[0]?.[1].defaultPort}${path}`
  const token = hasAuth ? ' The token that clients need is the `API_TOKEN` of `.env`.' : ''
  const call = templates.has('sign-in')
    ? ''
    : ` While it runs, this calls a tool:

\`\`\`sh
${callOf(url, hasAuth).join(' \\\n  ')}
\`\`\``
  return `# ${name}

An MCP server, built with [Mayfly](https://www.npmjs.com/package/mayfly-mcp) for ${titles}.

\`\`\`sh
npm install
npm test
npm run types
\`\`\`
${blocks.join('')}
\`npm run dev\` prints the URL, and how to add it to a client.${token}${call}

\`npm run check -- <url>\` probes a deployed server${templates.has('auth') ? ', with `--bearer-env API_TOKEN` for one that wants a token' : ''}.

${[...signIn.map(({ section }) => section), about(answers, parts)].join('\n')}
`
}

function about({ templates }: ReadmeAnswers, parts: AboutParts): string {
  const file = serverPath(templates)
  const lines = [
    templates.has('fromSdk')
      ? `The server is \`${file}\`: a server of the official SDK, created for each request.`
      : `The server is \`${file}\`. Its tool \`start_over\` asks the user: clients of MCP 2026-07-28 show the question, if they
declare elicitation (else the call is error -32021). Older ones cannot be asked over HTTP, so the model gets the question, asks, and calls
again (\`legacy: 'arguments'\`); over stdio they are asked, or get an explanation if they cannot be. While the user is asked, the state of the call is encrypted
with \`MAYFLY_SECRET\`: yours is in \`.env\`, which stays out of git.`,
    ...(templates.has('asking')
      ? [
          '`play` asks twice and keeps its roll in between: `ctx.step` runs only once, even though the tool runs again.',
        ]
      : []),
    ...parts.tasks.map(
      ({ about }) =>
        `\`tournament\` takes a while and becomes a task; the client polls for its result. ${about} More: node_modules/mayfly-mcp/docs/tasks.md.`,
    ),
    ...parts.events.map(
      ({ about }) =>
        `\`add_note\` emits the event \`note.created\`, to which clients subscribe. ${about} More: node_modules/mayfly-mcp/docs/mcp-events.md.`,
    ),
    ...(templates.has('hono')
      ? ['`src/server.ts` is a Hono app: your routes come first, and the MCP server handles the rest.']
      : []),
    ...(templates.has('auth')
      ? [
          'Clients need the `API_TOKEN` of `.env`, as `Authorization: Bearer <token>`. To verify the tokens of your users, replace it by `jwt` or a provider: node_modules/mayfly-mcp/docs/auth.md.',
        ]
      : []),
  ]
  return lines.join('\n\n')
}

/** @param suffix of its scripts. @param isStarted whether `npm start` runs its build. */
function commandsOf(
  { title, isOwnMachine }: Pick<Target, 'title' | 'isOwnMachine'>,
  suffix: string,
  isStarted: boolean,
): string {
  const deploy = `npm run deploy${suffix}`
  const start = `\nnpm start${' '.repeat(suffix.length)}         # run it with the variables of .env, on HOST and PORT`
  const last = isOwnMachine
    ? `npm run build${suffix}     # then copy dist to your machine${isStarted ? start : ''}`
    : `${deploy}    # build, check, and upload, with the secrets in .env`
  return `
On ${title}:

\`\`\`sh
npm run dev${suffix}       # serve it locally, and reload on change
npm run preview${suffix}   # build, and run the result
npm run doctor${suffix}    # find what is missing, and what will degrade
${last}
\`\`\`
`
}

/** What `mayfly init --with sign-in` adds: people sign in with Google, and a store for their connections. */
import type { GrantPlatform } from '../contract/target.ts'
import { NODE_TYPES, type TaskParts } from './tasks-template.ts'

/** A tool that knows who has signed in. */
export const WHO_AM_I = `
const whoAmI = createTool({
  id: 'who_am_i',
  description: 'Says who has signed in',
  mcp: { annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false } },
  execute: (_input, { auth }) => \`You are \${auth?.extra?.name ?? auth?.subject ?? auth?.clientId}\`,
})
`

export const GOOGLE = ['GOOGLE_ID', 'GOOGLE_SECRET'] as const

const ID =
  'The OAuth client of Google, of the type "Web application": https://console.cloud.google.com/auth/clients'
const SECRET = 'Its secret. Until both are set, npm run dev asks "Who are you?" and believes the answer.'
const DATABASE = {
  name: 'DATABASE_URL',
  comment:
    'The Postgres database for connections, as in postgres://user:password@host/database. Empty: they are in memory and end with the process.',
}

interface Store {
  readonly imports: readonly string[]
  /** Members of the environment. */
  readonly env: readonly string[]
  /** The option of `signIn`. */
  readonly store: string
  readonly variables: TaskParts['variables']
  readonly dependencies: { readonly [name: string]: string }
  readonly devDependencies: { readonly [name: string]: string }
  /** For the README: where connections are stored. */
  readonly about: string
}

const STORES: { readonly [platform in GrantPlatform]: Store } = {
  objects: {
    imports: ["import { durableObjectGrants } from 'mayfly-mcp/cloudflare'"],
    env: ['GRANTS: Parameters<typeof durableObjectGrants>[0]'],
    store: '({ GRANTS }: Env) => durableObjectGrants(GRANTS)',
    variables: [],
    dependencies: {},
    devDependencies: {},
    about: 'a Durable Object (`wrangler.toml`)',
  },
  postgres: {
    imports: ["import { postgresGrants } from 'mayfly-mcp/postgres'", "import postgres from 'postgres'"],
    env: ['DATABASE_URL?: string'],
    store: `({ DATABASE_URL }: Env) =>
    DATABASE_URL
      ? // Without fetch_types: false, a restart of the database ends the process.
        postgresGrants(postgres(DATABASE_URL, { fetch_types: false }), { createTable: true })
      : // Connections end with the process, which is enough for trying it out.
        createMemoryGrants()`,
    variables: [DATABASE],
    dependencies: { postgres: '^3.4.9' },
    devDependencies: {},
    about: 'the Postgres database of `DATABASE_URL`',
  },
  dynamodb: {
    imports: [
      "import { DynamoDB } from '@aws-sdk/client-dynamodb'",
      "import { dynamoGrants } from 'mayfly-mcp/dynamodb'",
    ],
    env: ['GRANTS_TABLE?: string'],
    store: `({ GRANTS_TABLE: table }: Env) =>
    table
      ? dynamoGrants(new DynamoDB({}), { table })
      : // The deployment creates the table. Without one, connections end with the process.
        createMemoryGrants()`,
    variables: [],
    dependencies: { '@aws-sdk/client-dynamodb': '^3.1100.0' },
    devDependencies: NODE_TYPES,
    about: 'a DynamoDB table, which the deployment creates (`"grants"` in package.json)',
  },
}

/** The name of the platform's export in the entry that Cloudflare needs. */
export function grantLines(platform: GrantPlatform | undefined): string[] {
  return platform === 'objects'
    ? [
        '',
        '/** Stores the connections of people; wrangler.toml refers to it. */',
        "export { MayflyGrants } from 'mayfly-mcp/cloudflare'",
      ]
    : []
}

export interface SignInParts extends Omit<TaskParts, 'about'> {
  /** The README's section. */
  readonly section: string
}

export interface SignInPlace {
  /** The local endpoint. */
  readonly url: string
  /** Its path there, and on the platform. */
  readonly path: string
  readonly isOwnMachine: boolean
}

export function signInParts(platform: GrantPlatform, place: SignInPlace): SignInParts {
  const store = STORES[platform]
  return {
    files: [['src/sign-in.ts', source(store)]],
    dependencies: store.dependencies,
    devDependencies: store.devDependencies,
    scripts: {},
    variables: [{ name: GOOGLE[0], comment: ID }, { name: GOOGLE[1], comment: SECRET }, ...store.variables],
    section: section(platform, store, place),
  }
}

const source = ({ imports, env, store }: Store): string => {
  const core = store.includes('createMemoryGrants') ? 'createMemoryGrants, signIn' : 'signIn'
  const lines = [
    ...imports,
    `import { ${core} } from 'mayfly-mcp/sign-in'`,
    "import { google } from 'mayfly-mcp/sign-in/google'",
  ]
  return `${sortedImports(lines).join('\n')}

interface Env {
${env.map((member) => `  ${member}\n`).join('')}}

/** People sign in with Google. In \`mayfly dev\` a stand-in asks who they are, until the two variables are set. */
export const auth = signIn({
  upstream: google({
    clientId: (env) => env.GOOGLE_ID,
    clientSecret: (env) => env.GOOGLE_SECRET,
  }),
  store: ${store},
  // What clients may ask for, each with a sentence for the page where people agree. A scope that a tool needs, as in
  // \`scopes: ['calendar']\`, must be here: a first sign-in asks for all.
  scopes: { dice: 'Roll dice for you' },
  required: ['dice'],
})
`
}

/** By module, as formatters do. */
function sortedImports(lines: readonly string[]): string[] {
  const from = (line: string): string => /'([^']+)'$/.exec(line)?.[1] ?? ''
  return [...lines].sort((a, b) => (from(a) < from(b) ? -1 : 1))
}

function section(
  platform: GrantPlatform,
  { about }: Store,
  { url, path, isOwnMachine }: SignInPlace,
): string {
  const callback = (endpoint: string): string => endpoint.replace(/mcp$/, 'oauth/callback')
  const database = platform === 'postgres' ? ' Set `DATABASE_URL`, too.' : ''
  const own = isOwnMachine
    ? " Set `http: { publicUrl: 'https://<your host>/mcp' }` in the server, so that it knows its URL."
    : ''
  return `## Sign-in

People sign in before they use the server (\`src/sign-in.ts\`); their connections are in ${about}. Each disconnects theirs at
\`${path.replace(/mcp$/, 'connections')}\`.

1. \`npm run dev\`, and connect a client to ${url}: a page asks "Who are you?", and believes the answer. No account is needed.
2. Create an [OAuth client of Google](https://console.cloud.google.com/auth/clients) of the type "Web application", with the redirect URLs
   \`${callback(url)}\` and \`https://<your host>${callback(path)}\`. Put its id and secret into \`.env\`.${database}
3. \`npm run doctor\` says what is missing.${own} Then ${isOwnMachine ? 'copy the build to your machine' : '`npm run deploy`'}.

Other providers, and tools that act for people: node_modules/mayfly-mcp/docs/sign-in.md.
`
}

/** What `mayfly init --with tasks` adds: a long-running tool, a store for its tasks, and a runner. */
import type { TaskPlatform } from '../contract/target.ts'

export const TOURNAMENT = `
const tournament = createTool({
  id: 'tournament',
  description: 'Plays a tournament of dice, which takes a while',
  inputSchema: z.object({ rounds: z.int().min(1).max(10).default(3) }),
  // It becomes a task when it sleeps: the call is answered, and the client polls for the result.
  task: 'auto',
  execute: async ({ rounds }, ctx) => {
    let best = 0
    for (let round = 1; round <= rounds; round++) {
      // A step runs once, even if the tool runs again: its result is stored before the next step begins.
      const roll = await ctx.step(\`roll \${round}\`, () => 1 + Math.floor(Math.random() * 6))
      best = Math.max(best, roll)
      ctx.reportProgress({ progress: round, total: rounds, message: \`round \${round} of \${rounds}\` })
      // Costs nothing while it waits.
      await ctx.sleep(\`rest \${round}\`, 1000)
    }
    const answer = await ctx.elicit(\`The best roll was \${best}. Keep it?\`, z.object({ keep: z.boolean() }))
    return answer.action === 'accept' && answer.content.keep ? \`Kept \${best}\` : 'Forgotten'
  },
})
`

export interface TaskParts {
  /** By path from the project's root. */
  readonly files: readonly (readonly [path: string, text: string])[]
  readonly dependencies: { readonly [name: string]: string }
  readonly devDependencies: { readonly [name: string]: string }
  readonly scripts: { readonly [name: string]: string }
  /** Variables that the server needs, each with a description. `CRON_SECRET` gets a new secret. */
  readonly variables: readonly {
    readonly name: string
    readonly comment: string
    readonly isMade?: boolean
  }[]
  /** For the README. */
  readonly about: string
}

/** Lines of `src/server.ts`. */
export interface TaskLines {
  readonly imports: readonly string[]
  /** Statements after the server is created. */
  readonly lines: readonly string[]
  /** The default export, without an app. */
  readonly exported: string
  /** Routes of the app, before the server's. */
  readonly routes: readonly string[]
}

const DATABASE = {
  name: 'DATABASE_URL',
  comment:
    'The Postgres database for tasks, as in postgres://user:password@host/database. Empty: they are in memory and end with the process.',
}
const CRON = {
  name: 'CRON_SECRET',
  comment: 'The platform’s schedule sends it, so that no one else can run tasks.',
  isMade: true,
}
const POSTGRES = { postgres: '^3.4.9' }
export const NODE_TYPES = { '@types/node': '^24.0.0' }

/** For `src/server.ts`. */
export function taskLines(platform: TaskPlatform): TaskLines {
  if (platform === 'objects')
    return {
      imports: ["import { taskObject } from 'mayfly-mcp/cloudflare'"],
      lines: [
        '',
        '/** Runs the tasks; wrangler.toml refers to it. */',
        'export class MayflyTasks extends taskObject(() => server) {}',
      ],
      exported: 'server',
      routes: [],
    }
  if (platform === 'process') return { imports: [], lines: [], exported: 'server', routes: [] }
  return {
    imports: ["import { createTaskEndpoint } from 'mayfly-mcp/tasks'"],
    lines: [
      ...(platform === 'dynamodb' ? ['', "export { queue } from './tasks.ts'"] : []),
      '',
      '/** The schedule calls this endpoint ("cron" in package.json). It runs the tasks that are due. */',
      'const endpoint = createTaskEndpoint({ server, secret: process.env.CRON_SECRET })',
    ],
    exported: "endpoint.mount('/tasks')",
    routes: ["app.all('/tasks', mcp(endpoint))"],
  }
}

export function taskParts(platform: TaskPlatform, name: string): TaskParts {
  return PARTS[platform](name)
}

const PARTS: { readonly [platform in TaskPlatform]: (name: string) => TaskParts } = {
  objects: () => ({
    files: [
      ['src/tasks.ts', objects],
      ['src/workers.d.ts', WORKERS_TYPES],
    ],
    dependencies: {},
    devDependencies: {},
    scripts: {},
    variables: [],
    about: 'Each task is a Durable Object (`src/tasks.ts`, `wrangler.toml`), whose alarm runs it.',
  }),
  process: () => ({
    files: [['src/tasks.ts', inProcess]],
    dependencies: POSTGRES,
    devDependencies: NODE_TYPES,
    scripts: {},
    variables: [DATABASE],
    about:
      'Tasks are stored in the Postgres database of `DATABASE_URL`, and each process runs those that are due (`src/tasks.ts`). One must always run, and is billed for every second: Cloud Run needs `--min-instances 1 --no-cpu-throttling` (node_modules/mayfly-mcp/docs/deploy/container.md).',
  }),
  cron: (name) => ({
    files: [
      ['src/tasks.ts', withCron],
      ['migrate.mjs', migration(name)],
    ],
    dependencies: POSTGRES,
    devDependencies: NODE_TYPES,
    scripts: { migrate: 'mayfly migrate' },
    variables: [DATABASE, CRON],
    about: `Tasks are stored in the Postgres database of \`DATABASE_URL\` (\`npm run migrate\` creates the table once, and \`npm run migrate -- --stage staging\` that of a stage), and a schedule runs those that are due: it
calls \`/tasks\` each minute, as \`"cron"\` in package.json says, and \`npm run dev\` each second.`,
  }),
  dynamodb: () => ({
    files: [['src/tasks.ts', dynamodb]],
    dependencies: { '@aws-sdk/client-dynamodb': '^3.1100.0', '@aws-sdk/client-sqs': '^3.1100.0' },
    devDependencies: { ...NODE_TYPES, dynalite: '^4.0.0' },
    scripts: {},
    variables: [CRON],
    about: `Tasks are stored in a DynamoDB table, and queue messages run them when they are due; the deployment creates both (\`"tasks"\` in
package.json). A schedule runs tasks whose message was lost, every five minutes (\`"cron"\`): it calls \`/tasks\`, as \`npm run dev\` does each
second, without a queue. Locally, dynalite replaces DynamoDB; it loses its data at each reload.`,
  }),
}

const objects = `import { env } from 'cloudflare:workers'
import { durableObjectTaskStore } from 'mayfly-mcp/cloudflare'
import { createTasks } from 'mayfly-mcp/tasks'

/** Each task is a Durable Object, whose alarm runs it when it is due. */
export const tasks = createTasks({ store: durableObjectTaskStore(env.TASKS) })
`

const WORKERS_TYPES = `/** The parts of the runtime that src/tasks.ts uses. To replace this file by the complete types, run \`npx wrangler types\`. */
declare module 'cloudflare:workers' {
  export const env: {
    readonly TASKS: Parameters<typeof import('mayfly-mcp/cloudflare').durableObjectTaskStore>[0]
  }
}
`

const inProcess = `import { postgresTaskStore } from 'mayfly-mcp/postgres'
import { createMemoryTasks, createTasks, pollingRunner, type TaskSupport } from 'mayfly-mcp/tasks'
import postgres from 'postgres'

/** Without a database they end with the process, which is enough for trying it out. */
export const tasks = process.env.DATABASE_URL ? inPostgres(process.env.DATABASE_URL) : createMemoryTasks()

function inPostgres(url: string): TaskSupport {
  // Without fetch_types: false, a restart of the database ends the process.
  const sql = postgres(url, { fetch_types: false })
  // The first task creates the table, so that the server also starts while the database cannot be reached.
  const store = postgresTaskStore(sql, { createTable: true })
  return createTasks({ store, runner: pollingRunner() })
}
`

const withCron = `import { postgresTaskStore } from 'mayfly-mcp/postgres'
import { createMemoryTasks, createTasks } from 'mayfly-mcp/tasks'
import postgres from 'postgres'

const { DATABASE_URL } = process.env

// Without fetch_types: false, a restart of the database ends the process.
const openStore = (url: string) => postgresTaskStore(postgres(url, { fetch_types: false }))

/** Without a database they end with the process, which is enough for trying it out. */
export const tasks = DATABASE_URL
  ? createTasks({ store: openStore(DATABASE_URL) })
  : createMemoryTasks()
`

const migration = (
  name: string,
): string => `// For mayfly migrate: creates the table for the tasks of this server, or of its stage (MAYFLY_STAGE), in a schema that no API serves. Safe to run again.
import { postgresTaskStore } from 'mayfly-mcp/postgres'
import postgres from 'postgres'

const { DATABASE_URL } = process.env
if (!DATABASE_URL) throw new Error('set DATABASE_URL, in .env, to the Postgres database for tasks')
const sql = postgres(DATABASE_URL, { onnotice: () => {}, fetch_types: false })
await postgresTaskStore(sql).migrate({ server: '${name}' })
await sql.end()
console.log('the table for the tasks of ${name} exists')
`

const dynamodb = `import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { SQS } from '@aws-sdk/client-sqs'
import { dynamoTaskStore } from 'mayfly-mcp/dynamodb'
import { sqsRunner } from 'mayfly-mcp/lambda'
import { createTasks } from 'mayfly-mcp/tasks'

/** The deployment creates the table and the queue. \`mayfly dev\` creates a local table and uses no queue. */
const { TASKS_TABLE: table = 'tasks', TASKS_QUEUE_URL: queueUrl } = process.env

/** Sends a message for each time when a task is due. */
const runner = queueUrl ? sqsRunner(new SQS({}), { queueUrl }) : undefined

export const tasks = createTasks({
  store: dynamoTaskStore(new DynamoDB({}), { table }),
  ...(runner !== undefined && { runner }),
})

/** Reads the queue, in a separate function. */
export const queue = runner?.handler
`

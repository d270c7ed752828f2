/** What `mayfly init --with tasks` adds: a tool that takes long, where its tasks are kept, and who runs them. */
import type { TaskPlatform } from '../contract/target.ts'

/** In the same game as the other tools. */
export const TOURNAMENT = `
const tournament = createTool({
  id: 'tournament',
  description: 'Plays a tournament of dice, which takes a while',
  inputSchema: z.object({ rounds: z.int().min(1).max(10).default(3) }),
  // It becomes a task once it sleeps: the call is answered, and the client asks for the result later.
  task: 'auto',
  execute: async ({ rounds }, ctx) => {
    let best = 0
    for (let round = 1; round <= rounds; round++) {
      // A step runs once, whatever runs again: its result is in the store before the next begins.
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
  /** Variables that the server needs, with what to say of each. A new secret is made for `CRON_SECRET`. */
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
  /** After the server was made. */
  readonly lines: readonly string[]
  /** What is exported, where no app is. */
  readonly exported: string
  /** Routes of an app, before the server's. */
  readonly routes: readonly string[]
}

const DATABASE = {
  name: 'DATABASE_URL',
  comment:
    'The Postgres that keeps tasks, as in postgres://user:password@host/database. Empty: they end with the process, for trying it out.',
}
const CRON = {
  name: 'CRON_SECRET',
  comment: 'What the platform’s schedule sends, so that nobody else runs tasks.',
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
        '/** Runs the tasks: wrangler.toml names it. */',
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
      '/** What the schedule calls: "cron" in package.json. It runs the tasks that are due. */',
      "const endpoint = createTaskEndpoint({ server, secret: process.env.CRON_SECRET ?? '' })",
    ],
    exported: "endpoint.mount('/tasks')",
    routes: ["app.all('/tasks', mcp(endpoint))"],
  }
}

/** Everything else. */
export function taskParts(platform: TaskPlatform, name: string): TaskParts {
  return PARTS[platform](name)
}

const PARTS: { readonly [platform in TaskPlatform]: (name: string) => TaskParts } = {
  objects: (name) => ({
    files: [
      ['src/tasks.ts', objects(name)],
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
      'Tasks are kept in the Postgres of `DATABASE_URL`, and each process runs what is due (`src/tasks.ts`).',
  }),
  cron: () => ({
    files: [
      ['src/tasks.ts', withCron],
      ['migrate.mjs', MIGRATE],
    ],
    dependencies: POSTGRES,
    devDependencies: NODE_TYPES,
    scripts: { migrate: 'node --env-file=.env migrate.mjs' },
    variables: [DATABASE, CRON],
    about: `Tasks are kept in the Postgres of \`DATABASE_URL\` (\`npm run migrate\` makes the table, once), and a schedule runs what is due: it
calls \`/tasks\` each minute, as \`"cron"\` in package.json says, and \`npm run dev\` each second.`,
  }),
  dynamodb: () => ({
    files: [['src/tasks.ts', dynamodb]],
    dependencies: { '@aws-sdk/client-dynamodb': '^3.1100.0', '@aws-sdk/client-sqs': '^3.1100.0' },
    devDependencies: { ...NODE_TYPES, dynalite: '^4.0.0' },
    scripts: {},
    variables: [CRON],
    about: `Tasks are kept in a DynamoDB table, and messages of a queue run them when they are due; the deployment makes both (\`"tasks"\` in
package.json). What a lost message leaves behind, a schedule runs every five minutes (\`"cron"\`): it calls \`/tasks\`, as \`npm run dev\` does each
second, without a queue. On this machine dynalite stands in for DynamoDB, and forgets at each reload.`,
  }),
}

const objects = (name: string): string => `import { env } from 'cloudflare:workers'
import { durableObjectTaskStore } from 'mayfly-mcp/cloudflare'
import { createTasks } from 'mayfly-mcp/tasks'

/** One object a task, whose alarm runs it when it is due. */
export const tasks = createTasks({ store: durableObjectTaskStore(env.TASKS, { name: '${name}' }) })
`

const WORKERS_TYPES = `/** What src/tasks.ts uses of the runtime: \`npx wrangler types\` writes the types of all of it, in place of this file. */
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
export const tasks = process.env.DATABASE_URL ? await inPostgres(process.env.DATABASE_URL) : createMemoryTasks()

async function inPostgres(url: string): Promise<TaskSupport> {
  const store = postgresTaskStore(postgres(url))
  await store.migrate()
  return createTasks({ store, runner: pollingRunner() })
}
`

const withCron = `import { postgresTaskStore } from 'mayfly-mcp/postgres'
import { createMemoryTasks, createTasks } from 'mayfly-mcp/tasks'
import postgres from 'postgres'

const { DATABASE_URL } = process.env

/** Without a database they end with the process, which is enough for trying it out. */
export const tasks = DATABASE_URL
  ? createTasks({ store: postgresTaskStore(postgres(DATABASE_URL), { table: 'mayfly.tasks' }) })
  : createMemoryTasks()
`

/** A schema of its own: Supabase serves what is in `public` to anybody with the public key. */
const MIGRATE = `// Makes the table of the tasks, in a schema that no API serves. It may run again.
import { postgresTaskStore } from 'mayfly-mcp/postgres'
import postgres from 'postgres'

const { DATABASE_URL } = process.env
if (!DATABASE_URL) throw new Error('set DATABASE_URL in .env: the Postgres that keeps the tasks')
const sql = postgres(DATABASE_URL, { onnotice: () => {} })
await sql\`CREATE SCHEMA IF NOT EXISTS mayfly\`
await postgresTaskStore(sql, { table: 'mayfly.tasks' }).migrate()
await sql.end()
console.log('the table mayfly.tasks is there')
`

const dynamodb = `import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { SQS } from '@aws-sdk/client-sqs'
import { dynamoTaskStore } from 'mayfly-mcp/dynamodb'
import { sqsRunner } from 'mayfly-mcp/lambda'
import { createTasks } from 'mayfly-mcp/tasks'

/** The deployment makes the table and the queue; \`mayfly dev\` makes a table on this machine, and does without a queue. */
const { TASKS_TABLE: table = 'tasks', TASKS_QUEUE_URL: queueUrl } = process.env

/** A message for each time at which a task is due. */
const runner = queueUrl ? sqsRunner(new SQS({}), { queueUrl }) : undefined

export const tasks = createTasks({
  store: dynamoTaskStore(new DynamoDB({}), { table }),
  ...(runner !== undefined && { runner }),
})

/** Reads the queue, in a function of its own. */
export const queue = runner?.handler
`

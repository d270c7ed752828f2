/** What `mayfly init --with events` adds: an event, a tool that emits it, a store of events, and what delivers them. */
import type { TaskPlatform } from '../contract/target.ts'
import { NODE_TYPES, type TaskLines, type TaskParts } from './tasks-template.ts'

/** Before the server. */
export const NOTE_CREATED = `
const note = z.object({ text: z.string(), tag: z.string().optional() })

const noteCreated = createEvent({
  id: 'note.created',
  description: 'A note was added; with a tag, only notes that have it',
  // Strict: a misspelt argument would subscribe to all notes.
  inputSchema: z.strictObject({ tag: z.string().optional() }),
  payloadSchema: note,
  // An event looks only at subscriptions with its tag, and at those without one.
  index: ['tag'],
})
`

/** Within \`createServer\`, since it uses the server. */
export const ADD_NOTE = `  const addNote = createTool({
    id: 'add_note',
    description: 'Adds a note, and tells those who have subscribed to its tag, or to all notes',
    inputSchema: note,
    execute: async (added, ctx) => {
      await server.events.emit('note.created', added, { waitUntil: ctx.waitUntil })
      return 'Added'
    },
  })
`

const DATABASE = {
  name: 'DATABASE_URL',
  comment:
    'The Postgres database for events, as in postgres://user:password@host/database. Empty: they are in memory and end with the process.',
}
const CRON = {
  name: 'CRON_SECRET',
  comment: 'The platform’s schedule sends it, so that no one else can call /events.',
  isMade: true,
}

/** For `src/server.ts`. */
export function eventLines(platform: TaskPlatform): TaskLines {
  if (platform === 'process') return { imports: [], lines: [], exported: 'server', routes: [] }
  if (platform === 'objects')
    return {
      imports: [],
      lines: [
        '',
        '/** Store the events, and repeat deliveries that failed; wrangler.toml refers to them. */',
        "export { MayflyEvents } from 'mayfly-mcp/cloudflare'",
        "export { MayflyAlarms } from './events.ts'",
      ],
      exported: 'server',
      routes: [],
    }
  return {
    imports: ["import { createEventAdmin, createEventEndpoint } from 'mayfly-mcp/events-admin'"],
    lines: [
      '',
      '// For `mayfly events`. Without the variable, its requests are refused.',
      'const admin = createEventAdmin({ secret: process.env.MAYFLY_EVENTS_SECRET })',
      '',
      '/** The schedule calls this endpoint ("cron" in package.json). It repeats deliveries that failed. */',
      'const endpoint = createEventEndpoint({ server, secret: process.env.CRON_SECRET, admin })',
    ],
    exported: "endpoint.mount('/events')",
    routes: ["app.all('/events', mcp(endpoint))"],
  }
}

export function eventParts(platform: TaskPlatform): TaskParts {
  return PARTS[platform]
}

const TYPE = "Pick<EventsOptions, 'store' | 'deliver' | 'runner'>"

const objects = `import { env } from 'cloudflare:workers'
import { alarmObject, alarmRunner, durableObjectEvents } from 'mayfly-mcp/cloudflare'

const runner = alarmRunner(env.ALARMS)

/** The alarm of such an object repeats deliveries that failed. */
export class MayflyAlarms extends alarmObject(() => runner) {}

/** Subscriptions and events are in a Durable Object. */
export const delivery = { store: durableObjectEvents(env.EVENTS), runner }
`

const WORKERS_TYPES = `/** The parts of the runtime that src/events.ts uses. To replace this file by the complete types, run \`npx wrangler types\`. */
declare module 'cloudflare:workers' {
  type Objects = Parameters<typeof import('mayfly-mcp/cloudflare').durableObjectEvents>[0]
  export const env: { readonly EVENTS: Objects; readonly ALARMS: Objects }
}
`

/** @param runner what repeats deliveries, if nothing calls the endpoint. */
const inPostgres = (
  runner: string,
): string => `import { createMemoryEvents, type EventsOptions } from 'mayfly-mcp/mcp-events'
import { nodeEventSender } from 'mayfly-mcp/node-events'
import { postgresEvents } from 'mayfly-mcp/postgres'
${runner && "import { pollingRunner } from 'mayfly-mcp/tasks'\n"}import postgres from 'postgres'

type Delivery = ${TYPE}

const { DATABASE_URL } = process.env

/** Without a database they end with the process, which is enough for trying it out. */
export const delivery: Delivery = {
  ...(DATABASE_URL ? inPostgres(DATABASE_URL) : { store: createMemoryEvents() }),
  // Connects to public addresses only.
  deliver: nodeEventSender(),
}

function inPostgres(url: string): Delivery {
  // Without fetch_types: false, a restart of the database ends the process.
  const sql = postgres(url, { fetch_types: false })
  // The first use creates the table, so that the server also starts while the database cannot be reached.
  return { store: postgresEvents(sql, { createTable: true })${runner && `, runner: ${runner}`} }
}
`

const dynamodb = `import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { dynamoEvents } from 'mayfly-mcp/dynamodb'
import { nodeEventSender } from 'mayfly-mcp/node-events'

/** The deployment creates the table, and \`mayfly dev\` a local one. */
const { EVENTS_TABLE: table = 'events' } = process.env

export const delivery = {
  store: dynamoEvents(new DynamoDB({}), { table }),
  // Connects to public addresses only.
  deliver: nodeEventSender(),
}
`

const OPERATE = `Once \`MAYFLY_EVENTS_SECRET\` (32 or more random characters) is in \`.env\` and deployed with \`--secret MAYFLY_EVENTS_SECRET\`,
\`npx mayfly events list --url <address>/events\` lists deliveries that were given up.`

const POSTGRES = { postgres: '^3.4.9' }

const PARTS: { readonly [platform in TaskPlatform]: TaskParts } = {
  objects: {
    files: [
      ['src/events.ts', objects],
      ['src/workers.d.ts', WORKERS_TYPES],
    ],
    dependencies: {},
    devDependencies: {},
    scripts: {},
    variables: [],
    about:
      'Subscriptions and events are in a Durable Object (`src/events.ts`, `wrangler.toml`); the alarm of another one repeats deliveries that failed.',
  },
  process: {
    files: [['src/events.ts', inPostgres('pollingRunner()')]],
    dependencies: POSTGRES,
    devDependencies: NODE_TYPES,
    scripts: {},
    variables: [DATABASE],
    about:
      'Subscriptions and events are in the Postgres database of `DATABASE_URL`, and each process repeats deliveries that failed (`src/events.ts`): one must always run.',
  },
  cron: {
    files: [['src/events.ts', inPostgres('')]],
    dependencies: POSTGRES,
    devDependencies: NODE_TYPES,
    scripts: {},
    variables: [DATABASE, CRON],
    about: `Subscriptions and events are in the Postgres database of \`DATABASE_URL\`. A schedule repeats deliveries that failed: it calls
\`/events\` each minute, as \`"cron"\` in package.json says, and \`npm run dev\` each second.
${OPERATE}`,
  },
  dynamodb: {
    files: [['src/events.ts', dynamodb]],
    dependencies: { '@aws-sdk/client-dynamodb': '^3.1100.0' },
    devDependencies: { ...NODE_TYPES, dynalite: '^4.0.0' },
    scripts: {},
    variables: [CRON],
    about: `Subscriptions and events are in a DynamoDB table, which the deployment creates (\`"events"\` in package.json). A schedule repeats
deliveries that failed (\`"cron"\`): it calls \`/events\` each minute, and \`npm run dev\` each second. Locally, dynalite replaces DynamoDB; it loses its data at each reload.
${OPERATE}`,
  },
}

/** @param options more of the call of `fetch`, and of its headers. */
export const tellsNote = (options: { readonly hasToken: boolean; readonly auth: string }): string => `
it('who polls for notes with a tag gets those, and no others', async () => {
  let id = 0
  const send = async (method: string, params: object): Promise<Record<string, unknown>> => {
    const request = new Request('http://localhost/mcp', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',${options.hasToken ? "\n        authorization: 'Bearer ' + auth," : ''}
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }),
    })
    const { result } = await (await server.fetch(request${options.auth})).json()
    return result
  }
  const wanted = { name: 'note.created', arguments: { tag: 'tea' } }
  const { cursor } = await send('events/poll', { ...wanted, cursor: null })

  await send('tools/call', { name: 'add_note', arguments: { text: 'Oolong', tag: 'tea' } })
  await send('tools/call', { name: 'add_note', arguments: { text: 'Mocha', tag: 'coffee' } })

  expect(await send('events/poll', { ...wanted, cursor })).toMatchObject({ events: [{ data: { text: 'Oolong' } }] })
})
`

/** Tasks in Postgres: `DATABASE_URL=postgres://127.0.0.1/shop npx mayfly dev postgres.ts --target node`. */
import { postgresTaskStore } from 'mayfly-mcp/postgres'
import { createTasks, pollingRunner } from 'mayfly-mcp/tasks'
import postgres from 'postgres'
import { createReports } from './reports.ts'

const url = process.env.DATABASE_URL ?? 'postgres://127.0.0.1/postgres'
// With fetch_types, a restart of Postgres would end this process.
const store = postgresTaskStore(postgres(url, { fetch_types: false }), { createTable: true })

export default createReports(createTasks({ store, runner: pollingRunner() }))

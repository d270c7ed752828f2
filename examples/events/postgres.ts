/** Events over Postgres: `DATABASE_URL=postgres://127.0.0.1/notes npx mayfly dev postgres.ts --target node`. */
import { postgresEvents } from 'mayfly-mcp/postgres'
import postgres from 'postgres'
import { createNotes } from './notes.ts'

const url = process.env.DATABASE_URL ?? 'postgres://127.0.0.1/postgres'
// With fetch_types, a restart of Postgres would end this process.
const client = postgres(url, { fetch_types: false })

export default createNotes(postgresEvents(client, { createTable: true }), process.env.EVENTS_TOKEN)

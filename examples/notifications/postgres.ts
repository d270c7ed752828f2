/** Change notifications over Postgres: `DATABASE_URL=postgres://127.0.0.1/notes npx mayfly dev postgres.ts --target node`. */
import { postgresBus } from 'mayfly-mcp/postgres'
import postgres from 'postgres'
import { createNotes } from './notes.ts'

const client = postgres(process.env.DATABASE_URL ?? 'postgres://127.0.0.1/postgres')

export default createNotes(postgresBus({ client }))

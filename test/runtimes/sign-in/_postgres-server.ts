import { postgresGrants } from 'mayfly-mcp/postgres'
import { Pool } from 'pg'
import { createNotes } from './_notes.ts'

const pool = new Pool({ connectionString: String(process.env.DATABASE_URL) })

export default createNotes({ store: postgresGrants(pool, { createTable: true }) })

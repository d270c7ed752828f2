/** What a stage of the server has stored in databases beside its place, by name: `mayfly destroy` leaves it there. */
import { toTaskTable } from '../../adapters/_postgres/task-schema.ts'
import { isA } from '../../src/definition/error-text.ts'
import { serverName } from '../../src/definition/server-name.ts'
import type { Project } from '../contract/target.ts'
import { describeServer } from '../doctor/load.ts'
import { CliError } from '../terminal/cli-error.ts'

/**
 * A few words each. Empty for a server without an id, such as one of `fromSdk`, whose names are its own options. The server is loaded, to ask
 * for its id; if that fails, it is taken for the project's name, and said.
 */
export async function storedNames(project: Project, stage: string): Promise<readonly string[]> {
  const described = await describeServer(project).catch((error: unknown) => {
    if (!isA(error, CliError)) throw error
    return undefined
  })
  const id = described === undefined ? project.name : described.identity?.id
  if (id === undefined) return []
  const name = serverName(id, stage)
  const doubt = described === undefined ? `, if the server's id is ${id}: it does not load here` : ''
  return [
    `in Postgres: the table ${toTaskTable(name)}${doubt}`,
    `in Redis, NATS and other DynamoDB tables: what begins with ${name}${doubt}`,
  ]
}

/** Works on the store of the project's server, in a process of its own. */
import type { Project } from '../contract/target.ts'
import { runLoaded } from '../doctor/loaded.ts'
import { displayPath } from '../project/entry.ts'
import { ownModule } from '../project/own-module.ts'
import { notReached } from '../tasks/operator.ts'
import { CliError } from '../terminal/cli-error.ts'
import type { HostAnswer } from './host.ts'
import { EVENT_ENDPOINT } from './remote.ts'
import type { Asked, Told } from './request.ts'

const HOST = ownModule('deploy/events/host')

const MAIN = `export { default } from 'mayfly:entry'
export { createEventAdmin } from 'mayfly-mcp/events-admin'
`

/** Milliseconds to load the server and to read many pages. */
const TIMEOUT_MS = 120_000

/** Throws `CliError`. */
export async function askStore(project: Project, asked: Asked): Promise<Told> {
  const { told, isGuessed } = await runLoaded<HostAnswer>(project, {
    script: HOST,
    main: MAIN,
    args: [JSON.stringify(asked)],
    isDeployed: true,
    timeoutMs: TIMEOUT_MS,
  })
  if (told.refusal === undefined) return told
  const entry = displayPath(project.entry)
  if (isGuessed && typeof told.code !== 'string')
    throw new CliError(
      `the store of ${entry} is only reached on Cloudflare: pass its endpoint of events (createEventEndpoint with "admin") as --url`,
    )
  throw notReached(entry, told.refusal, EVENT_ENDPOINT)
}

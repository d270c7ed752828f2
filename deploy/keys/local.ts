/** Works on the store of the project's server, in a process of its own. */
import type { Project } from '../contract/target.ts'
import { runLoaded } from '../doctor/loaded.ts'
import { displayPath } from '../project/entry.ts'
import { ownModule } from '../project/own-module.ts'
import { CliError, printable } from '../terminal/cli-error.ts'
import type { HostAnswer } from './host.ts'
import type { Asked, Told } from './request.ts'
import { askVariable } from './variable.ts'

const HOST = ownModule('deploy/keys/host')

const MAIN = `export { default } from 'mayfly:entry'\n`

/** Milliseconds to load the server and to read many pages. */
const TIMEOUT_MS = 60_000

/** Throws `CliError`. */
export async function askServer(project: Project, asked: Asked): Promise<Told> {
  const { told, isGuessed } = await runLoaded<HostAnswer>(project, {
    script: HOST,
    main: MAIN,
    args: [JSON.stringify(asked)],
    isDeployed: true,
    timeoutMs: TIMEOUT_MS,
  })
  if (told.variable !== undefined) return askVariable(project, told.variable, asked)
  if (told.refusal === undefined) return told
  const isKV = isGuessed || told.refusal.includes('kvKeyStore')
  const remedy = isKV ? ': on Cloudflare, pass the binding of its KV namespace as --kv' : ''
  throw new CliError(`${displayPath(project.entry)}: ${printable(told.refusal)}${remedy}`)
}

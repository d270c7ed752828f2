/** Loads a server in a separate process and reads its description. */
import { isA } from '../../src/definition/error-text.ts'
import type { Project } from '../contract/target.ts'
import { displayPath } from '../project/entry.ts'
import { ownModule } from '../project/own-module.ts'
import { DEVELOPED } from '../run/local-variables.ts'
import { CliError, printable } from '../terminal/cli-error.ts'
import { terminal } from '../terminal/terminal.ts'
import type { Description } from './describe.ts'
import { LoadFailure, type Loading, runLoaded, TooSlow } from './loaded.ts'

const DESCRIBE = ownModule('deploy/doctor/describe')

const MAIN = `export { default } from 'mayfly:entry'\n`

/**
 * Refuses a server that cannot answer any request: throws a `CliError` that names the tool, resource or prompt and its error, or what is
 * exported instead of a server. With `mustLoad`, also one that throws while it loads. What uses modules or globals of its own platform may
 * work there. Returns what is known of it.
 */
export async function refuseFaulty(
  project: Project,
  { signal, mustLoad = false, startsWith }: FaultOptions = {},
): Promise<Pick<Description, 'tools' | 'info' | 'guarded'>> {
  const variables = startsWith === undefined ? undefined : DEVELOPED
  const { fault, info, tools, guarded } = await describeServer(project, { signal, variables }).catch(
    (error): Partial<Description> => {
      if (!isA(error, CliError) || isWrongOnNode(error, mustLoad)) throw error
      if (isA(error, TooSlow)) terminal.warn(error.message)
      return {}
    },
  )
  if (fault !== undefined) throw faultOf(project, fault)
  if (startsWith === undefined || info?.authFault === undefined)
    return { tools, info, ...(guarded && { guarded }) }
  const error = faultOf(project, `auth: ${info.authFault}`)
  if (startsWith === 'the variables of this machine') throw error
  terminal.warn(error.message)
  return { tools, info, ...(guarded && { guarded }) }
}

/** Not where modules or globals of its own platform were missing. */
function isWrongOnNode(error: CliError, mustLoad: boolean): boolean {
  return isA(error, LoadFailure) && !error.isGuess && (mustLoad || error.isNoServer)
}

export interface FaultOptions {
  /** Stops waiting when it aborts. */
  readonly signal?: AbortSignal
  /** Default false. */
  readonly mustLoad?: boolean
  /**
   * The variables that the server starts with: those of this machine must let it authenticate every caller; about others there is only a
   * warning. Undefined: it is not started here.
   */
  readonly startsWith?: 'the variables of this machine' | 'others, too'
}

export function faultOf({ entry }: Pick<Project, 'entry'>, fault: string): CliError {
  return new CliError(`${displayPath(entry)}: ${printable(fault)}`)
}

export interface DescribeOptions extends Pick<Loading, 'signal' | 'isDeployed' | 'variables'> {
  /** The identity provider is asked, too. `url`: of the deployed endpoint, if it is not in the server. */
  readonly asking?: { readonly url?: string | undefined } | undefined
}

/** The 15 seconds of a server that loads, and the 20 of a provider that answers. */
const ASKING_MS = 35_000

/** Throws `CliError` if it does not build, does not load on Node within 15 seconds, or does not export a server. */
export async function describeServer(
  project: Project,
  { asking, ...options }: DescribeOptions = {},
): Promise<Description> {
  const online = asking && { args: [JSON.stringify(asking)], timeoutMs: ASKING_MS }
  const loaded = await runLoaded<Description>(project, {
    script: DESCRIBE,
    main: MAIN,
    ...options,
    ...online,
  })
  // A tool whose description comes from a binding may be valid.
  return loaded.isGuessed ? { ...loaded.told, fault: undefined } : loaded.told
}

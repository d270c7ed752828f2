/** The project's own wrangler, and how to run it. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Project } from '../../contract/target.ts'
import { readEnvFiles } from '../../project/env-files.ts'
import { resolveBin, resolveTool } from '../../project/project-tool.ts'
import { localVariables } from '../../run/local-variables.ts'
import { CliError } from '../../terminal/cli-error.ts'
import { cloudflarePlace } from './place.ts'

export const OLDEST_NODE = 22

/** Older versions refuse options of `devArgs`. On Node 20, npm installs 4.86. */
const OLDEST_MINOR = 110

/** No metrics, no error reports, no request.cf from the network; hiding the banner skips the check for newer versions. */
export const OFFLINE = {
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_SEND_ERROR_REPORTS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
} as const

/**
 * Options that make `wrangler dev` serve only this machine, offline, with the variables of every target. Throws `CliError` for a file that
 * wrangler must not read.
 */
export function devArgs(port: number, project: Project): string[] {
  // By default wrangler reads .dev.vars or the .env files. If several files are passed, the last one with a variable wins.
  const files = filesForWrangler(project)
  const { stage } = project
  return [
    ...files.toReversed().flatMap((file) => ['--env-file', resolve(project.cwd, file)]),
    // The bindings of the stage's environment.
    ...(stage === undefined ? [] : cloudflarePlace(project, { stage }).options),
    '--local',
    ...['--ip', '127.0.0.1', '--port', String(port)],
    // Any free port, so that concurrent runs do not collide.
    ...['--inspector-port', '0'],
    '--show-interactive-dev-session=false',
    // Otherwise a configured route replaces the Host header, and the guard against DNS rebinding cannot work.
    '--infer-origin-from-routes=false',
    ...Object.entries(localVariables()).flatMap(([name, value]) => ['--var', `${name}:${value}`]),
  ]
}

/** The files with variables, which every command of wrangler reads. Throws `CliError` for a file that it must not read. */
export function filesForWrangler(project: Pick<Project, 'cwd' | 'entry' | 'stage'>): readonly string[] {
  const { files, objections } = readEnvFiles(project)
  const [objection] = objections
  if (objection === undefined) return files
  throw new CliError(`${objection}, and wrangler reads the file by itself: correct the file, or remove it`)
}

/** Wrangler's script for Node. Throws `CliError` if it is not installed, too old, or too new for this Node. */
export function wranglerBin(cwd: string): string {
  const bin = resolveBin('wrangler', cwd)
  if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
    throw new CliError(
      `wrangler needs Node ${OLDEST_NODE} or newer and this is ${process.version}: upgrade, or pass --target node`,
    )
  }
  const version = wranglerVersion(cwd)
  const [major, minor = 0] = version.split('.').map(Number)
  if (major === 4 && minor < OLDEST_MINOR) {
    throw new CliError(`wrangler ${version} is too old: run npm install --save-dev wrangler@4`)
  }
  return bin
}

/** Throws `CliError` if it is not installed. */
export function wranglerVersion(cwd: string): string {
  const { version = '' } = JSON.parse(readFileSync(resolveTool('wrangler/package.json', cwd), 'utf8')) as {
    version?: string
  }
  return version
}

/** The secrets of a project: which files may hold them, and their values on the way to a platform's secret store. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseEnv } from 'node:util'
import type { Project } from '../contract/target.ts'
import { CliError, printable, UsageError } from '../terminal/cli-error.ts'
import { isSystemError, systemError } from '../terminal/system-error.ts'
import { projectFolders } from './project.ts'

/** The project's files for what a deployment needs; an earlier file wins over a later one. */
const DEPLOYED_FILES = ['.env', '.env.local', '.env.production', '.env.production.local', '.dev.vars']

/** Every file whose values must not be published: those of other environments are secrets, too. */
const SECRET_FILE = /^\.(?:env|dev\.vars)(?:\.[^/]+)?$/

/** Examples, which are meant to be public. */
const EXAMPLE_FILE = /\.(?:example|sample|template|dist|schema|vault)$/

/** Shorter ones are ports, flags and names, which a bundle may hold by chance. */
const MIN_SECRET_CHARACTERS = 8

/** Not secret either: these name an environment or this machine, and many packages contain them. */
const COMMON_VALUE =
  /^(?:development|production|(?:(?:https?|wss?):\/\/)?(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(?::\d{1,5})?\/?)$/i

/** A variable whose value must not be published. */
export interface Secret {
  /** Where it was found, as a user would type it: a file, or `the environment`. */
  readonly from: string
  readonly name: string
  readonly value: string
}

type Folders = Pick<Project, 'cwd' | 'entry'>

/** The values of `names`, from the environment, else from the project's files. Throws `CliError` for one that is not found. */
export function readSecrets(project: Folders, names: readonly string[]): Map<string, string> {
  const secrets = new Map<string, string>()
  for (const name of names) {
    if (!/^[A-Za-z_]\w*$/.test(name)) {
      throw new UsageError(`"${printable(name)}" is not the name of a variable`)
    }
    const found = findSecret(project, name)
    if (found === undefined) {
      throw new CliError(`there is no value for ${name}: set it in the environment or in .env`)
    }
    secrets.set(name, found.value)
  }
  return secrets
}

/** The value of a variable, and where it was found: the environment, else one of the project's files. */
export function findSecret(project: Folders, name: string): Secret | undefined {
  // Names such as `constructor` are on every object.
  const value = Object.hasOwn(process.env, name) ? process.env[name] : undefined
  if (value !== undefined && value !== '') return { name, value, from: 'the environment' }
  return deployedSecrets(project).find((one) => one.name === name)
}

export interface EnvFileReader {
  /** Whether its reader expands other variables in double quotes. Default true. */
  readonly expands?: boolean
}

/** As a `.env` file, for a tool that reads nothing else. Throws `CliError` for a value that such a file cannot hold. */
export function toEnvFile(
  secrets: ReadonlyMap<string, string>,
  { expands = true }: EnvFileReader = {},
): string {
  return [...secrets].map(([name, value]) => `${name}=${quotedValue(name, value, expands)}\n`).join('')
}

/**
 * Its readers (dotenv's and Deno's) know no common escape for a quote, so the kind is chosen that needs none. Within double quotes
 * most expand other variables, and none keeps a carriage return.
 */
function quotedValue(name: string, value: string, expands: boolean): string {
  const isKept = !/[\r\0]/.test(value)
  if (isKept && !/'|\\$/.test(value)) return `'${value}'`
  if (isKept && !(expands ? /["\\$`]/ : /["\\]/).test(value)) return `"${value}"`
  throw new CliError(
    `no .env file can hold the value of ${name}, for its quotes, backslashes, $ or carriage returns: set it in the platform's dashboard`,
  )
}

/** Variables of the project's files that are not handed over: they will be missing on the platform. */
export function unsentSecrets(project: Folders, sent: ReadonlyMap<string, string>): string[] {
  return [...new Set(deployedSecrets(project).map(({ name }) => name))].filter((name) => !sent.has(name))
}

/**
 * Every value that no built file may hold: of all files of secrets in the project's folders, and those that are `sent`. Without
 * values of fewer than 8 characters, and those that name this machine or an environment: a bundle may hold them by chance.
 */
export function unpublishable(project: Folders, sent: ReadonlyMap<string, string> = new Map()): Secret[] {
  const given = [...sent].map(([name, value]) => ({ name, value, from: 'the environment' }))
  const kept = projectFolders(project).flatMap((folder) =>
    secretFiles(folder).flatMap((name) => readEnvFile(project.cwd, folder, name)),
  )
  return [...kept, ...given].filter(
    ({ value }) => value.trim().length >= MIN_SECRET_CHARACTERS && !COMMON_VALUE.test(value.trim()),
  )
}

function deployedSecrets(project: Folders): Secret[] {
  return projectFolders(project).flatMap((folder) =>
    DEPLOYED_FILES.flatMap((name) => readEnvFile(project.cwd, folder, name)),
  )
}

function secretFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => SECRET_FILE.test(name) && !EXAMPLE_FILE.test(name))
      .sort((a, b) => rank(a) - rank(b))
  } catch {
    // The folder cannot be listed, but its files may be readable.
    return DEPLOYED_FILES
  }
}

/** The most common first: if a value is in several files, the first is named. */
function rank(name: string): number {
  const at = DEPLOYED_FILES.indexOf(name)
  return at < 0 ? DEPLOYED_FILES.length : at
}

/** The variables of one file that have a value; none where there is no such file. Throws `CliError` for one that cannot be read. */
export function readEnvFile(cwd: string, folder: string, name: string): Secret[] {
  const path = join(folder, name)
  const from = printable(relative(cwd, path))
  return Object.entries(parseEnv(readText(path, from))).flatMap(([variable, value]) =>
    value === undefined || value === '' ? [] : [{ from, name: variable, value }],
  )
}

/** Empty for one that does not exist or is a folder. */
function readText(path: string, displayed: string): string {
  try {
    const kind = statSync(path, { throwIfNoEntry: false })
    if (kind === undefined || kind.isDirectory()) return ''
    // A pipe may never end, and a device has no end.
    if (!kind.isFile()) throw new CliError(`cannot read ${displayed}: it is not a file`)
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '')
  } catch (error) {
    if (!isSystemError(error)) throw error
    if (error.code === 'ENOENT' || error.code === 'EISDIR') return ''
    throw systemError(`cannot read ${displayed}`, error)
  }
}

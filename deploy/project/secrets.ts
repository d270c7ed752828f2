/** The secrets of a project: the files that may contain them, and the values to send to a platform's secret store. */
import { readdirSync } from 'node:fs'
import type { Project } from '../contract/target.ts'
import { CliError, printable, UsageError } from '../terminal/cli-error.ts'
import { terminal } from '../terminal/terminal.ts'
import { isReserved, readEnvFile, type Secret } from './env-file.ts'
import { projectFolders } from './project.ts'
import { ownFile, STAGE_VARIABLE } from './stages.ts'
import { deploymentFiles } from './variable-files.ts'

/** Those that are named first, if a value is in several. */
const USUAL_FILES = ['.env', '.env.local', '.env.production', '.env.production.local', '.dev.vars']

/** Every file whose values must not be published, including those of other environments. */
const SECRET_FILE = /^\.(?:env|dev\.vars)(?:\.[^/]+)?$/

/** Example files, which are public. */
const EXAMPLE_FILE = /\.(?:example|sample|template|dist|schema)$/

/** An editor's and encrypted files, which are not text. */
const OTHER_FILE = /\.(?:vault|sw[a-z]|gpg|age)$/

/** Shorter values are ports, flags and names, which a bundle may contain by chance. */
const MIN_SECRET_CHARACTERS = 8

/** Values that name an environment or this machine are not secret either; many packages contain them. */
const COMMON_VALUE =
  /^(?:development|production|(?:(?:https?|wss?):\/\/)?(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(?::\d{1,5})?\/?)$/i

/** Where a value is from that no file has. */
const ENVIRONMENT = 'the environment'

type Folders = Pick<Project, 'cwd' | 'entry' | 'stage'>

/** The values of `names`, from the environment, otherwise from the project's files. Throws `CliError` if one is missing. */
export function readSecrets(project: Folders, names: readonly string[], stage?: string): Map<string, string> {
  const secrets = new Map<string, string>()
  const at = stage ?? project.stage
  refuseNames(names)
  for (const name of names) {
    const found = findSecret(project, name, at)
    if (found === undefined) {
      throw new CliError(
        isReserved(name)
          ? `${name} has no value, and is not taken from a file: set it in the environment`
          : `${name} has no value: set it in the environment or in ${ownFile(at)}, or leave out --secret ${name} (also in the script "deploy" of package.json) if the server does not use it`,
      )
    }
    const other = at === undefined ? otherValue(project, found) : undefined
    if (other !== undefined)
      terminal.note(`${name} is taken from ${found.from}: ${other.from} has another value`)
    secrets.set(name, found.value)
  }
  return secrets
}

/** Those whose value for a stage comes from a file that production reads, too. */
export function sharedSecrets(
  project: Folders,
  names: readonly string[],
  stage: string | undefined,
): readonly string[] {
  if (stage === undefined) return []
  return names.filter((name) => {
    const from = findSecret(project, name, stage)?.from
    return from !== undefined && from !== ENVIRONMENT && !from.includes(`.${stage}`)
  })
}

/** One line about such a secret. */
export function sharedWith(name: string, stage = ''): string {
  return `${name} of ${stage} is the value that production has: write another one into .env.${stage}, or what one of them seals or stores is valid for both`
}

/** Throws `UsageError` for anything but names of variables, and for the stage, which is not a secret. */
export function refuseNames(names: readonly string[]): void {
  if (names.includes(STAGE_VARIABLE))
    throw new UsageError(
      `${STAGE_VARIABLE} is set by --stage: remove it here, or production would be a stage`,
    )
  const wrong = names.find((name) => !/^[A-Za-z_]\w*$/.test(name))
  if (wrong !== undefined) throw new UsageError(`"${printable(wrong)}" is not the name of a variable`)
}

/** What another file has in place of a value that is from production's own file. */
function otherValue(project: Folders, { name, value, from }: Secret): Secret | undefined {
  if (!from.includes('.env.production')) return undefined
  return deployedSecrets(project).find((one) => one.name === name && one.value !== value)
}

/** The value of a variable and its source: the environment, otherwise one of the project's files. */
export function findSecret(project: Folders, name: string, stage = project.stage): Secret | undefined {
  // Every object has names such as `constructor`.
  const value = Object.hasOwn(process.env, name) ? process.env[name] : undefined
  if (value !== undefined && value !== '') return { name, value, from: ENVIRONMENT }
  return deployedSecrets(project, stage).find((one) => one.name === name)
}

export interface EnvFileReader {
  /** Whether its reader expands other variables in double quotes. Default true. */
  readonly expands?: boolean
}

/** Formats them as a `.env` file, for tools that read nothing else. Throws `CliError` for a value that cannot be written in one. */
export function toEnvFile(
  secrets: ReadonlyMap<string, string>,
  { expands = true }: EnvFileReader = {},
): string {
  return [...secrets].map(([name, value]) => `${name}=${quotedValue(name, value, expands)}\n`).join('')
}

/**
 * Parsers (dotenv's and Deno's) share no escape for quotes, so a quote character that the value does not contain is chosen. In double
 * quotes most of them expand variables, and none of them preserves a carriage return.
 */
function quotedValue(name: string, value: string, expands: boolean): string {
  const isKept = !/[\r\0]/.test(value)
  if (isKept && !/'|\\$/.test(value)) return `'${value}'`
  if (isKept && !(expands ? /["\\$`]/ : /["\\]/).test(value)) return `"${value}"`
  throw new CliError(
    `the value of ${name} cannot be written to a .env file, because of its quotes, backslashes, $ or carriage returns: set it in the platform's dashboard`,
  )
}

/** Variables in the project's files that are not sent: they will be missing on the platform. */
export function unsentSecrets(
  project: Folders,
  sent: ReadonlyMap<string, string>,
  stage = project.stage,
): string[] {
  return [...new Set(deployedSecrets(project, stage).map(({ name }) => name))].filter(
    (name) => !sent.has(name) && name !== STAGE_VARIABLE,
  )
}

/**
 * Every value that no built file may contain: from all secret files in the project's folders, and from `sent`. Skips values shorter than 8
 * characters and names of machines or environments, which a bundle may contain by chance, and what an example file says of the same variable.
 */
export function unpublishable(project: Folders, sent: ReadonlyMap<string, string> = new Map()): Secret[] {
  const given = [...sent].map(([name, value]) => ({ name, value, from: ENVIRONMENT }))
  const kept = projectFolders(project).flatMap((folder) => {
    const read = (files: readonly string[]): Secret[] =>
      files.flatMap((name) => readEnvFile(project.cwd, folder, name).variables)
    const shown = read(filesOf(folder, isExampleFile) ?? [])
    return read(secretFiles(folder)).filter(
      ({ name, value }) => !shown.some((one) => one.name === name && one.value === value),
    )
  })
  return [...kept, ...given].filter(
    ({ value }) => value.trim().length >= MIN_SECRET_CHARACTERS && !COMMON_VALUE.test(value.trim()),
  )
}

function deployedSecrets(project: Folders, stage?: string): Secret[] {
  const files = deploymentFiles(stage)
  return projectFolders(project).flatMap((folder) =>
    files
      .flatMap((name) => readEnvFile(project.cwd, folder, name).variables)
      .filter(({ name }) => !isReserved(name)),
  )
}

/** Whether a file of this name holds values that must not be published. */
export function isSecretFile(name: string): boolean {
  return SECRET_FILE.test(name) && !EXAMPLE_FILE.test(name) && !OTHER_FILE.test(name)
}

function isExampleFile(name: string): boolean {
  return SECRET_FILE.test(name) && EXAMPLE_FILE.test(name)
}

/** Undefined if the folder cannot be listed. */
function filesOf(folder: string, isWanted: (name: string) => boolean): string[] | undefined {
  try {
    return readdirSync(folder).filter(isWanted)
  } catch {
    return undefined
  }
}

function secretFiles(folder: string): string[] {
  // If the folder cannot be listed, its files may still be readable.
  return filesOf(folder, isSecretFile)?.sort((a, b) => rank(a) - rank(b)) ?? USUAL_FILES
}

/** Most common first: if a value is in several files, messages name the first. */
function rank(name: string): number {
  const at = USUAL_FILES.indexOf(name)
  return at < 0 ? USUAL_FILES.length : at
}

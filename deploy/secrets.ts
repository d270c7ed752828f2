/** The secrets of a project: which files may hold them, and their values on the way to a platform's secret store. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { CliError, UsageError } from './cli-error.ts'

/** Where values that must not be published are kept in a project; a later one does not replace an earlier one. */
const SECRET_FILES = ['.env', '.env.local', '.env.production', '.env.production.local', '.dev.vars']

/** Shorter ones are ports, flags and names, which a bundle may hold by chance. */
const MIN_SECRET_CHARACTERS = 8

interface Kept {
  readonly file: string
  readonly name: string
  readonly value: string
}

/** The values of `names`, from the environment, else from the project's files. Throws `CliError` for one that is nowhere. */
export function readSecrets(cwd: string, names: readonly string[]): Map<string, string> {
  const secrets = new Map<string, string>()
  for (const name of names) {
    if (!/^[A-Za-z_]\w*$/.test(name)) throw new UsageError(`"${name}" is not the name of a variable`)
    const found = findSecret(cwd, name)
    if (found === undefined) {
      throw new CliError(`there is no value for ${name}: set it in the environment or in .env`)
    }
    secrets.set(name, found.value)
  }
  return secrets
}

/** The value of a variable, and where it was found: the environment, else one of the project's files. */
export function findSecret(cwd: string, name: string): { value: string; from: string } | undefined {
  const value = process.env[name]
  if (value !== undefined && value !== '') return { value, from: 'the environment' }
  const kept = keptSecrets(cwd).find((one) => one.name === name)
  return kept === undefined ? undefined : { value: kept.value, from: kept.file }
}

/** As a `.env` file, for a tool that takes nothing else. Throws `CliError` for a value that such a file cannot hold. */
export function toEnvFile(secrets: ReadonlyMap<string, string>): string {
  return [...secrets].map(([name, value]) => `${name}=${quotedValue(name, value)}\n`).join('')
}

/** Its readers (dotenv's and Deno's) know no common escape for a quote, so the kind is chosen that needs none. */
function quotedValue(name: string, value: string): string {
  if (!/'|\\$/.test(value)) return `'${value}'`
  if (!/["\\]/.test(value)) return `"${value}"`
  throw new CliError(
    `no .env file can hold the value of ${name}, for its quotes and backslashes: set it in the platform's dashboard`,
  )
}

/** Variables of the project's files that are not handed over: they will be missing on the platform. */
export function unsentSecrets(cwd: string, sent: ReadonlyMap<string, string>): string[] {
  return [...new Set(keptSecrets(cwd).map(({ name }) => name))].filter((name) => !sent.has(name))
}

/** Throws `CliError` when the code holds a value of the project's files: what is built may be read by others. */
export function refuseSecrets(code: string, cwd: string): void {
  for (const { file, name, value } of keptSecrets(cwd)) {
    if (value.length < MIN_SECRET_CHARACTERS) continue
    // As it stands, and as it is written inside a string.
    if (!code.includes(value) && !code.includes(JSON.stringify(value).slice(1, -1))) continue
    throw new CliError(
      `the build would hold the value of ${name} from ${file}: read it from ctx.env at run time, and hand it over with mayfly deploy --secret ${name}`,
    )
  }
}

function keptSecrets(cwd: string): Kept[] {
  return SECRET_FILES.flatMap((file) => {
    const path = join(cwd, file)
    if (!existsSync(path)) return []
    return Object.entries(parseEnv(readFileSync(path, 'utf8'))).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [{ file, name, value }],
    )
  })
}

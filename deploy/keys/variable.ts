/** API keys in a variable: the command writes it into the file of production or of the stage, from where a deployment takes it. */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isDeepStrictEqual, parseEnv } from 'node:util'
import { storeFor } from '../../src/keys/audience.ts'
import { toStoredKey } from '../../src/keys/store.ts'
import { environmentKeyStore, type StoredKey } from '../../src/keys.ts'
import type { Project } from '../contract/target.ts'
import { readEnvFile } from '../project/env-file.ts'
import { projectFolders } from '../project/project.ts'
import { toEnvFile } from '../project/secrets.ts'
import { ownFile, stageOption } from '../project/stages.ts'
import { deploymentFiles, stageFiles } from '../project/variable-files.ts'
import { replaceFile, writeNewFile } from '../project/written-file.ts'
import { CliError, printable } from '../terminal/cli-error.ts'
import { terminal } from '../terminal/terminal.ts'
import type { HostAnswer } from './host.ts'
import { type Asked, perform, type Told } from './request.ts'

/** AWS Lambda allows 4 KB for all variables, and Cloudflare 5 KB for one. */
const MAX_USUAL_BYTES = 3500

/** Throws `CliError`. */
export async function askVariable(
  project: Project,
  { name: variable, audience }: NonNullable<HostAnswer['variable']>,
  asked: Asked,
): Promise<Told> {
  const { stage } = project
  const { path, value } = findValue(project, variable)
  const store = environmentKeyStore({ [variable]: value })
  const entries = entriesIn(value)
  if (value !== '' && store.fault !== undefined) {
    // One entry that cannot be read must not keep a leaked key alive. It lets no one in, and stays as it is.
    if (entries === undefined || asked.action === 'create') throw new CliError(printable(store.fault))
    terminal.warnOnce(store.fault)
  }
  const own = storeFor(store, audience)
  if (asked.action === 'list') return perform(asked, own)
  if (asked.action === 'revoke') {
    if (entries === undefined || (await own.read(asked.id)) === undefined) return { isRevoked: false }
    write(path, { variable, stage, entries: entries.filter((entry) => idOf(entry) !== asked.id) })
    return { isRevoked: true }
  }
  const { keys } = await store.list({ limit: 1 })
  const added = [...keys, { ...asked.stored, ...audience }]
  write(path, { variable, stage, entries: added.map(withoutDefaults) })
  return { isCreated: true, audience }
}

/** Undefined: it is not a list. */
function entriesIn(value: string): readonly unknown[] | undefined {
  try {
    const entries: unknown = JSON.parse(value)
    return Array.isArray(entries) ? entries : undefined
  } catch {
    return undefined
  }
}

/** Undefined for an entry that is not a key. */
function idOf(entry: unknown): string | undefined {
  try {
    return toStoredKey(entry).id
  } catch {
    return undefined
  }
}

/** At a stage, only in its own files: others have the keys of production. */
function findValue(project: Project, variable: string): { readonly path: string; readonly value: string } {
  const { cwd, stage } = project
  const file = ownFile(stage)
  // The environment would win over the file.
  if (process.env[variable])
    throw new CliError(`${variable} is set in the environment: unset it, so that the one of ${file} is used`)
  const names = stage === undefined ? deploymentFiles(stage) : stageFiles(stage)
  for (const folder of projectFolders(project))
    for (const name of names) {
      const { from, variables, differs } = readEnvFile(cwd, folder, name)
      const found = variables.find((one) => one.name === variable)
      if (found === undefined) continue
      if (differs !== undefined) throw new CliError(`${from} ${differs}: it is not written`)
      return { path: join(folder, name), value: found.value }
    }
  return { path: resolve(cwd, file), value: '' }
}

interface Written {
  readonly variable: string
  readonly stage: string | undefined
  readonly entries: readonly unknown[]
}

/** Throws `CliError`. */
function write(path: string, { variable, stage, entries }: Written): void {
  // An apostrophe would end the value.
  const json = JSON.stringify(entries).replaceAll("'", '\\u0027')
  const line = toEnvFile(new Map([[variable, json]]))
  if (json.length > MAX_USUAL_BYTES)
    terminal.warn(`${variable} has ${json.length} bytes, more than some platforms allow: use a store instead`)
  const toError = (reason: string): CliError => new CliError(`${printable(path)} ${reason}`)
  if (!existsSync(path)) {
    writeNewFile(path, line)
  } else {
    // A link stays one.
    const real = realpathSync(path)
    const text = readFileSync(real, 'utf8')
    const written = withLine(text, variable, line)
    if (written === undefined)
      throw toError(
        `has values that span lines in a way that is not understood: put ${variable} on a line of its own`,
      )
    const isUnchanged = (): boolean => readFileSync(real, 'utf8') === text
    if (!replaceFile(real, written, { stats: statSync(real), isUnchanged, toError }))
      throw toError('was changed by another program: try again')
  }
  terminal.note(
    `wrote ${printable(path)}: deploy it with mayfly deploy --secret ${variable}${stageOption(stage)}`,
  )
}

function withoutDefaults({ owner, ...key }: StoredKey): object {
  return { ...key, ...(owner !== key.name && { owner }) }
}

/** An assignment as `parseEnv` reads it: the value may have quotes, and lines within them. */
const ASSIGNMENT =
  /^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*(?:'[^']*'|"[^"]*"|`[^`]*`)?[^\r\n]*(?:\r?\n|$)/gm

/** With this line in place of the variable's own, otherwise at the end. Undefined if other variables would change. */
function withLine(text: string, variable: string, line: string): string | undefined {
  let isWritten = false
  const replaced = text.replaceAll(ASSIGNMENT, (assignment, name) => {
    if (name !== variable) return assignment
    const own = isWritten ? '' : line
    isWritten = true
    return own
  })
  const written = isWritten ? replaced : `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${line}`
  const expected = { ...parseEnv(text), ...parseEnv(line) }
  return isDeepStrictEqual({ ...parseEnv(written) }, expected) ? written : undefined
}

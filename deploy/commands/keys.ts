/** `mayfly keys`: makes, lists and revokes API keys. */

import { join } from 'node:path'
import { fileKeyStore } from '../../adapters/_node/key-file.ts'
import { kvKeyStore } from '../../adapters/cloudflare-keys.ts'
import { isA, textOf } from '../../src/definition/error-text.ts'
import { toJsonLine } from '../../src/definition/json-line.ts'
import { createStoredKey } from '../../src/keys/admin.ts'
import { type Audience, describeAudience, storeFor, toAudience } from '../../src/keys/audience.ts'
import { idWithin } from '../../src/keys/key.ts'
import type { KeyStore } from '../../src/keys/store.ts'
import { askServer } from '../keys/local.ts'
import { renderKeys } from '../keys/render.ts'
import { type Asked, perform, type Told } from '../keys/request.ts'
import { wranglerNamespace } from '../keys/wrangler-kv.ts'
import { refuseForeign } from '../project/owner.ts'
import { projectName, readProject } from '../project/project.ts'
import { chooseStage, stageOption } from '../project/stages.ts'
import { CliError, printable, UsageError } from '../terminal/cli-error.ts'
import { oneEntry, orMeant, parseCommand } from '../terminal/command-line.ts'
import type { Help } from '../terminal/help.ts'
import { isSystemError } from '../terminal/system-error.ts'
import { terminal } from '../terminal/terminal.ts'
import { STAGE_HELP } from './_project-command.ts'

const HELP: Help = {
  usage: [
    'mayfly keys create <name> [entry] [--scopes <a,b>] [--expires <time>] [--owner <caller>] [--json]',
    'mayfly keys list [entry] [--all] [--json]',
    'mayfly keys revoke <id or name> [entry]',
  ],
  options: [
    [
      'name',
      'what people call the key. The key itself is printed on stdout, once: only a hash of it is stored',
    ],
    [
      'entry',
      'the file whose default export is the server; default src/server.ts, server.ts or src/index.ts. The store of its apiKeys is used directly; for environmentKeyStore, .env is written, or .env.<stage>',
    ],
    ['--scopes', 'what its calls may use, such as orders:read,orders:write; default none'],
    ['--expires', 'after 12h, 90d, 8w or 1y, or on a day such as 2027-12-31; default never'],
    ['--owner', 'whose calls they are, ctx.auth.clientId; default the name'],
    ['--all', 'list revoked and expired keys, too'],
    STAGE_HELP,
    ['--file', "instead of the server's store, the file of a fileKeyStore"],
    [
      '--kv',
      "instead of the server's store, the Cloudflare KV namespace with this binding, by the project's wrangler",
    ],
    ['--server', 'with --file and --kv: the id of the server; default, except for create, the keys of all'],
    ['--local', 'with --kv: the namespace of mayfly dev'],
    ['--json', 'print JSON'],
    ['--quiet', 'print only the result, warnings and errors'],
  ],
  text: ['Exit codes: 0 done, 1 refused or not reached, 2 invalid command line.'],
  examples: ['mayfly keys create ci --scopes deploy --expires 90d'],
  page: 'auth.md',
}

const ACTIONS = ['create', 'list', 'revoke'] as const
const OF_CREATE = ['scopes', 'expires', 'owner'] as const

/** Throws `CliError`. */
export async function keys(args: string[]): Promise<number> {
  const line = parseCommand('keys', HELP, args, {
    scopes: { type: 'string' },
    expires: { type: 'string' },
    owner: { type: 'string' },
    all: { type: 'boolean' },
    file: { type: 'string' },
    kv: { type: 'string' },
    server: { type: 'string' },
    stage: { type: 'string' },
    local: { type: 'boolean' },
    json: { type: 'boolean' },
    quiet: { type: 'boolean' },
  })
  if (line === undefined) return 0
  const { values, positionals } = line
  if (values.quiet) terminal.beQuiet()
  const [action, rest] = parseAction(positionals, values)
  const given = action === 'list' ? undefined : rest[0]
  const entries = action === 'list' ? rest : rest.slice(1)
  const place = parsePlace(action, values, entries)
  if (action === 'list')
    return showList(await ask(place, { action, isAll: values.all === true }), values.json === true)
  if (action === 'revoke') return showRevoked(await revoke(place, given), values.json === true)
  return create(place, given, values)
}

type Values = {
  readonly [name in 'scopes' | 'expires' | 'owner' | 'file' | 'kv' | 'server' | 'stage']?: string | undefined
} & {
  readonly [name in 'all' | 'local' | 'json']?: boolean | undefined
}

/** Where the keys are. */
type Place = { readonly stage: string | undefined } & (
  | ({ readonly file: string } & Chosen)
  | ({ readonly kv: string; readonly where: 'remote' | 'local' } & Chosen)
  | { readonly entry: string | undefined }
)

/** Undefined: the keys of all servers in the store. */
interface Chosen {
  readonly audience: Audience | undefined
}

/** Throws `UsageError`. */
function parseAction(
  [action, ...rest]: readonly string[],
  values: Values,
): readonly [(typeof ACTIONS)[number], readonly string[]] {
  const known = ACTIONS.find((one) => one === action)
  if (known === undefined) {
    const given = action === undefined ? 'no action is given' : `"${printable(action)}" is not an action`
    throw new UsageError(
      `${given}: ${orMeant(action ?? '', ACTIONS, 'pass create, list or revoke, as in mayfly keys list')}`,
    )
  }
  const foreign =
    (known !== 'create' && OF_CREATE.find((name) => values[name] !== undefined)) ||
    (known !== 'list' && values.all !== undefined && 'all')
  if (foreign)
    throw new UsageError(`--${foreign} is only for mayfly keys ${foreign === 'all' ? 'list' : 'create'}`)
  return [known, rest]
}

/** Throws `UsageError`. */
function parsePlace(
  action: (typeof ACTIONS)[number],
  { file, kv, local, server, stage: given }: Values,
  entries: readonly string[],
): Place {
  if (file !== undefined && kv !== undefined) throw new UsageError('pass --file or --kv, not both')
  if (local && kv === undefined) throw new UsageError('--local is only for --kv')
  if (file === '' || kv === '') throw new UsageError(`--${file === '' ? 'file' : 'kv'} is empty`)
  const stage = chooseStage(given)
  if (file === undefined && kv === undefined) {
    if (server !== undefined) throw new UsageError('--server is only for --file and --kv: the entry names it')
    return { entry: oneEntry(entries), stage }
  }
  if (entries.length > 0)
    throw new UsageError(
      `--${file === undefined ? 'kv' : 'file'} takes no entry: got ${printable(entries.join(', '))}`,
    )
  const option = file === undefined ? '--kv' : '--file'
  if (server === '' || (server === undefined && action === 'create'))
    throw new UsageError(`which server is the key for? pass its id: ${option} … --server <id>`)
  if (server === undefined && given !== undefined) throw new UsageError('--stage needs --server')
  const audience = server === undefined ? undefined : toAudience(server, stage)
  return file === undefined
    ? { kv: kv!, where: local ? 'local' : 'remote', audience, stage }
    : { file, audience, stage }
}

async function ask(place: Place, asked: Asked): Promise<Told> {
  const cwd = process.cwd()
  const { stage } = place
  if ('entry' in place) return askServer({ ...readProject(cwd, place.entry), stage }, asked)
  const part = (store: KeyStore) => (place.audience === undefined ? store : storeFor(store, place.audience))
  try {
    if ('file' in place) return await perform(asked, part(fileKeyStore(place.file)))
    refuseForeign(cwd)
    const project = { cwd, entry: join(cwd, 'server.ts'), name: projectName(cwd), stage }
    const namespace = wranglerNamespace(project, place.kv, place.where)
    // A start of wrangler for each call, which takes seconds.
    return await perform(asked, part(kvKeyStore(namespace, { timeoutMs: 30_000 })))
  } catch (error) {
    if (isA(error, CliError) || isSystemError(error)) throw error
    throw new CliError(printable(textOf(error)))
  }
}

async function create(place: Place, name: string | undefined, values: Values): Promise<number> {
  if (name === undefined) throw new UsageError('what is its name? mayfly keys create <name>')
  const { scopes, expires, owner } = values
  const options = {
    name,
    ...(owner !== undefined && { owner }),
    ...(scopes !== undefined && { scopes: scopes.split(',').filter((scope) => scope !== '') }),
    ...(expires !== undefined && { expiresAt: parseExpiry(expires) }),
  }
  const { key, ...stored } = await createStoredKey(options).catch((error: unknown) => {
    throw new UsageError(printable(textOf(error)))
  })
  const { isCreated, audience } = await ask(place, { action: 'create', stored })
  if (isCreated !== true) throw new CliError('the store did not take the key: try again')
  const { hash: _, ...info } = stored
  process.stdout.write(values.json ? `${toJsonLine({ ...info, ...audience, key })}\n` : `${key}\n`)
  terminal.note(
    `made mk_${stored.id} for "${stored.name}"${audience && ` of ${printable(describeAudience(audience))}`}: keep the key now, it is not shown again`,
  )
  if (!values.json) terminal.next('clients send it as Authorization: Bearer <key>')
  return 0
}

async function revoke(place: Place, given: string | undefined): Promise<Told> {
  if (given === undefined || given === '')
    throw new UsageError('which key? pass its id or its name: mayfly keys revoke <id>')
  const id = idWithin(given) ?? (await idOfName(place, given))
  return ask(place, { action: 'revoke', id })
}

/** Throws `CliError` unless exactly one active key has this name. */
async function idOfName(place: Place, name: string): Promise<string> {
  // What is meant as an id is not looked for. It is not repeated, since it may be most of a key, and terminals are recorded.
  if (name.startsWith('mk_')) throw new UsageError('that is not the id of a key, such as mk_4fKq9ZsT1bXw')
  const { keys = [], isCut } = await ask(place, { action: 'list', isAll: false })
  const [found, ...others] = keys.filter((key) => key.name === name)
  if (found === undefined || isCut)
    throw new CliError(
      `no active key has this id or name: mayfly keys list${stageOption(place.stage)} shows them`,
    )
  if (others.length > 0) {
    const ids = [found, ...others].slice(0, 10).map((key) => `mk_${key.id}`)
    throw new CliError(
      `${others.length + 1} keys have the name "${printable(name)}": pass the id of one of them, ${ids.join(', ')}`,
    )
  }
  terminal.note(`mk_${found.id} has the name "${printable(name)}"`)
  return found.id
}

function showList({ keys = [], isCut }: Told, isJson: boolean): number {
  process.stdout.write(isJson ? `${toJsonLine({ keys })}\n` : renderKeys(keys))
  if (isCut) terminal.warn(`there are more: only ${keys.length} are listed`)
  if (!isJson)
    terminal.next(
      keys.length === 0
        ? 'npx mayfly keys create <name>, with the same options'
        : 'npx mayfly keys revoke <key> ends one, with the same options',
    )
  return 0
}

function showRevoked({ isRevoked = false }: Told, isJson: boolean): number {
  if (isJson) process.stdout.write(`${toJsonLine({ revoked: isRevoked })}\n`)
  else process.stdout.write(isRevoked ? 'revoked\n' : 'there is no such key\n')
  if (!isJson) terminal.next('npx mayfly keys list, with the same options')
  return isRevoked ? 0 : 1
}

const DAY_MS = 86_400_000
const UNITS: { readonly [unit: string]: number } = {
  h: 3_600_000,
  d: DAY_MS,
  w: 7 * DAY_MS,
  y: 365 * DAY_MS,
}

/** Throws `UsageError`. */
function parseExpiry(text: string): number {
  const [, count, unit = ''] = /^([1-9]\d{0,4})([hdwy])$/.exec(text) ?? []
  if (count !== undefined) return Date.now() + Number(count) * UNITS[unit]!
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  // The last day of February is not in March.
  if (day > Date.now() && new Date(day).toISOString().startsWith(text)) return day
  throw new UsageError(
    `"${printable(text)}" is not a time for --expires: pass 12h, 90d, 8w, 1y or a later day`,
  )
}

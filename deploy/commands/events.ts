/** `mayfly events`: lists, shows and redelivers dead letters of MCP Events. */
import { toJsonLine } from '../../src/definition/json-line.ts'
import type { DeadLetterListOptions } from '../../src/events-admin.ts'
import { isDeadId } from '../../src/mcp-events/keys.ts'
import { isCursor } from '../../src/tasks/stored.ts'
import { askStore } from '../events/local.ts'
import { askEndpoint, EVENT_ENDPOINT } from '../events/remote.ts'
import { renderDetails, renderList } from '../events/render.ts'
import type { Asked, Told } from '../events/request.ts'
import { readProject } from '../project/project.ts'
import { chooseStage, stageOption } from '../project/stages.ts'
import { operatorSecret, parseEndpoint } from '../tasks/operator.ts'
import { printable, UsageError } from '../terminal/cli-error.ts'
import { oneEntry, orMeant, parseCommand, parseTime } from '../terminal/command-line.ts'
import type { Help } from '../terminal/help.ts'
import { quoted } from '../terminal/shell-word.ts'
import { terminal } from '../terminal/terminal.ts'
import { STAGE_HELP } from './_project-command.ts'

const HELP: Help = {
  usage: [
    'mayfly events list [entry] [--url <endpoint>] [--reason <reason>] [--name <event>] [--older-than <time>] [--younger-than <time>] [--limit <n>] [--after <next>] [--json]',
    ['mayfly events show <id> [entry]', 'the event, and the subscription that did not get it'],
    ['mayfly events redeliver <id> [entry]', 'deliver it again, with the same eventId'],
  ],
  options: [
    [
      'entry',
      'the file whose default export is the server; default src/server.ts, server.ts or src/index.ts. Its store is used directly',
    ],
    STAGE_HELP,
    [
      '--url',
      'the endpoint of events with "admin" (https://example.com/events) instead, with MAYFLY_EVENTS_SECRET of the environment or a file',
    ],
    ['--reason', 'refused (410 or 413) or expired'],
    ['--name', 'only of this event'],
    ['--older-than, --younger-than', 'by the time when it was given up: 90s, 10m, 2h or 7d'],
    ['--limit', 'letters to list; default 50'],
    ['--after', 'go on after a list that was not the last'],
    ['--json', 'print JSON'],
    ['--quiet', 'print only warnings and errors'],
  ],
  text: ['Exit codes: 0 done, 1 refused or not reached, 2 invalid command line.'],
  examples: [
    'mayfly events list --stage staging',
    'mayfly events list --url https://example.com/events --reason refused --younger-than 1h',
  ],
  page: 'mcp-events-running.md',
}

const ACTIONS = ['list', 'show', 'redeliver'] as const
const REASONS = ['refused', 'expired'] as const
const FILTERS = ['reason', 'name', 'older-than', 'younger-than', 'limit', 'after'] as const
const DEFAULT_LIMIT = 50
const MAX_LIMIT = 10_000

/** Throws `CliError`. */
export async function events(args: string[]): Promise<number> {
  const line = parseCommand('events', HELP, args, {
    url: { type: 'string' },
    stage: { type: 'string' },
    reason: { type: 'string' },
    name: { type: 'string' },
    'older-than': { type: 'string' },
    'younger-than': { type: 'string' },
    limit: { type: 'string' },
    after: { type: 'string' },
    json: { type: 'boolean' },
    quiet: { type: 'boolean' },
  })
  if (line === undefined) return 0
  const { values, positionals } = line
  if (values.quiet) terminal.beQuiet()
  const { asked, rest } = parseAsked(positionals, values)
  const endpoint = values.url === undefined ? undefined : parseEndpoint(values.url, EVENT_ENDPOINT)
  if (endpoint !== undefined && rest.length > 0)
    throw new UsageError(`--url takes no entry: got ${printable(rest.join(', '))}`)
  const stage = chooseStage(values.stage)
  const told =
    endpoint === undefined
      ? await askStore({ ...readProject(process.cwd(), oneEntry(rest)), stage }, asked)
      : await askEndpoint(endpoint, operatorSecret(EVENT_ENDPOINT, stage), asked)
  const what =
    values.url === undefined
      ? rest.map((entry) => ` ${quoted(entry)}`).join('')
      : ` --url ${quoted(values.url)}`
  show(asked, told, { isJson: values.json === true, where: `${what}${stageOption(stage)}` })
  return 0
}

interface Shown {
  readonly isJson: boolean
  /** The store, for the next command: ` --url https://example.com/events`. */
  readonly where: string
}

function show(asked: Asked, { page, details, redelivered }: Told, { isJson, where }: Shown): void {
  const print = (told: object, text: string): void =>
    void process.stdout.write(isJson ? `${toJsonLine(told)}\n` : text)
  if (page !== undefined) {
    print(page, renderList(page))
    if (!isJson && page.next !== undefined) terminal.note(`there are more: pass --after=${page.next}`)
    if (!isJson && page.letters.length > 0)
      terminal.next(`npx mayfly events show <id>${where} tells what was lost, and for whom`)
  }
  // Only an id that was checked is part of a command.
  const id = 'id' in asked ? asked.id : ''
  if (details !== undefined) {
    print(details, renderDetails(details))
    const isPossible = details.event !== null && details.subscription !== null
    if (!isJson) terminal.next(`npx mayfly events ${isPossible ? `redeliver ${id}` : 'list'}${where}`)
  }
  if (redelivered !== undefined) {
    const when = redelivered.isActive
      ? 'is delivered in the next run'
      : 'is delivered when its client has refreshed the subscription, which is suspended'
    print(redelivered, `${printable(redelivered.eventId)} ${when}\n`)
    if (!isJson) terminal.next(`npx mayfly events list${where}`)
  }
}

type Values = { readonly [name in (typeof FILTERS)[number]]?: string | undefined }

/** Throws `UsageError`. */
function parseAsked(
  [action, ...others]: readonly string[],
  values: Values,
): { readonly asked: Asked; readonly rest: readonly string[] } {
  const known = ACTIONS.find((one) => one === action)
  if (known === undefined) {
    const given = action === undefined ? 'no action is given' : `"${printable(action)}" is not an action`
    throw new UsageError(
      `${given}: ${orMeant(action ?? '', ACTIONS, 'pass list, show or redeliver, as in mayfly events list')}`,
    )
  }
  if (known === 'list') return { asked: { action: 'list', options: parseFilters(values) }, rest: others }
  const filter = FILTERS.find((name) => values[name] !== undefined)
  if (filter !== undefined) throw new UsageError(`--${filter} is only for mayfly events list`)
  const [id, ...rest] = others
  if (id === undefined) throw new UsageError(`which dead letter? pass its id: mayfly events ${known} <id>`)
  if (!isDeadId(id)) throw new UsageError(`"${printable(id)}" is not the id of a dead letter`)
  return { asked: { action: known, id }, rest }
}

/** Throws `UsageError`. */
function parseFilters(values: Values): DeadLetterListOptions & { readonly limit: number } {
  const { reason, name, after, limit = String(DEFAULT_LIMIT) } = values
  const known = REASONS.find((one) => one === reason)
  if (reason !== undefined && known === undefined)
    throw new UsageError(`"${printable(reason)}" is not a reason: pass ${REASONS.join(' or ')}`)
  if (!/^\d{1,5}$/.test(limit) || Number(limit) < 1 || Number(limit) > MAX_LIMIT)
    throw new UsageError(`"${printable(limit)}" is not a limit: pass a number from 1 to ${MAX_LIMIT}`)
  if (after !== undefined && !isCursor(after))
    throw new UsageError('--after takes what an earlier list named')
  const { 'older-than': older, 'younger-than': younger } = values
  return {
    limit: Number(limit),
    ...(known !== undefined && { reason: known }),
    ...(name !== undefined && { name }),
    ...(after !== undefined && { after }),
    ...(older !== undefined && { olderThanMs: parseTime('older-than', older) }),
    ...(younger !== undefined && { youngerThanMs: parseTime('younger-than', younger) }),
  }
}

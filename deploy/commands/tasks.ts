/** `mayfly tasks`: lists, shows, retries and cancels durable tasks. */

import { toJsonLine } from '../../src/definition/json-line.ts'
import { TASK_STATUSES } from '../../src/tasks/record.ts'
import { isCursor, isTaskId } from '../../src/tasks/stored.ts'
import type { TaskListOptions } from '../../src/tasks-admin.ts'
import { readProject } from '../project/project.ts'
import { chooseStage, stageOption } from '../project/stages.ts'
import { askStore } from '../tasks/local.ts'
import { operatorSecret, parseEndpoint } from '../tasks/operator.ts'
import { askEndpoint, TASK_ENDPOINT } from '../tasks/remote.ts'
import { renderDetails, renderList } from '../tasks/render.ts'
import type { Asked, Told } from '../tasks/request.ts'
import { printable, UsageError } from '../terminal/cli-error.ts'
import { oneEntry, orMeant, parseCommand, parseTime } from '../terminal/command-line.ts'
import type { Help } from '../terminal/help.ts'
import { quoted } from '../terminal/shell-word.ts'
import { terminal } from '../terminal/terminal.ts'
import { STAGE_HELP } from './_project-command.ts'

const HELP: Help = {
  usage: [
    'mayfly tasks list [entry] [--url <endpoint>] [--status <status>] [--tool <name>] [--older-than <time>] [--younger-than <time>] [--limit <n>] [--after <next>] [--json]',
    ['mayfly tasks show <id> [entry]', 'its arguments, journal, questions and result'],
    [
      'mayfly tasks retry <id> [entry]',
      'run it now; a failed one is tried again as a new task, from the step that failed',
    ],
    'mayfly tasks cancel <id> [entry]',
  ],
  options: [
    [
      'entry',
      'the file whose default export is the server; default src/server.ts, server.ts or src/index.ts. Its store is used directly',
    ],
    STAGE_HELP,
    [
      '--url',
      'the task endpoint with "admin" (https://example.com/tasks) instead, with MAYFLY_TASKS_SECRET of the environment or a file',
    ],
    [
      '--status',
      'working, input_required, completed, failed (also completed with an error result) or cancelled',
    ],
    ['--tool', 'only tasks of this tool'],
    ['--older-than, --younger-than', 'by the age of the task: 90s, 10m, 2h or 7d'],
    ['--limit', 'tasks to list; default 50'],
    ['--after', 'go on after a list that was not the last'],
    ['--json', 'print JSON'],
    ['--quiet', 'print only warnings and errors'],
  ],
  text: ['Exit codes: 0 done, 1 refused or not reached, 2 invalid command line.'],
  examples: [
    'mayfly tasks list --stage staging',
    'mayfly tasks list --url https://example.com/tasks --status failed --older-than 10m',
  ],
  page: 'tasks-admin.md',
}

const ACTIONS = ['list', 'show', 'retry', 'cancel'] as const
const FILTERS = ['status', 'tool', 'older-than', 'younger-than', 'limit', 'after'] as const
const DEFAULT_LIMIT = 50
const MAX_LIMIT = 10_000

/** Throws `CliError`. */
export async function tasks(args: string[]): Promise<number> {
  const line = parseCommand('tasks', HELP, args.map(asPositional), {
    url: { type: 'string' },
    stage: { type: 'string' },
    status: { type: 'string' },
    tool: { type: 'string' },
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
  const endpoint = values.url === undefined ? undefined : parseEndpoint(values.url, TASK_ENDPOINT)
  if (endpoint !== undefined && rest.length > 0)
    throw new UsageError(`--url takes no entry: got ${printable(rest.join(', '))}`)
  const stage = chooseStage(values.stage)
  const told =
    endpoint === undefined
      ? await askProject(rest, asked, stage)
      : await askEndpoint(endpoint, operatorSecret(TASK_ENDPOINT, stage), asked)
  const what =
    values.url === undefined
      ? rest.map((entry) => ` ${quoted(entry)}`).join('')
      : ` --url ${quoted(values.url)}`
  return show(asked, told, { isJson: values.json === true, where: `${what}${stageOption(stage)}` })
}

async function askProject(
  positionals: readonly string[],
  asked: Asked,
  stage: string | undefined,
): Promise<Told> {
  return askStore({ ...readProject(process.cwd(), oneEntry(positionals)), stage }, asked)
}

interface Shown {
  readonly isJson: boolean
  /** The store, for the next command: ` --url https://example.com/tasks`. */
  readonly where: string
}

function show(asked: Asked, { page, details, retried, isCancelled }: Told, { isJson, where }: Shown): number {
  const id = 'id' in asked ? asked.id : ''
  if (page !== undefined) {
    process.stdout.write(isJson ? `${toJsonLine(page)}\n` : renderList(page))
    if (!isJson && page.next !== undefined) terminal.note(`there are more: pass --after=${page.next}`)
    if (!isJson && page.tasks.length > 0)
      terminal.next(`npx mayfly tasks show <id>${where} tells what one does, and why it failed`)
    return 0
  }
  if (details !== undefined) {
    process.stdout.write(isJson ? `${toJsonLine(details)}\n` : renderDetails(details))
    // Only an id that was checked is part of a command.
    if (!isJson)
      terminal.next(
        details.status === 'failed'
          ? `npx mayfly tasks retry ${id}${where}`
          : `npx mayfly tasks list${where}`,
      )
    return 0
  }
  if (retried !== undefined) {
    const { taskId } = retried
    const text = taskId === id ? `${id} runs now` : `${printable(taskId)} tries ${id} again`
    process.stdout.write(isJson ? `${toJsonLine(retried)}\n` : `${text}\n`)
    if (!isJson) terminal.next(`npx mayfly tasks show ${isTaskId(taskId) ? taskId : '<id>'}${where}`)
    return 0
  }
  const text = isCancelled ? `${id} is cancelled` : `${id} had ended, and stays as it is`
  process.stdout.write(isJson ? `${toJsonLine({ cancelled: isCancelled })}\n` : `${text}\n`)
  if (!isJson) terminal.next(`npx mayfly tasks ${isCancelled ? 'list' : `show ${id}`}${where}`)
  return isCancelled ? 0 : 1
}

/** The length of ids, of which one in 64 begins with a dash and looks like an option. */
const DASHED_ID = /^-[\w-]{31}$/
const ID = 'id:'

function asPositional(arg: string): string {
  return DASHED_ID.test(arg) ? ID + arg : arg
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
      `${given}: ${orMeant(action ?? '', ACTIONS, 'pass list, show, retry or cancel, as in mayfly tasks list')}`,
    )
  }
  if (known === 'list') return { asked: { action: 'list', options: parseFilters(values) }, rest: others }
  const filter = FILTERS.find((name) => values[name] !== undefined)
  if (filter !== undefined) throw new UsageError(`--${filter} is only for mayfly tasks list`)
  const [given, ...rest] = others
  const id = given?.startsWith(ID) ? given.slice(ID.length) : given
  if (id === undefined) throw new UsageError(`which task? pass its id: mayfly tasks ${known} <id>`)
  if (!isTaskId(id)) throw new UsageError(`"${printable(id)}" is not the id of a task`)
  return { asked: { action: known, id }, rest }
}

/** Throws `UsageError`. */
function parseFilters(values: Values): TaskListOptions & { readonly limit: number } {
  const { status, tool, after, limit = String(DEFAULT_LIMIT) } = values
  const known = TASK_STATUSES.find((one) => one === status)
  if (status !== undefined && known === undefined)
    throw new UsageError(`"${printable(status)}" is not a status: pass ${TASK_STATUSES.join(', ')}`)
  if (!/^\d{1,5}$/.test(limit) || Number(limit) < 1 || Number(limit) > MAX_LIMIT)
    throw new UsageError(`"${printable(limit)}" is not a limit: pass a number from 1 to ${MAX_LIMIT}`)
  if (after !== undefined && !isCursor(after))
    throw new UsageError('--after takes what an earlier list named')
  return {
    limit: Number(limit),
    ...(known !== undefined && { status: known }),
    ...(tool !== undefined && { tool }),
    ...(after !== undefined && { after }),
    ...(values['older-than'] !== undefined && { olderThanMs: parseTime('older-than', values['older-than']) }),
    ...(values['younger-than'] !== undefined && {
      youngerThanMs: parseTime('younger-than', values['younger-than']),
    }),
  }
}

/** Tasks as text. All of it may come from strangers: each value is escaped, and nothing is trusted to have its type. */
import { isObject } from '../../src/definition/is-object.ts'
import type { TaskDetails, TaskPage } from '../../src/tasks-admin.ts'
import { printable } from '../terminal/cli-error.ts'
import { alignColumns, stylesFor } from '../terminal/styles.ts'

type Members = { readonly [name: string]: unknown }

/** A row is one line, so that it can be searched. */
const TABLE = { indent: 0, width: Number.POSITIVE_INFINITY }

/** Characters of a value in a line. */
const MAX_VALUE = 300

export function renderList({ tasks }: TaskPage): string {
  if (tasks.length === 0) return 'no tasks\n'
  const rows = tasks.map((task) => {
    const { taskId, tool, createdAt } = task
    return [
      text(taskId),
      statusOf(task as unknown as Members),
      text(tool),
      text(createdAt),
      noteOf(task as unknown as Members),
    ]
  })
  const header = ['task', 'status', 'tool', 'created', '']
  return `${alignColumns([header.map(stylesFor().heading), ...rows], TABLE)}\n`
}

export function renderDetails(details: TaskDetails): string {
  const task = details as unknown as Members
  const { clientInfo = {}, ...caller } = members(task.caller)
  const client = members(clientInfo)
  const facts: readonly (readonly [string, string])[] = [
    ['task', text(task.taskId)],
    ['status', [statusOf(task), noteOf(task)].filter(Boolean).join(': ')],
    ['tool', `${text(task.tool)}, version ${text(task.toolVersion)}`],
    ['created', text(task.createdAt)],
    ['last written', text(task.lastUpdatedAt)],
    ['due', text(task.dueAt)],
    ['expires', text(task.expiresAt)],
    ['stored bytes', text(task.bytes)],
    [
      'caller',
      [caller.era, client.name, client.version, caller.clientId, caller.owner]
        .filter(Boolean)
        .map(text)
        .join(', '),
    ],
    ['tries again', text(task.retryOf)],
    ['tried again as', text(task.retriedAs)],
    ['arguments', shownValue(task.arguments)],
    ['result', shownValue(task.result)],
    ['error', errorOf(task.error)],
    ['unread answers', list(members(task.inbox).answers)],
    ['unread events', list(members(task.inbox).events)],
  ]
  const lines = facts
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name.padEnd(14)}  ${value}`)
  const { heading } = stylesFor()
  const journal = membersOf(task.journal).map(entryOf)
  const questions = membersOf(task.questions).map(
    ({ key, method, params }) => `  ${text(key)}  ${text(method)} ${shownValue(params)}`,
  )
  return `${[
    ...lines,
    ...(journal.length > 0 ? [heading('journal'), ...journal] : []),
    ...(questions.length > 0 ? [heading('questions'), ...questions] : []),
  ].join('\n')}\n`
}

function statusOf({ status, isError }: Members): string {
  return isError === true ? `${text(status)} with an error` : text(status)
}

/** What a task waits for, or what its status says. */
function noteOf({ statusMessage, awaits, run, crashes, idleRuns, releases }: Members): string {
  const { events, questions } = members(awaits)
  const counts = { crashes, 'idle runs': idleRuns, 'runs that could not begin': releases }
  return [
    text(statusMessage),
    Array.isArray(events) && events.length > 0 ? `waits for ${list(events)}` : '',
    typeof questions === 'number' && questions > 0 ? `asks ${questions}` : '',
    isObject(run) ? `runs until ${text(run.until)}` : '',
    ...Object.entries(counts).map(([name, count]) =>
      typeof count === 'number' && count > 0 ? `${name}: ${count}` : '',
    ),
  ]
    .filter(Boolean)
    .join('; ')
}

function entryOf({ at, kind, name, key, value, error, until, attempts, isPending }: Members): string {
  const told = [
    isObject(value) ? `= ${shownValue(value)}` : '',
    isObject(error) ? `! ${errorOf(error)}` : '',
    until === undefined ? '' : `until ${text(until)}`,
    attempts === undefined ? '' : `failed ${text(attempts)} times`,
    isPending === true ? '(waits)' : '',
    kind === 'step' || kind === 'attempt' ? stylesFor().dim(text(key)) : '',
  ]
  return `  ${text(at).padStart(4)}  ${text(kind).padEnd(8)}  ${[text(name), ...told].filter(Boolean).join(' ')}`
}

function shownValue(value: unknown): string {
  const { json, bytes } = members(value)
  if (typeof json !== 'string') return ''
  const isShort = json.length <= MAX_VALUE && members(value).isCut !== true
  return isShort ? text(json) : `${text(json.slice(0, MAX_VALUE))}… (${text(bytes)} bytes)`
}

function errorOf(error: unknown): string {
  const { name, message, code } = members(error)
  return [name, code, message]
    .filter((part) => part !== undefined)
    .map(text)
    .join(' ')
}

function list(names: unknown): string {
  return Array.isArray(names) ? names.map(text).join(', ') : ''
}

/** On one line. */
function text(value: unknown): string {
  if (value === undefined || value === null) return ''
  return printable(String(typeof value === 'object' ? JSON.stringify(value) : value).slice(0, 4000))
}

function members(value: unknown): Members {
  return isObject(value) ? value : {}
}

function membersOf(value: unknown): Members[] {
  return Array.isArray(value) ? value.map(members) : []
}

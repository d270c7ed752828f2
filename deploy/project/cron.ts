/** The schedules of a project: `"mayfly": { "cron": "/tasks" }` in package.json, a path that the platform calls each minute, or a list. */

import { setTimeout as delay } from 'node:timers/promises'
import { boundedFetch, FetchFault } from '../../src/definition/bounded-fetch.ts'
import { isA } from '../../src/definition/error-text.ts'
import { isObject } from '../../src/definition/is-object.ts'
import type { Project } from '../contract/target.ts'
import { CliError, printable } from '../terminal/cli-error.ts'
import { listed } from '../terminal/listed.ts'
import { terminal } from '../terminal/terminal.ts'
import { nearestDeclared } from './project.ts'

export interface Cron {
  /** A path of the server, such as `/tasks`. It is called with the variable CRON_SECRET as a bearer token. */
  readonly path: string
  /** Five fields, in UTC. Default: each minute. */
  readonly schedule: string
}

const EACH_MINUTE = '* * * * *'
const PATH = /^\/(?!\/)[\w\-./~]*$/
const SCHEDULE = /^[\d*,/-]+(?: [\d*,/-]+){4}$/

/** Platforms limit how many schedules a project has. */
const MAX_CRONS = 10
const MEMBERS = ['path', 'schedule']

/** Taken from the nearest package.json that has some. Throws `CliError` if they are invalid. */
export function cronsOf(project: Pick<Project, 'cwd' | 'entry'>): readonly Cron[] {
  const value = nearestDeclared(project, 'cron')
  // `false` disables what a parent package.json has.
  if (value === undefined || value === null || value === false) return []
  if (!Array.isArray(value)) return [parseCron(value)]
  if (value.length === 0) throw invalid(value)
  if (value.length > MAX_CRONS)
    throw new CliError(`${NAMED} lists ${value.length} paths: at most ${MAX_CRONS} are allowed`)
  const crons = value.map(parseCron)
  const twice = crons.find(({ path }, at) => crons.findIndex((one) => one.path === path) < at)
  if (twice !== undefined) throw new CliError(`${NAMED} lists ${twice.path} twice: remove one of them`)
  return crons
}

function parseCron(value: unknown): Cron {
  const given = typeof value === 'string' ? { path: value } : value
  if (!isObject(given) || !Object.keys(given).every((name) => MEMBERS.includes(name))) throw invalid(value)
  const { path, schedule = EACH_MINUTE } = given
  const isUsable = typeof path === 'string' && PATH.test(path)
  if (isUsable && typeof schedule === 'string' && SCHEDULE.test(schedule)) return { path, schedule }
  throw invalid(value)
}

const NAMED = '"mayfly": { "cron": … } in package.json'

function invalid(value: unknown): CliError {
  const shown = printable(JSON.stringify(value)).slice(0, 60)
  return new CliError(
    `${NAMED} holds ${shown}: make it a path as in "/tasks", { "path": "/tasks", "schedule": "*/5 * * * *" }, or a list of those`,
  )
}

/** For messages. */
export function pathsOf(crons: readonly Cron[]): string {
  return listed(crons.map(({ path }) => path))
}

export interface CronCall {
  /** Code for the function that gets the request. `context` is that of the platform's call. */
  readonly fetch: string
  /** Code. By default the call stays within the serving process. */
  readonly origin?: string
}

/**
 * Code that calls a path, for platforms that call functions instead of URLs. Of several, it is that of the `path` of its event, otherwise
 * the first.
 */
export function cronCall(crons: readonly Cron[], { fetch, origin = "'http://localhost'" }: CronCall): string {
  const [first, ...others] = crons.map(({ path }) => `'${path}'`)
  const path =
    others.length === 0 ? first : `[${others.join(', ')}].find((one) => one === event?.path) ?? ${first}`
  return `async (event, context) => {
  const path = ${path}
  const authorization = \`Bearer \${process.env.CRON_SECRET}\`
  const response = await (${fetch})(new Request(new URL(path, ${origin}), { headers: { authorization } }))
  if (!response.ok) throw new Error(\`\${path} answered \${response.status}: \${await response.text()}\`)
}`
}

/** Locally, a minute would be too long to wait. */
const LOCAL_PAUSE_MS = 1000
/** The server also reports the error each time. */
const FAULT_PAUSE_MS = 15_000
const CALL_TIMEOUT_MS = 60_000
/** Of a server or an app that has nothing at the path. */
const MISSING = [404, 405]
/** Of which the terminal shows the start: more than one read brings. */
const MAX_ANSWER_BYTES = 1024 * 1024

/**
 * Calls the path below `base`, a URL without a trailing slash, again and again until `signal` aborts, and reports each new failure once.
 * Never rejects.
 */
export async function callLocally(base: string, { path }: Cron, signal: AbortSignal): Promise<void> {
  const url = `${base}${path}`
  const { CRON_SECRET } = process.env
  if (!CRON_SECRET) {
    terminal.note(`nothing calls ${path}: set CRON_SECRET in .env, with 32 random characters or more`)
    return
  }
  let told = ''
  while (!signal.aborted) {
    const answer = await callOnce(url, CRON_SECRET, signal)
    if (answer !== '' && answer !== told && !signal.aborted) terminal.note(`${path}: ${answer}`)
    told = answer
    await delay(answer === '' ? LOCAL_PAUSE_MS : FAULT_PAUSE_MS, undefined, { signal }).catch(() => {})
  }
}

/** Resolves with the error. */
async function callOnce(url: string, secret: string, signal: AbortSignal): Promise<string> {
  try {
    const headers = { authorization: `Bearer ${secret}` }
    const limits = { timeoutMs: CALL_TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES, isCut: true, signal }
    const { status, text } = await boundedFetch(url, { headers, redirect: 'follow' }, limits)
    if (status >= 200 && status < 300) return ''
    const hint = MISSING.includes(status) ? ': mount its endpoint at this path' : ''
    return `status ${status} ${printable(text).slice(0, 200)}${hint}`
  } catch (error) {
    // A server that is being replaced does not answer for a moment.
    return isA(error, FetchFault) && error.reason === 'too-late'
      ? `no answer in ${CALL_TIMEOUT_MS / 1000} s`
      : ''
  }
}

/** The schedule of a project: `"mayfly": { "cron": "/tasks" }` in package.json, a path that the platform calls each minute. */

import { setTimeout as delay } from 'node:timers/promises'
import { boundedFetch, FetchFault } from '../../src/definition/bounded-fetch.ts'
import { isA } from '../../src/definition/error-text.ts'
import type { Project } from '../contract/target.ts'
import { CliError, printable } from '../terminal/cli-error.ts'
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

/** Taken from the nearest package.json that has one. Throws `CliError` if it is invalid. */
export function cronOf(project: Pick<Project, 'cwd' | 'entry'>): Cron | undefined {
  const value = nearestDeclared(project, 'cron')
  // `false` disables the one in a parent package.json.
  if (value === undefined || value === null || value === false) return undefined
  const { path, schedule = EACH_MINUTE } = (
    typeof value === 'string' ? { path: value } : value
  ) as Partial<Cron>
  const isUsable = typeof path === 'string' && PATH.test(path)
  if (isUsable && typeof schedule === 'string' && SCHEDULE.test(schedule)) return { path, schedule }
  const shown = printable(JSON.stringify(value)).slice(0, 60)
  throw new CliError(
    `"mayfly": { "cron": … } in package.json holds ${shown}: make it a path as in "/tasks", or { "path": "/tasks", "schedule": "*/5 * * * *" }`,
  )
}

/**
 * Code that calls the path, for platforms that call functions instead of URLs. `fetch` and `origin` are code too; by default the call stays
 * within the serving process.
 */
export const cronCall = (
  { path }: Cron,
  fetch: string,
  origin = "'http://localhost'",
): string => `async (_event, context) => {
  const authorization = \`Bearer \${process.env.CRON_SECRET}\`
  const response = await (${fetch})(new Request(new URL('${path}', ${origin}), { headers: { authorization } }))
  if (!response.ok) throw new Error(\`${path} answered \${response.status}: \${await response.text()}\`)
}`

/** Locally, a minute would be too long to wait. */
const LOCAL_PAUSE_MS = 1000
/** The server also reports the error each time. */
const FAULT_PAUSE_MS = 15_000
const CALL_TIMEOUT_MS = 60_000
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
    return status >= 200 && status < 300 ? '' : `status ${status} ${printable(text).slice(0, 200)}`
  } catch (error) {
    // A server that is being replaced does not answer for a moment.
    return isA(error, FetchFault) && error.reason === 'too-late'
      ? `no answer in ${CALL_TIMEOUT_MS / 1000} s`
      : ''
  }
}

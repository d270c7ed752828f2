/** What `mayfly doctor` says about the work that outlives a request: where tasks and events are stored, and what runs them. */

import type { DeploymentInfo } from '../../src/index.ts'
import type { Finding, Target, TaskPlatform } from '../contract/target.ts'
import { type Cron, pathsOf } from '../project/cron.ts'
import { listed } from '../terminal/listed.ts'

/** Where tasks are stored, and what runs them. */
export function taskFindings(
  { hasTasks = false, hasLocalTasks = false, hasTaskRunner = false }: DeploymentInfo,
  { title, hasOneProcess, tasks }: Pick<Target, 'title' | 'hasOneProcess' | 'tasks'>,
  crons: readonly Cron[],
): Finding[] {
  if (!hasTasks) return []
  if (hasLocalTasks && !hasOneProcess) {
    const message = `tasks are kept in memory, and ${title} may run several processes or isolates and end any of them: pass a shared store, see docs/tasks-stores.md`
    return [{ level: 'warning', message }]
  }
  if (hasLocalTasks) return [{ level: 'ok', message: 'tasks are kept in memory: they end with the process' }]
  if (hasTaskRunner) return [{ level: 'ok', message: 'tasks have a store and a runner' }]
  if (crons.length === 0) {
    const message =
      'tasks have a store but no runner: they only continue when a client polls for them; let a cron call a task endpoint, see docs/tasks-runners.md'
    return [{ level: 'warning', message }]
  }
  // For these platforms, `build` writes the schedule.
  if (tasks === 'cron' || tasks === 'dynamodb') {
    const message = `tasks have a store, and ${scheduled(crons)}${oneOf(crons, 'createTaskEndpoint')}`
    return [{ level: 'ok', message }]
  }
  const message = `nothing calls ${pathsOf(crons)} on ${title}, which has no cron: pass a runner, such as pollingRunner(), see docs/tasks-runners.md`
  return [{ level: 'warning', message }]
}

/** Such as `the platform’s schedule (* * * * *) calls /tasks`. */
function scheduled(crons: readonly Cron[]): string {
  const [first, ...others] = crons
  if (others.length === 0) return `the platform’s schedule (${first!.schedule}) calls ${first!.path}`
  const calls = crons.map(({ path, schedule }) => `${path} (${schedule})`)
  return `the platform’s schedules call ${listed(calls)}`
}

/** Of several, only their server knows what they are. */
function oneOf({ length }: readonly Cron[], creator: string): string {
  return length > 1 ? `, one of which must be that of ${creator}` : ''
}

/** What the deployment adds to the server. */
export interface EventsMade {
  /** Default false. */
  readonly makesEventTable?: boolean
  /** The schedules that call `scheduled` of the entry. Default: the entry has none. */
  readonly triggers?: readonly string[] | undefined
}

/** Where Events are stored, what makes the deliveries that `emit` did not, and what keeps them out of private networks. */
export function eventFindings(
  info: DeploymentInfo,
  target: Pick<Target, 'title' | 'hasOneProcess' | 'tasks'>,
  crons: readonly Cron[],
  { makesEventTable = false, triggers }: EventsMade,
): Finding[] {
  const { hasEvents = false, hasEventSender = false, sendsEventsToLoopback = false } = info
  if (!hasEvents) return []
  // Its variable is there only after a deployment: until then the server may keep them in memory.
  const isLocal = info.hasLocalEvents === true && !makesEventTable
  const found: Finding[] = [
    ...(makesEventTable
      ? [{ level: 'ok', message: 'the deployment makes the table of events' } as const]
      : []),
    ...storedEventFindings({ ...info, hasLocalEvents: isLocal }, target, crons, triggers),
    ...(sendsEventsToLoopback ? [LOOPBACK] : []),
  ]
  // On Cloudflare Workers, `fetch` reaches nothing private.
  if (hasEventSender || target.tasks === 'objects') return found
  const message =
    'events are sent by fetch, which also connects to private addresses if a name of a client resolves to one: pass deliver: nodeEventSender() of mayfly-mcp/node-events to events(), see docs/mcp-events-running.md'
  return [...found, { level: 'warning', message }]
}

const LOOPBACK: Finding = {
  level: 'warning',
  message:
    'events has allowLoopback, for development: where you deploy, clients could have this machine’s own services called; leave it out there',
}

function storedEventFindings(
  { hasLocalEvents = false, hasEventRunner = false }: DeploymentInfo,
  { title, hasOneProcess, tasks }: Pick<Target, 'title' | 'hasOneProcess' | 'tasks'>,
  crons: readonly Cron[],
  triggers: EventsMade['triggers'],
): Finding[] {
  if (hasLocalEvents && !hasOneProcess) {
    const message = `events are kept in memory, and ${title} may run several processes or isolates and end any of them: pass a shared store, see docs/mcp-events-running.md`
    return [{ level: 'warning', message }]
  }
  if (hasLocalEvents) {
    const message =
      'events and subscriptions are kept in memory: a restart or the next deployment loses them; pass a store that lasts, such as postgresEvents(sql), see docs/mcp-events-running.md'
    return [{ level: 'warning', message }]
  }
  if (hasEventRunner) return [{ level: 'ok', message: 'events have a store and a runner' }]
  // For these platforms, `build` writes the schedule.
  const isScheduled = tasks === 'cron' || tasks === 'dynamodb'
  if (isScheduled && crons.length > 0) {
    const message = `events have a store, and ${scheduled(crons)}${oneOf(crons, 'createEventEndpoint') || ', which must be that of createEventEndpoint'}`
    return [{ level: 'ok', message }]
  }
  if (triggers !== undefined && triggers.length > 0) {
    const message = `events have a store, and the cron trigger (${triggers.join(', ')}) calls "scheduled", which must call server.events.run({ env })`
    return [{ level: 'ok', message }]
  }
  if (triggers !== undefined) {
    const message =
      'events have a store, but nothing repeats deliveries that failed: "scheduled" needs a cron trigger: [triggers] with crons = ["* * * * *"] belongs into wrangler.toml'
    return [{ level: 'warning', message }]
  }
  const message = `events have a store, but nothing repeats deliveries that failed: ${REPEATING[tasks ?? 'process']}, see docs/mcp-events-running.md`
  return [{ level: 'warning', message }]
}

const BY_CRON = `export createEventEndpoint({ server, secret: process.env.CRON_SECRET }).mount('/events'), and add "mayfly": { "cron": "/events" } to package.json`

/** What repeats deliveries, by what runs tasks there. */
const REPEATING: { readonly [platform in TaskPlatform]: string } = {
  objects:
    'pass "runner", such as alarmRunner(env.ALARMS), or let a cron trigger call server.events.run({ env })',
  process: 'pass "runner", such as pollingRunner() in a long-lived process',
  cron: BY_CRON,
  dynamodb: BY_CRON,
}

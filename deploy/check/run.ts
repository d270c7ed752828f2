/** Runs every probe against one server. */

import { isA } from '../../src/definition/error-text.ts'
import { withProgress } from '../terminal/progress.ts'
import { isLocalHost } from './addresses.ts'
import { refuseUnlisted, type ToolCall } from './call-result.ts'
import { type Contact, makeContact, serverInfo } from './contact.ts'
import { FOREIGN_PAGE } from './cors.ts'
import { Endpoint } from './endpoint.ts'
import { answersMcp } from './eras.ts'
import type { Era } from './messages.ts'
import { type Outcome, Stop, showOutcome, wrong } from './outcome.ts'
import type { Probe, Topic } from './probe.ts'
import { cite, toSafeText } from './safe-text.ts'
import { createHide, secretsIn, type UserInput } from './secrets.ts'
import { topicsFor } from './topics.ts'
import { Wire, type WireOptions } from './wire.ts'

export interface CheckOptions extends Omit<WireOptions, 'deadlineMs'> {
  /** For the whole check. Default `defaultDeadlineMs(timeoutMs)`. */
  readonly deadlineMs?: number
  /** The origin of a web page, for CORS. Default: a local one for a local host, otherwise a foreign one. */
  readonly origin: string | undefined
  /** A tool to call. Default: none. */
  readonly call?: ToolCall
}

export type Result = Outcome & Pick<Probe, 'id' | 'title' | 'spec'> & { readonly topic: string }

export interface Report {
  readonly server: { readonly name: string; readonly version: string } | undefined
  readonly eras: readonly Era[]
  /** The results of all probes, or a single result if no MCP server answers. */
  readonly results: readonly Result[]
}

/** Concurrent requests: enough to be fast, too few to be an attack. */
const AT_ONCE = 4
const MIN_DEADLINE_MS = 10_000

export function defaultDeadlineMs(timeoutMs: number): number {
  return Math.max(MIN_DEADLINE_MS, 6 * timeoutMs)
}

/** Throws `NothingAnswers`, and `UsageError` for a `call` of a tool that is not listed. Closes everything that it opened on the server before it returns. */
export async function runProbes(options: CheckOptions): Promise<Report> {
  const { url, origin, timeoutMs, deadlineMs = defaultDeadlineMs(timeoutMs) } = options
  const wire = new Wire({ ...options, deadlineMs })
  const contact = await makeContact(wire)
  // Local servers may refuse pages that are not local. The MCP Inspector runs on port 6274.
  const page = isLocalHost(url.hostname) ? 'http://localhost:6274' : FOREIGN_PAGE
  const endpoint = new Endpoint(wire, contact, origin ?? page)
  const topics = isMcp(contact) ? topicsFor(options.call, contact) : [answersMcp]
  const outcomes = await runTopics(topics, endpoint, options.call)
  return toReport(options, contact, topics, outcomes)
}

function isMcp({ isModern, isLegacy, isLocked }: Contact): boolean {
  return isModern || isLegacy || isLocked
}

/** Runs a single probe as the whole report. */
export async function reportOnly(topic: Topic, endpoint: Endpoint): Promise<Report> {
  const { wire, contact } = endpoint
  const outcomes = new Map<Probe, Outcome>()
  for (const probe of topic.probes) outcomes.set(probe, await run(probe, endpoint))
  return toReport(wire.options, contact, [topic], outcomes)
}

async function runTopics(
  topics: readonly Topic[],
  endpoint: Endpoint,
  call: ToolCall | undefined,
): Promise<Map<Probe, Outcome>> {
  const outcomes = new Map<Probe, Outcome>()
  const probesThat = (runs: Topic['runs']): Probe[] =>
    topics.filter((topic) => topic.runs === runs).flatMap(({ probes }) => probes)
  const waiting = probesThat('together')
  const alone = probesThat('alone')
  const count = waiting.length + alone.length
  return withProgress(async (show) => {
    const ask = async (probe: Probe): Promise<void> => {
      show(`checking ${endpoint.url.host}`, `${outcomes.size} of ${count} probes`)
      outcomes.set(probe, await run(probe, endpoint))
    }
    const work = async (): Promise<void> => {
      for (let probe = waiting.shift(); probe !== undefined; probe = waiting.shift()) await ask(probe)
    }
    try {
      if (call !== undefined) await refuseUnlisted(endpoint, call)
      await Promise.all(Array.from({ length: AT_ONCE }, work))
      for (const probe of alone) await ask(probe)
    } finally {
      await endpoint.close()
    }
    return outcomes
  })
}

async function run(probe: Probe, endpoint: Endpoint): Promise<Outcome> {
  try {
    return await probe.run(endpoint)
  } catch (error) {
    if (isA(error, Stop)) return error.outcome
    if (isA(error, RangeError))
      return wrong(
        'the server sends JSON that is nested too deeply to be read',
        'nest answers and schemas less deeply: clients end with the same error',
      )
    // Probes should handle any answer. If one throws anyway, the rest of the report is kept.
    return wrong(
      `the answer could not be checked: ${cite(isA(error, Error) ? error.message : error)}`,
      'look at what the server sends, and report this to mayfly-mcp, which should have said what is wrong',
    )
  }
}

function toReport(
  options: UserInput,
  contact: Contact,
  topics: readonly Topic[],
  outcomes: ReadonlyMap<Probe, Outcome>,
): Report {
  const hide = createHide(secretsIn(options))
  const show = (text: string): string => toSafeText(text, hide)
  const results = topics.flatMap(({ title: topic, probes }) =>
    probes.map((probe): Result => {
      const { id, title, spec } = probe
      return { topic, id, title, spec, ...showOutcome(outcomes.get(probe)!, show) }
    }),
  )
  const { isModern, isLegacy } = contact
  const server = serverInfo(contact)
  return {
    server: server && { name: show(cite(server.name)), version: show(cite(server.version)) },
    eras: [...(isModern ? ['modern' as const] : []), ...(isLegacy ? ['legacy' as const] : [])],
    results,
  }
}

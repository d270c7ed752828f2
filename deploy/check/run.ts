/** Runs every probe against one server. */
import { makeContact, serverInfo } from './contact.ts'
import { Endpoint, isLocalHost } from './endpoint.ts'
import type { Era } from './messages.ts'
import { type Outcome, Stop } from './outcome.ts'
import type { Probe } from './probe.ts'
import { toShown } from './shown.ts'
import { TOPICS } from './topics.ts'
import { Wire, type WireOptions } from './wire.ts'

export interface CheckOptions extends WireOptions {
  /** The web page that asks, for CORS. Default: a local one for a local host, else a foreign one. */
  readonly origin: string | undefined
  /** What the report must not show, though the server may send it back: the token, for one. */
  readonly secrets: readonly string[]
}

export type Result = Outcome & Pick<Probe, 'id' | 'title' | 'spec'> & { readonly topic: string }

export interface Report {
  readonly server: { readonly name: string; readonly version: string } | undefined
  readonly eras: readonly Era[]
  readonly results: readonly Result[]
}

/** Enough to be quick, too few to be an attack. */
const AT_ONCE = 4

/** Throws `NothingAnswers`. Everything that it opens on the server is closed when it returns. */
export async function runProbes({ origin, secrets, ...options }: CheckOptions): Promise<Report> {
  const wire = new Wire(options)
  const contact = await makeContact(wire)
  // Local servers may well refuse pages that are not: 6274 is where the MCP Inspector runs.
  const page = isLocalHost(options.url.hostname) ? 'http://localhost:6274' : 'https://mayfly-check.example'
  const endpoint = new Endpoint(wire, contact, origin ?? page)
  const outcomes = new Map<Probe, Outcome>()
  const probesThat = (runs: 'together' | 'alone') =>
    TOPICS.filter((topic) => topic.runs === runs).flatMap(({ probes }) => probes)
  try {
    const waiting = [...probesThat('together')]
    const work = async (): Promise<void> => {
      for (let probe = waiting.shift(); probe !== undefined; probe = waiting.shift()) {
        outcomes.set(probe, await run(probe, endpoint))
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    for (const probe of probesThat('alone')) outcomes.set(probe, await run(probe, endpoint))
  } finally {
    await endpoint.close()
  }
  const show = (text: string): string => toShown(text, secrets)
  const results = TOPICS.flatMap(({ title: topic, probes }) =>
    probes.map((probe): Result => {
      const { id, title, spec } = probe
      const outcome = outcomes.get(probe)!
      const detail = show(outcome.detail)
      const told = 'fix' in outcome ? { ...outcome, detail, fix: show(outcome.fix) } : { ...outcome, detail }
      return { topic, id, title, spec, ...told }
    }),
  )
  const { isModern, isLegacy } = contact
  const server = serverInfo(contact)
  return {
    server: server && { name: show(server.name), version: show(server.version) },
    eras: [...(isModern ? ['modern' as const] : []), ...(isLegacy ? ['legacy' as const] : [])],
    results,
  }
}

async function run(probe: Probe, endpoint: Endpoint): Promise<Outcome> {
  try {
    return await probe.run(endpoint)
  } catch (error) {
    if (error instanceof Stop) return error.outcome
    throw error
  }
}

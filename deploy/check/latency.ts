/** How long a client waits. */
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Endpoint } from './endpoint.ts'
import { describeMs } from './http.ts'
import { degrades, type Outcome, skipped, works, wrong } from './outcome.ts'
import type { Probe, Topic } from './probe.ts'
import { describe } from './reply.ts'
import { SPEC } from './spec.ts'

const CALLS = 10
const SLOW_MEDIAN_MS = 2000
const SLOW_COLD_MS = 5000

const cold: Probe = {
  id: 'latency.cold',
  title: 'the first request of this run',
  spec: SPEC.http,
  run({ contact: { coldFirstByteMs: firstByteMs } }) {
    if (firstByteMs === undefined) return skipped('it was not answered')
    const said = `${describeMs(firstByteMs)} to the first byte, including the connection`
    const outcome =
      firstByteMs > SLOW_COLD_MS
        ? degrades(said, 'load less at startup, or keep an instance warm')
        : works(said)
    return { ...outcome, measured: { firstByteMs: round(firstByteMs) } }
  },
}

const warm: Probe = {
  id: 'latency.warm',
  title: `${CALLS} requests on one connection`,
  spec: SPEC.http,
  async run(endpoint) {
    const agent = endpoint.url.protocol === 'https:' ? new HttpsAgent(KEEP_ALIVE) : new HttpAgent(KEEP_ALIVE)
    try {
      return await measure(endpoint, agent)
    } finally {
      agent.destroy()
    }
  },
}

const KEEP_ALIVE = { keepAlive: true, maxSockets: 1 }

async function measure(endpoint: Endpoint, agent: HttpAgent): Promise<Outcome> {
  const totals: number[] = []
  const firstBytes: number[] = []
  for (let call = 0; call < CALLS; call++) {
    const asked = await endpoint.askLittle({ agent })
    if (asked.result === undefined)
      return wrong(
        `request ${call + 1}: ${describe(asked)}`,
        'give the same request the same answer each time',
      )
    totals.push(asked.answer.totalMs)
    firstBytes.push(asked.answer.firstByteMs)
  }
  const measured = {
    medianMs: round(median(totals)),
    worstMs: round(Math.max(...totals)),
    firstByteMs: round(median(firstBytes)),
  }
  const said = `median ${describeMs(measured.medianMs)}, worst ${describeMs(measured.worstMs)}, first byte ${describeMs(measured.firstByteMs)}`
  const outcome =
    measured.medianMs > SLOW_MEDIAN_MS
      ? degrades(said, 'find what every request waits for: a model waits this long for each tool call')
      : works(said)
  return { ...outcome, measured }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10
}

export const latency: Topic = { title: 'Latency', runs: 'alone', probes: [cold, warm] }

/**
 * Puts a server under load and checks every answer: `npm run load -- [--seconds 60] [--clients 500] [--target node|cloudflare]`.
 *
 * Clients call in both eras, read streams, hang up, and are asked; each has its own connection and pauses after each call.
 * Exits with 1 if an answer is wrong, p99 is more than 20 times p50, memory grows, or a call outlives its client.
 * Without `--target` both are tried, one after the other.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Client, createTally, type Tally } from './load/client.ts'
import { describe, failures, type Outcome, type Sample } from './load/report.ts'
import { cpuOf, LOAD_TARGETS, type LoadTarget, type Memory } from './load/targets.ts'

/**
 * Calls per second that all clients would make without waiting: more than the server can answer, so that calls wait for its queue and
 * not for other work of the machine. The average pause of a client follows from it: 50 ms with 500 clients.
 */
const OFFERED_PER_SECOND = 10_000

/** The moments at which memory is read, as parts of the whole time. */
const SAMPLES = [1 / 6, 1 / 3, 1 / 2, 1]

/** Milliseconds that the last calls may take to end once their clients have gone. */
const DRAIN_MS = 5000

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    clients: { type: 'string', default: '500' },
    target: { type: 'string' },
  },
})
const names = Object.keys(LOAD_TARGETS) as (keyof typeof LOAD_TARGETS)[]
const chosen = names.filter((name) => values.target === undefined || values.target === name)
if (chosen.length === 0) throw new TypeError(`--target must be one of ${names.join(', ')}.`)

let hasFailed = false
for (const name of chosen) {
  const target = await LOAD_TARGETS[name]()
  try {
    const outcome = await load(name, target, Number(values.seconds), Number(values.clients))
    console.log(describe(outcome))
    for (const failure of failures(outcome)) {
      hasFailed = true
      console.log(`  FAILED      ${failure}`)
    }
  } finally {
    await target.stop()
  }
}
process.exit(hasFailed ? 1 : 0)

async function load(name: string, target: LoadTarget, seconds: number, clients: number): Promise<Outcome> {
  const tally = createTally()
  const ended = new AbortController()
  const lag = monitorEventLoopDelay({ resolution: 5 })
  const connected = await greet(target, tally, clients)
  const [startedAt, cpu] = [performance.now(), cpuOf(target.pid)]
  const running = connected.map((client) => client.run((clients / OFFERED_PER_SECOND) * 1000, ended.signal))
  const samples: Sample[] = []
  for (const part of SAMPLES) {
    await delay(part * seconds * 1000 - (performance.now() - startedAt))
    // Calls that wait for a garbage collection that this script requested are not counted.
    tally.isSteady = false
    lag.disable()
    samples.push({ at: (performance.now() - startedAt) / 1000, ...(await leastMemory(target)) })
    // Before the first of these, everything is compiled and connected.
    tally.isSteady = true
    lag.enable()
  }
  lag.disable()
  const { ran, waited } = cpuOf(target.pid)
  const took = (performance.now() - startedAt) / 1000
  ended.abort()
  await Promise.all(running)
  return {
    target: name,
    seconds,
    clients,
    tally,
    samples,
    cpu: { ran: (ran - cpu.ran) / took, waited: (waited - cpu.waited) / took },
    stillWaiting: await drain(target, tally),
    clientLagMs: Math.max(0, lag.percentile(99) / 1e6 - 5),
  }
}

/** The lowest of three readings, since calls in flight add to a single one. */
async function leastMemory(target: LoadTarget): Promise<Memory> {
  const readings: Memory[] = []
  for (let reading = 0; reading < 3; reading++) {
    readings.push(await target.memory())
    await delay(250)
  }
  return readings.reduce((least, one) => (one.heapUsed < least.heapUsed ? one : least))
}

/** One after the other: Node accepts one connection per turn, and turns take long once other clients have begun. */
async function greet({ url }: LoadTarget, tally: Tally, count: number): Promise<Client[]> {
  const clients = Array.from({ length: count }, (_, index) => new Client(`c${index}`, url, tally))
  for (const client of clients) await client.greet()
  return clients
}

async function drain({ url }: LoadTarget, tally: Tally): Promise<number> {
  const client = new Client('last', url, tally)
  const until = performance.now() + DRAIN_MS
  let waiting = await client.stillWaiting()
  while (waiting > 0 && performance.now() < until) {
    await delay(100)
    waiting = await client.stillWaiting()
  }
  client.close()
  return waiting
}

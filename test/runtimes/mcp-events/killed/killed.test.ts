/** Servers that are killed with `kill -9` while they emit and deliver, again and again, on each real store. */
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { eventually } from '../../../_eventually.ts'
import { type Endpoint, type Post, SECRET, startEndpoint } from '../_endpoint.ts'
import { callTool, createWire, type Send } from '../_wire.ts'
import { KILLABLE } from './_killable.ts'

/** `npm run test:crashes` has 1000. */
const DELIVERIES = Number(process.env.MAYFLY_DELIVERIES ?? 40)
/** One of them fails now and then. */
const PATHS = ['/one', '/two', '/three', '/failing']
const EVENTS = Math.ceil(DELIVERIES / PATHS.length)
const KILLS = Math.ceil(DELIVERIES / 10)
/** In the last process. */
const MAX_FAILURES = 3
/** More than a lease. */
const LATER_MS = 100_000

interface Emitted {
  readonly n: number
  readonly eventId: string
}

it.each(Object.entries(KILLABLE))(
  `%s: ${KILLS} times kill -9 → each event that was accepted is delivered, again only with its id, and in order [events.killed]`,
  { timeout: 300_000 + KILLS * 10_000 },
  async (kind, start) => {
    const [server, endpoint] = await Promise.all([start(), startEndpoint()])
    let running = await server.begin(0)
    const emitted: Emitted[] = []
    try {
      for (const path of PATHS) await subscribe(createWire(running.url), new URL(path, endpoint.url))
      for (let kills = 0; kills < KILLS; kills++) {
        const { child, url } = running
        const exit = once(child, 'exit')
        const kill = () => child.kill('SIGKILL')
        // Every second one as soon as it has sent something, before it has read the answer.
        const isSending = kills % 2 === 1
        if (!isSending) setTimeout(kill, Math.random() * 150)
        endpoint.answer = (post) => {
          if (isSending) kill()
          return answers(post)
        }
        const most = Math.ceil((EVENTS * (kills + 1)) / KILLS)
        await emitUntil(createWire(url), emitted, Math.min(most, EVENTS)).catch(() => {})
        const late = setTimeout(kill, 2000)
        await exit
        clearTimeout(late)
        running = await server.begin((kills + 1) * LATER_MS)
      }
      // Each failure is a pause of seconds from here on: the clock of the server goes on by itself.
      let failures = 0
      endpoint.answer = (post) =>
        failures < MAX_FAILURES ? answers(post, () => void failures++) : { status: 204 }
      const send = createWire(running.url)
      await emitUntil(send, emitted, EVENTS)
      await eventually(async () => {
        expect(JSON.parse(await callTool(send, 'deliver', {}))).toMatchObject({ nextDueAt: null })
        for (const path of PATHS)
          expect(idsAt(endpoint, path)).toEqual(expect.arrayContaining(idsOf(emitted)))
      }, 60_000)
      check(endpoint, emitted)
      if (process.env.MAYFLY_DELIVERIES !== undefined) console.info(kind, figures(endpoint))
    } finally {
      running.child.kill('SIGKILL')
      await server.stop()
      await endpoint.close()
    }
  },
)

async function subscribe(send: Send, url: URL): Promise<void> {
  const delivery = { mode: 'webhook', url: url.href, secret: SECRET }
  await send('events/subscribe', { name: 'note.created', arguments: {}, delivery, ttlMs: 86_400_000 })
}

/** One after the other; each until the server has said that it accepted it. The even ones have an identifier of their own. */
async function emitUntil(send: Send, emitted: Emitted[], count: number): Promise<void> {
  while (emitted.length < count) {
    const n = emitted.length
    const eventId = await callTool(send, 'emit', { n, ...(n % 2 === 0 && { eventId: `note-${n}` }) })
    emitted.push({ n, eventId })
  }
}

async function answers({ path }: Post, failed = () => {}) {
  await pause(Math.random() * 15)
  const isFailing = path === '/failing' && Math.random() < 0.2
  if (isFailing) failed()
  return isFailing ? { status: 503, headers: { 'retry-after': '0' } } : { status: 204 }
}

const idsOf = (emitted: readonly Emitted[]): string[] => emitted.map(({ eventId }) => eventId)

/** Without repetitions. */
const idsAt = ({ received }: Endpoint, at: string): string[] => [
  ...new Set(received.filter(({ path }) => path === at).map(({ body }) => String(body.eventId))),
]

function check(endpoint: Endpoint, emitted: readonly Emitted[]): void {
  const numbers = new Map<string, number>()
  for (const { headers, body } of endpoint.received) {
    expect(headers['webhook-id']).toBe(body.eventId)
    const { n } = body.data as Emitted
    expect(numbers.get(body.eventId) ?? n).toBe(n)
    numbers.set(body.eventId, n)
  }
  for (const { n, eventId } of emitted) {
    expect(numbers.get(eventId)).toBe(n)
    // One with an identifier of its own is one event, however often it was emitted.
    if (n % 2 === 0) expect([...numbers.values()].filter((one) => one === n)).toHaveLength(1)
  }
  const accepted = new Set(idsOf(emitted))
  for (const path of PATHS.slice(0, -1))
    expect(idsAt(endpoint, path).filter((id) => accepted.has(id))).toEqual(idsOf(emitted))
  // Otherwise nothing was killed in the middle of a delivery.
  expect(figures(endpoint).repeated).toBeGreaterThan(0)
}

function figures(endpoint: Endpoint) {
  const { length: posts } = endpoint.received
  const once = PATHS.reduce((sum, path) => sum + idsAt(endpoint, path).length, 0)
  return { kills: KILLS, posts, deliveries: once, repeated: posts - once }
}

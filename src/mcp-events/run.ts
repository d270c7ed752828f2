/** Runs: put stored events into subscriptions, and take the turns of those that have something due. */
import type { Core } from './core.ts'
import { trimDead } from './dead.ts'
import { hasTime } from './delivery.ts'
import { fanOut } from './fan-out.ts'
import { runHooks } from './hooks.ts'
import { DUE_PREFIX, readDueKey, subscriptionKey } from './keys.ts'
import type { EventPlatform, EventRun } from './support.ts'
import { type TurnPlatform, takeTurn } from './turn.ts'

const DURATION_MS = 25_000
const PAGE = 100
/** Turns at once that one principal leaves to others: endpoints of its own may all be slow. */
const RESERVED = 2

interface Counts {
  delivered: number
  failed: number
  hasGivenUp: boolean
}

/** Until nothing is due, or the time is over. Never rejects: errors are reported. */
export async function runEvents(core: Core, { env, deadline }: EventPlatform): Promise<EventRun> {
  core.allowsLoopback(env)
  const platform: TurnPlatform = { env, deadline: deadline ?? Date.now() + DURATION_MS }
  await measureQueue(core)
  const [done] = await Promise.all([deliverAll(core, platform), runHooks(core, platform)])
  // A delivery may have ended a subscription.
  const hooksAt = await runHooks(core, platform)
  const { nextDueAt } = done
  if (hooksAt === null || nextDueAt === null) return { ...done, nextDueAt: nextDueAt ?? hooksAt }
  return { ...done, nextDueAt: Math.min(nextDueAt, hooksAt) }
}

/** The most subscriptions that are counted. */
const MAX_COUNTED = 1000

async function measureQueue(core: Core): Promise<void> {
  if (core.telemetry()?.recordQueue === undefined) return
  try {
    const { keys } = await core.data.keys(DUE_PREFIX, MAX_COUNTED)
    const now = Date.now()
    const due = keys.map((key) => readDueKey(key).at).filter((at) => at <= now)
    core.tell((telemetry, server) =>
      telemetry.recordQueue?.({ server, due: due.length, oldestDueMs: due.length === 0 ? 0 : now - due[0]! }),
    )
  } catch (error) {
    core.report(error)
  }
}

async function deliverAll(core: Core, platform: TurnPlatform): Promise<EventRun> {
  const counts: Counts = { delivered: 0, failed: 0, hasGivenUp: false }
  let nextDueAt: number | null = Date.now()
  try {
    nextDueAt = await runUntilDone(core, platform, counts)
  } catch (error) {
    core.report(error)
  }
  return { delivered: counts.delivered, failed: counts.failed, nextDueAt }
}

/** When something is due next. */
async function runUntilDone(core: Core, platform: TurnPlatform, counts: Counts): Promise<number | null> {
  const isStuck = new Set<string>()
  for (;;) {
    const put = await putInAll(core, platform)
    const taken = await takeTurns(core, platform, counts, isStuck)
    if (!hasTime(platform)) return Date.now()
    if (counts.hasGivenUp) await trimDead(core)
    counts.hasGivenUp = false
    if (taken === 0 && put !== 'some') return put === 'all' ? nextDueAt(core) : Date.now()
  }
}

/**
 * Whether all events are in the subscriptions. What cannot be put in now holds up no other type, and a type whose events come faster than
 * they are put in holds up neither another one nor the deliveries: then it is `some`.
 */
async function putInAll(core: Core, platform: TurnPlatform): Promise<'all' | 'some' | 'failed'> {
  let put: 'all' | 'some' | 'failed' = 'all'
  for (const type of core.settings.types.values()) {
    try {
      const isDone = await fanOut(core, type, () => hasTime(platform))
      if (!isDone && put === 'all') put = 'some'
    } catch (error) {
      core.report(error)
      put = 'failed'
    }
  }
  return put
}

async function nextDueAt(core: Core): Promise<number | null> {
  const { keys } = await core.data.keys(DUE_PREFIX, 1)
  return keys[0] === undefined ? null : readDueKey(keys[0]).at
}

/**
 * Goes once over what is due; how many turns were taken. A host or principal with as many turns as it may have at once is left for the next
 * time.
 */
async function takeTurns(
  core: Core,
  platform: TurnPlatform,
  counts: Counts,
  stuck: Set<string>,
): Promise<number> {
  const { concurrency, maxPerHost } = core.settings
  const running = new Map<string, Promise<void>>()
  const hosts = createShares(maxPerHost)
  const owners = createShares(Math.max(1, concurrency - RESERVED))
  let taken = 0
  const start = (key: string): void => {
    const { host, owner, id } = readDueKey(key)
    hosts.add(host, 1)
    owners.add(owner, 1)
    const turn = takeTurn(core, id, platform)
      .then(async ({ delivered, failed, isIdle, hasGivenUp }) => {
        counts.delivered += delivered
        counts.failed += failed
        counts.hasGivenUp ||= hasGivenUp
        if (!isIdle) taken++
        else await settleIdle(core, key, stuck)
      })
      .catch((error: unknown) => {
        stuck.add(id)
        core.report(error)
      })
      .then(() => {
        running.delete(id)
        hosts.add(host, -1)
        owners.add(owner, -1)
      })
    running.set(id, turn)
  }
  let after: string | undefined
  scan: do {
    const page = await core.data.keys(DUE_PREFIX, PAGE, after)
    for (const key of page.keys) {
      const { at, host, owner, id } = readDueKey(key)
      if (at > Date.now()) break scan
      while (running.size >= concurrency) await Promise.race(running.values())
      if (!hasTime(platform)) break scan
      if (hosts.isFree(host) && owners.isFree(owner) && !running.has(id) && !stuck.has(id)) start(key)
    }
    after = page.next
  } while (after !== undefined)
  await Promise.all(running.values())
  return taken
}

/** Of each name at most so many at once. */
function createShares(most: number) {
  const counts = new Map<string, number>()
  const of = (name: string): number => counts.get(name) ?? 0
  return {
    isFree: (name: string): boolean => of(name) < most,
    add: (name: string, change: number): void => void counts.set(name, of(name) + change),
  }
}

/** A key without its subscription, which is gone and may just begin again, or whose turn another run takes. */
async function settleIdle(core: Core, key: string, stuck: Set<string>): Promise<void> {
  const { id } = readDueKey(key)
  const found = await core.data.read(subscriptionKey(id))
  if (found === undefined)
    await core.data.commit([{ key }, { key: subscriptionKey(id), ifVersion: null, isCheck: true }])
  else stuck.add(id)
}

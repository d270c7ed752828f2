/** How many challenges are sent: nobody makes this server flood a host with them, or one that it chooses after another. */
import type { Core } from './core.ts'
import { untilMade } from './data.ts'
import { tooManyChallenges } from './errors.ts'
import { challengesKey } from './keys.ts'

/** In a minute: of one principal, and to one host, which may be that of many. */
const MAX_OF_PRINCIPAL = 20
const MAX_TO_HOST = 120
/** Of those to a host: all but the first one of each principal. The others are left to principals that come later. */
const MAX_REPEATED = 60
/** A principal has at most this part of what the others leave of them. */
const SHARE = 3
const MINUTE_MS = 60_000

/** Challenges to a host in a minute, by the beginning of the principal's digest: at most `MAX_TO_HOST` members. */
type Shares = { readonly [owner: string]: number }

/**
 * Counts a challenge before it is sent, in the store.
 *
 * @throws ProtocolError `-32013`
 */
export async function countChallenge(
  { data }: Core,
  { owner, host }: { readonly owner: string; readonly host: string },
): Promise<void> {
  const minute = Math.floor(Date.now() / MINUTE_MS)
  const who = owner.slice(0, 8)
  const [ownKey, hostKey] = [challengesKey(minute, `p:${owner}`), challengesKey(minute, `h:${host}`)]
  await untilMade(async () => {
    const [own, ofHost] = await Promise.all([data.read<number>(ownKey), data.read<Shares>(hostKey)])
    const sent = own?.value ?? 0
    if (sent >= MAX_OF_PRINCIPAL) throw tooManyChallenges(MAX_OF_PRINCIPAL)
    const shares = ofHost?.value ?? {}
    const max = maxToHost(shares, who)
    const sentToHost = shares[who] ?? 0
    if (sentToHost >= max) throw tooManyChallenges(max || MAX_TO_HOST)
    return data.commit(
      [
        { key: ownKey, value: sent + 1, found: own },
        { key: hostKey, value: { ...shares, [who]: sentToHost + 1 }, found: ofHost },
      ].map(({ key, value, found }) => ({
        key,
        value: JSON.stringify(value),
        ifVersion: found?.version ?? null,
        expiresAt: (minute + 2) * MINUTE_MS,
      })),
    )
  })
}

/** How many a principal may have of those to one host: always one, as long as there are any. */
function maxToHost(shares: Shares, who: string): number {
  const { [who]: _own, ...others } = shares
  const counts = Object.values(others)
  const ofOthers = counts.reduce((sum, count) => sum + count, 0)
  const repeated = ofOthers - counts.length
  const share = Math.max(1, Math.floor((MAX_REPEATED - repeated) / SHARE))
  return Math.max(0, Math.min(share, MAX_TO_HOST - ofOthers))
}

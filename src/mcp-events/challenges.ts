/** How many challenges are sent: nobody makes this server flood a host with them, or one that it chooses after another. */
import type { Core } from './core.ts'
import { untilMade } from './data.ts'
import { tooManyChallenges } from './errors.ts'
import { challengesKey } from './keys.ts'

/** In a minute: of one principal, and to one host, which may be that of many. */
const MAX_OF_PRINCIPAL = 20
const MAX_TO_HOST = 120
const MINUTE_MS = 60_000

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
  const counted = [
    { key: challengesKey(minute, `p:${owner}`), max: MAX_OF_PRINCIPAL },
    { key: challengesKey(minute, `h:${host}`), max: MAX_TO_HOST },
  ]
  await untilMade(async () => {
    const found = await Promise.all(counted.map(({ key }) => data.read<number>(key)))
    const over = counted.find(({ max }, index) => (found[index]?.value ?? 0) >= max)
    if (over !== undefined) throw tooManyChallenges(over.max)
    return data.commit(
      counted.map(({ key }, index) => ({
        key,
        value: String((found[index]?.value ?? 0) + 1),
        ifVersion: found[index]?.version ?? null,
        expiresAt: (minute + 2) * MINUTE_MS,
      })),
    )
  })
}

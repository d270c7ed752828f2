/** The seal of a deployment: its secrets are checked at once, and what seals is loaded at its first use. */
import { part } from '../definition/part.ts'
import { secretFault } from '../definition/secret.ts'
import { loadSealing } from './load-sealing.ts'
import type { Seal } from './sealing.ts'

export type { Binding, Opened, Seal } from './sealing.ts'

/**
 * Creates a seal from secrets: the first one seals, and all of them open.
 *
 * @param stage Called at the first use. Undefined: production.
 * @throws TypeError without a secret, and for one that is too short or a repeated pattern.
 */
export function createSeal(
  secrets: readonly string[],
  serverId: string,
  stage: () => string | undefined,
): Seal {
  if (secrets.length === 0) throw new TypeError('"secret" must contain at least one secret, or be omitted.')
  for (const [index, secret] of secrets.entries()) {
    const fault = secretFault(secret)
    if (fault === undefined) continue
    const which = secrets.length > 1 ? `Secret number ${index + 1}` : 'A secret'
    throw new TypeError(`${which} ${fault}`)
  }
  let made: Seal | undefined
  const sealing = async (): Promise<Seal> => {
    const { createSealing } = await part(loadSealing)
    made ??= createSealing(secrets, serverId, stage)
    return made
  }
  return {
    seal: async (...given) => (made ?? (await sealing())).seal(...given),
    open: async (...given) => (made ?? (await sealing())).open(...given),
  }
}

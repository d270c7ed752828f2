/** The seal of a deployment: its secrets are checked at once, and what seals is loaded at its first use. */
import { part } from '../definition/part.ts'
import { loadSealing } from './load-sealing.ts'
import type { Seal } from './sealing.ts'

export type { Binding, Opened, Seal } from './sealing.ts'

/** Minimum characters of a secret. */
export const MIN_SECRET_LENGTH = 32

const UNSET = 'is the variable that it comes from set?'

/**
 * Creates a seal from secrets: the first one seals, and all of them open.
 *
 * @param stage Called at the first use. Undefined: production.
 * @throws TypeError without a secret, and for one that is too short.
 */
export function createSeal(
  secrets: readonly string[],
  serverId: string,
  stage: () => string | undefined,
): Seal {
  if (secrets.length === 0) throw new TypeError('"secret" must contain at least one secret, or be omitted.')
  for (const [index, secret] of secrets.entries()) {
    if (typeof secret === 'string' && secret.length >= MIN_SECRET_LENGTH) continue
    const which = secrets.length > 1 ? `Secret number ${index + 1}` : 'A secret'
    const remedy = secret ? 'generate one, for example with "openssl rand -base64 32"' : UNSET
    throw new TypeError(`${which} must have at least ${MIN_SECRET_LENGTH} characters: ${remedy}.`)
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

/** The deployment that `mayfly rollback --to` names: it must be one of the place. */
import type { Place } from '../contract/place.ts'
import { CliError, printable } from '../terminal/cli-error.ts'

export interface GivenDeployment {
  readonly to: string
  readonly place: Pick<Place, 'kind' | 'name' | 'stage'>
  /** What shows the deployments of the place: `npx vercel ls shop --prod`. */
  readonly see: string
}

/**
 * Throws `CliError` unless the platform told that the deployment is one of the place: the platforms' tools go back by the deployment alone, and
 * so would change production where a stage was meant.
 */
export function refuseOfOther(
  { to, place: { kind, name, stage = 'production' }, see }: GivenDeployment,
  { own, of }: { readonly own: unknown; readonly of: unknown },
): void {
  if (typeof own === 'string' && own === of) return
  const place = printable(`the ${kind} ${name} (${stage})`)
  throw new CliError(
    typeof own === 'string' && typeof of === 'string'
      ? `nothing was changed: ${to} is a deployment of ${printable(of)}, and ${place} is ${printable(own)}; ${see} shows its own`
      : `nothing was changed: the platform's tool does not tell whether ${to} is a deployment of ${place}; see that ${see} shows it, and that the tool is a recent one`,
  )
}

/**
 * Which hosts this server serves: configured in code or in the environment.
 */
import { isLoopbackAddress, parseHost } from '../request/address.ts'

/** The hosts from the code, else from `MAYFLY_ALLOWED_HOSTS`: a comma-separated list, for hosts that are known only at run time. */
export function servedHosts(
  declared: readonly string[] | undefined,
  env: unknown,
): readonly string[] | undefined {
  if (declared !== undefined) return declared
  const hosts = (env as { MAYFLY_ALLOWED_HOSTS?: unknown } | null | undefined)?.MAYFLY_ALLOWED_HOSTS
  return typeof hosts === 'string' && hosts !== '' ? hosts.split(',').map((host) => host.trim()) : undefined
}

/** Whether `hosts` contains `host`, in any spelling. An entry without a port matches every port. */
export function isListed(host: string, hosts: readonly string[]): boolean {
  const asked = parseHost(host)
  if (asked === undefined) return false
  return hosts.some((one) => {
    if (one === host) return true
    const listed = parseHost(one)
    return listed?.name === asked.name && (listed.port === '' || listed.port === asked.port)
  })
}

/**
 * Whether `hosts` contains `host` with exactly its port: another port may be another server. For a loopback host every port matches,
 * since it changes with each start.
 */
export function isOneOf(host: string, hosts: readonly string[]): boolean {
  const port = parseHost(host)?.port
  const ofSamePort = hosts.filter((one) => parseHost(one)?.port === port)
  return isListed(host, isLoopbackAddress(host) ? hosts : ofSamePort)
}

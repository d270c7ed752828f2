/**
 * Which hosts are this server's: as its operator declares them, in code or in the environment.
 */
import { isLoopbackAddress, parseHost } from '../request/address.ts'

/** Those of the code, else of `MAYFLY_ALLOWED_HOSTS`: a comma-separated list, for deployments that know their hosts only at run time. */
export function servedHosts(
  declared: readonly string[] | undefined,
  env: unknown,
): readonly string[] | undefined {
  if (declared !== undefined) return declared
  const hosts = (env as { MAYFLY_ALLOWED_HOSTS?: unknown } | null | undefined)?.MAYFLY_ALLOWED_HOSTS
  return typeof hosts === 'string' && hosts !== '' ? hosts.split(',').map((host) => host.trim()) : undefined
}

/** Whether `host` is among `hosts`, however it is spelled. One that is declared without a port is meant with any. */
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
 * Whether `host` is among `hosts` with the very port that it has: another port may be another server. Of this machine any port is ours,
 * as it changes from one start to the next.
 */
export function isOneOf(host: string, hosts: readonly string[]): boolean {
  const port = parseHost(host)?.port
  const ofSamePort = hosts.filter((one) => parseHost(one)?.port === port)
  return isListed(host, isLoopbackAddress(host) ? hosts : ofSamePort)
}

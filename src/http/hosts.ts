/**
 * Which hosts this server serves: configured in code or in the environment.
 */
import { warn } from '../definition/json-line.ts'
import { isLoopbackAddress, parseHost } from '../request/address.ts'

/** The hosts from the code, else from `MAYFLY_ALLOWED_HOSTS`: a comma-separated list, for hosts that are known only at run time. */
export function servedHosts(
  declared: readonly string[] | undefined,
  env: unknown,
): readonly string[] | undefined {
  if (declared !== undefined) return declared
  const hosts = (env as { MAYFLY_ALLOWED_HOSTS?: unknown } | null | undefined)?.MAYFLY_ALLOWED_HOSTS
  if (typeof hosts !== 'string' || hosts === '') return undefined
  const known = read.get(hosts)
  if (known !== undefined) return known
  const listed = hosts.split(',').flatMap((host) => toHost(host.trim()))
  if (read.size >= MAX_READ) read.clear()
  read.set(hosts, listed)
  return listed
}

/** By the text of the variable, of which a process has one. */
const read = new Map<string, readonly string[]>()
const MAX_READ = 8

/** The host of what may be written as a URL. Without the default ports, which clients omit. */
function toHost(entry: string): string | [] {
  if (entry === '') return []
  const isUrl = /^https?:\/\//i.test(entry)
  const url = `${isUrl ? '' : 'https://'}${entry}`
  const isWeb = isUrl || !entry.includes('://')
  const host = isWeb && URL.canParse(url) ? new URL(url).host.replace(/:80$/, '') : ''
  if (parseHost(host) !== undefined && !entry.includes('*')) return host
  warn(
    `MAYFLY_ALLOWED_HOSTS contains ${JSON.stringify(entry)}, which no request can match: write it like example.com.`,
  )
  return []
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

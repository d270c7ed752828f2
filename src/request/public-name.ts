/** Names of the public DNS, for URLs that strangers choose. */
import { parseHost } from './address.ts'

/** Several labels, the last of which begins with a letter: neither an address nor a name without a domain. */
const NAME = /^(?:[\w-]+\.)+[a-z][\w-]*\.?$/

/** Not in the public DNS (RFC 6761, RFC 7686, RFC 9476), or names of services in a cluster. */
const RESERVED = /\.(?:test|invalid|onion|alt|svc|consul)\.?$/

/** Whether a host, as a URL has it, is a name that all resolvers may know. It may resolve to any address. */
export function isPublicName(hostname: string): boolean {
  return NAME.test(hostname) && !RESERVED.test(hostname) && parseHost(hostname)?.reach === 'public'
}

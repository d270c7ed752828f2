/** Which URLs may receive webhooks (SEP-3415, "Webhook Security"). What a name resolves to is checked by the sender, when it connects. */
import { invalidParams } from '../../definition/protocol-error.ts'
import { isPublicName } from '../../request/public-name.ts'
import { isLoopbackIp, isSpecialAddress } from './special-addresses.ts'

/** What the operator of a server allows. */
export interface CallbackRules {
  /** Origins, with their ports: if there are any, no other origin may receive webhooks. */
  readonly allowedOrigins: readonly string[]
  /** Whether URLs of this machine may, also with http: for development. */
  readonly allowLoopback: boolean
}

/** Characters of a URL. */
const MAX_CHARACTERS = 2048

/** Visible ASCII without a backslash, which URL parsers read as a slash; with an authority that has no user. */
const WRITTEN = /^https?:\/\/[^@\\/?#]+(?:[/?][^\\]*)?$/i
const PRINTABLE = /^[!-~]+$/

/**
 * Reads the URL that a client gives. It is kept and sent to as it was written, so what parsers would repair is refused.
 *
 * @throws ProtocolError `-32602`, which says what a URL must be, and nothing about the network.
 */
export function checkCallbackUrl(given: unknown, { allowedOrigins, allowLoopback }: CallbackRules): URL {
  if (typeof given !== 'string' || given.length > MAX_CHARACTERS || !PRINTABLE.test(given))
    return refuse(`be a URL of at most ${MAX_CHARACTERS} ASCII characters`)
  if (given.includes('#')) return refuse('have no fragment')
  if (/^\w+:\/\/[^/?]*@/.test(given)) return refuse('have no user and no password')
  if (!WRITTEN.test(given) || !URL.canParse(given)) return refuse('be a URL that begins with https://')
  const url = new URL(given)
  // Another spelling of the same host would have limits of its own.
  if (url.hostname.endsWith('.')) return refuse('have a host that does not end with a period')
  const isLoopback = isLoopbackUrl(url)
  if (allowLoopback && isLoopback) return url
  // They begin with https.
  if (allowedOrigins.includes(url.origin)) return url
  if (isLoopback)
    return refuse(
      'not be of this machine, unless `mayfly dev` runs its server, or it has "allowLoopback", for development',
    )
  if (url.protocol !== 'https:') return refuse('begin with https://')
  if (allowedOrigins.length > 0) return refuse('be of an origin that this server allows')
  if (url.port !== '') return refuse('have the default port')
  return isPublicHost(url.hostname) ? url : refuse('have a public host')
}

/** Whether a URL is on this machine. */
export function isLoopbackUrl({ hostname }: URL): boolean {
  return hostname === 'localhost' || isLoopbackIp(withoutBrackets(hostname))
}

/** An IPv6 address as it is outside of URLs. */
export function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '')
}

/** @param hostname As the URL parser writes it: any spelling of an IPv4 address is four decimal numbers. */
function isPublicHost(hostname: string): boolean {
  const isAddress = hostname.startsWith('[') || /\.\d+\.?$/.test(hostname)
  return isAddress ? !isSpecialAddress(withoutBrackets(hostname)) : isPublicName(hostname)
}

function refuse(must: string): never {
  throw invalidParams(`Invalid params: "delivery.url" must ${must}.`)
}

/** Sends the webhooks of MCP Events over connections whose addresses are checked. Deno and Bun have these modules of Node, too. */
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { isIP, type LookupFunction } from 'node:net'
import { isRedirect } from '../../src/definition/bounded-fetch.ts'
import { type Names, refuseUnknown } from '../../src/definition/unknown-option.ts'
import type { EventPost, EventSender, PostLimits, PostOutcome } from '../../src/mcp-events/contract.ts'
import { toOutcome } from '../../src/mcp-events/deliver/answer.ts'
import { isLoopbackUrl, withoutBrackets } from '../../src/mcp-events/deliver/callback-url.ts'
import { failureOf, SPECIAL_ADDRESS } from '../../src/mcp-events/deliver/failure.ts'
import { isLoopbackIp, isSpecialAddress } from '../../src/mcp-events/deliver/special-addresses.ts'

/** Options of `nodeEventSender`. */
export interface NodeEventSenderOptions {
  /** Resolves with all addresses of a name. Default: as the system does. */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>
  /** Whether addresses of this machine may be reached, also with http: for development. Default: as `events` says of the URL. */
  readonly allowLoopback?: boolean
}

const OPTIONS: Names<NodeEventSenderOptions> = { resolve: 'function', allowLoopback: 'boolean' }

/** Addresses of one name that are tried. */
const MAX_TRIED = 8

/**
 * Creates a sender of webhooks for Node, Lambda, Deno and Bun. Each request has a connection of its own: all addresses of the name are
 * checked, and one of these addresses is connected to, so no name leads into a private network, whatever it resolves to next. A name of which
 * any address is special (RFC 6890) is refused. Follows no redirect, decompresses nothing, and uses no proxy.
 *
 * ```ts
 * events({ types: { incident }, store, deliver: nodeEventSender() })
 * ```
 *
 * @throws TypeError for an unknown option.
 */
export function nodeEventSender(options: NodeEventSenderOptions = {}): EventSender {
  refuseUnknown('nodeEventSender', options, OPTIONS)
  const { resolve = resolveAll, allowLoopback = false } = options
  const isPublic = (address: string): boolean => !isSpecialAddress(address)
  const isPublicOrLocal = (address: string): boolean => isPublic(address) || isLoopbackIp(address)
  return {
    async post(url, message, limits) {
      limits.signal?.throwIfAborted()
      if (!URL.canParse(url)) return { failure: 'other' }
      const target = new URL(url)
      const { protocol, hostname, username, password } = target
      const isSecure = protocol === 'https:'
      const allowsLocal = allowLoopback || limits.allowLoopback === true
      const mayReach = allowsLocal ? isPublicOrLocal : isPublic
      if (username !== '' || password !== '') return { failure: 'other' }
      if (!isSecure && !(protocol === 'http:' && allowsLocal && isLoopbackUrl(target)))
        return { failure: 'other' }
      // An address needs no look-up.
      const host = withoutBrackets(hostname)
      if (isIP(host) !== 0 && !mayReach(host)) return { failure: 'address' }
      // Loaded when it is needed: TLS takes as long to load as all the rest of a server.
      const { request } = isSecure ? await import('node:https') : await import('node:http')
      const options: RequestOptions = {
        method: 'POST',
        headers: message.headers,
        agent: false,
        lookup: createLookup(resolve, mayReach),
      }
      return toAnswer(message, limits, () => request(target, options))
    },
  }
}

async function resolveAll(hostname: string): Promise<string[]> {
  const { lookup } = await import('node:dns/promises')
  return (await lookup(hostname, { all: true })).map(({ address }) => address)
}

function createLookup(
  resolve: (hostname: string) => Promise<readonly string[]>,
  mayReach: (address: string) => boolean,
): LookupFunction {
  const find = async (hostname: string) => {
    const addresses = await resolve(hostname)
    if (addresses.length === 0) throw withCode('ENOTFOUND')
    if (!addresses.every(mayReach)) throw withCode(SPECIAL_ADDRESS)
    return addresses.slice(0, MAX_TRIED).map((address) => ({ address, family: isIP(address) }))
  }
  return (hostname, { all }, callback) => {
    find(hostname).then(
      (found) => (all ? callback(null, found) : callback(null, found[0]!.address, found[0]!.family)),
      (error: NodeJS.ErrnoException) => callback(error, ''),
    )
  }
}

function withCode(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error('The address of a callback cannot be used.'), { code })
}

/** Rejects only with the reason of the signal. */
function toAnswer(
  { body }: EventPost,
  { timeoutMs, signal, maxBodyBytes }: PostLimits,
  connect: () => ClientRequest,
): Promise<PostOutcome> {
  return new Promise((resolve, reject) => {
    const request = connect()
    const end = (settle: () => void): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
      settle()
      request.destroy()
    }
    const settle = (outcome: PostOutcome): void => end(() => resolve(outcome))
    const stop = (): void => end(() => reject(signal?.reason))
    const timer = setTimeout(() => settle({ failure: 'timeout' }), timeoutMs)
    signal?.addEventListener('abort', stop, { once: true })
    request.on('error', (error) => settle({ failure: failureOf(error) }))
    // Without an answer, as after a switch of protocols.
    request.on('close', () => settle({ failure: 'other' }))
    request.on('response', (response) => {
      response.on('error', (error) => settle({ failure: failureOf(error) }))
      const { statusCode: status = 0, headers } = response
      const done = (text?: string): void => settle(toOutcome(status, headers['retry-after'], text))
      if (isRedirect(status)) settle({ failure: 'redirect' })
      else if (maxBodyBytes === undefined) done()
      else read(response, maxBodyBytes, done, () => settle({ failure: 'too-large' }))
    })
    request.end(body)
  })
}

function read(
  response: IncomingMessage,
  maxBytes: number,
  done: (text: string) => void,
  refuse: () => void,
): void {
  const chunks: Uint8Array[] = []
  let bytes = 0
  response.on('data', (chunk: Uint8Array) => {
    bytes += chunk.byteLength
    if (bytes > maxBytes) refuse()
    else chunks.push(chunk)
  })
  response.on('end', () => done(Buffer.concat(chunks).toString()))
}

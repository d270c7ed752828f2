/** Why a request had no answer, from the errors of all runtimes: their codes first, then their words. */
import { memberOf, textOf } from '../../definition/error-text.ts'
import type { PostFailure } from '../contract.ts'

/** The code of the error of a sender that must not connect to an address. */
export const SPECIAL_ADDRESS = 'ERR_SPECIAL_ADDRESS'

const BY_CODE: readonly (readonly [RegExp, PostFailure])[] = [
  [new RegExp(`^${SPECIAL_ADDRESS}$`), 'address'],
  [/^(?:ENOTFOUND|ENODATA|ESERVFAIL|EAI_\w+)$/, 'dns'],
  [/^(?:ECONNREFUSED|ECONNRESET|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|EPIPE|ConnectionRefused)$/, 'refused'],
  [/TIMEDOUT|TIMEOUT/, 'timeout'],
  [/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|EPROTO/, 'tls'],
]

const BY_WORDS: readonly (readonly [RegExp, PostFailure])[] = [
  [/certificate|handshake|\btls\b|\bssl\b/i, 'tls'],
  [/\bdns\b|name resolution|lookup address|not resolve/i, 'dns'],
  [/refused|reset by peer|unreachable/i, 'refused'],
  [/timed out|timeout/i, 'timeout'],
]

/** How many errors of a chain are looked at. */
const MAX_DEPTH = 5

export function failureOf(error: unknown): PostFailure {
  const chain = chainOf(error)
  const find = (rules: typeof BY_CODE, texts: readonly string[]): PostFailure | undefined =>
    rules.find(([pattern]) => texts.some((text) => pattern.test(text)))?.[1]
  const codes = chain.map((one) => String(memberOf(one, 'code') ?? ''))
  return find(BY_CODE, codes) ?? find(BY_WORDS, chain.map(textOf)) ?? 'other'
}

/** An error, what caused it, and the first of what it has collected. */
function chainOf(error: unknown): unknown[] {
  const chain: unknown[] = []
  for (let one = error; one !== undefined && one !== null && chain.length < MAX_DEPTH; ) {
    chain.push(one)
    const collected = memberOf(one, 'errors')
    one = memberOf(one, 'cause') ?? (Array.isArray(collected) ? collected[0] : undefined)
  }
  return chain
}

/**
 * Fixed tokens: for machines, and to get started.
 */

import type { Env } from '../definition/context.ts'
import { isSameDigest, sha256 } from '../definition/digest.ts'
import { textOf } from '../definition/error-text.ts'
import { secretFault } from '../definition/secret.ts'
import { type Names, refuseUnknown } from '../definition/unknown-option.ts'
import type { Auth } from './auth.ts'
import { toGate } from './gate.ts'
import { GATE_OPTIONS, type GateOptions } from './gate-options.ts'
import { type TokenAnswer, UnknownTokenError, type Verifier } from './verifier.ts'

/** One token, its client and its scopes. */
export interface StaticToken {
  /** At least 16 random characters. */
  token: string
  /** The client, `ctx.auth.clientId`: tokens of one client count as one caller. Default: a name derived from the token, `token-…`. */
  clientId?: string
  scopes?: readonly string[]
  extra?: Record<string, unknown>
}

/** The tokens, or a function that reads them from the platform's environment. */
export type StaticTokens<E = Env> = readonly StaticToken[] | ((env: E) => readonly StaticToken[])

const MIN_TOKEN_CHARACTERS = 16

const TOKEN: Names<StaticToken> = { token: 'string', clientId: 'string', scopes: 'strings', extra: 'object' }

/**
 * Accepts fixed tokens. Compares in constant time: the time reveals neither a partly correct token nor the number of tokens. An entry of a
 * function whose token is missing or too short lets no one in, and is named in the log; the others are served.
 *
 * ```ts
 * staticTokens((env: { CI_TOKEN: string }) => [{ token: env.CI_TOKEN, clientId: 'ci', scopes: ['deploy'] }])
 * ```
 *
 * @throws TypeError for a token in a list that is under 16 characters or a repeated pattern, and for a value that is neither a list nor a function.
 */
export function staticTokens<E = Env>(tokens: StaticTokens<E>, options: GateOptions = {}): Auth {
  refuseUnknown('staticTokens', options, GATE_OPTIONS)
  const find = createTokenFinder(tokens)
  const verifier: Verifier = {
    authorizationServers: options.authorizationServers ?? [],
    realm: 'static-tokens',
    verify: async (token, { env }) => {
      const found = await find(token, env)
      return found && toAnswer(found)
    },
  }
  const faultIn = (env: unknown): string | undefined => {
    try {
      return faultsOf(entriesOf(tokens, env)).join(' ') || undefined
    } catch (error) {
      return textOf(error)
    }
  }
  return { ...toGate(verifier, options), faultIn }
}

/** Creates a function that finds the entry of a token. @throws TypeError like `staticTokens`. */
export function createTokenFinder<E = Env>(
  tokens: StaticTokens<E>,
): (token: string, env: unknown) => Promise<StaticToken | undefined> {
  if (typeof tokens !== 'function') {
    const [fault] = faultsOf(entriesOf(tokens, undefined))
    if (fault !== undefined) throw new TypeError(fault)
  }
  const digests = new WeakMap<StaticToken, Uint8Array>()
  const digestOf = async (entry: StaticToken): Promise<Uint8Array> => {
    const known = digests.get(entry) ?? (await sha256(entry.token))
    digests.set(entry, known)
    return known
  }
  return async (token, env) => {
    const entries = entriesOf(tokens, env)
    const presented = await sha256(token)
    let found: StaticToken | undefined
    const faults: string[] = []
    for (const [index, entry] of entries.entries()) {
      const fault = faultOf(entry, index)
      if (fault !== undefined) faults.push(fault)
      else if (isSameDigest(await digestOf(entry), presented)) found = entry
    }
    if (found === undefined && faults.length > 0)
      throw new UnknownTokenError(undefined, { cause: new TypeError(faults.join(' ')) })
    return found
  }
}

/** @throws TypeError unless it is a list. */
function entriesOf<E>(tokens: StaticTokens<E>, env: unknown): readonly StaticToken[] {
  const entries: unknown = typeof tokens === 'function' ? tokens(env as E) : tokens
  if (Array.isArray(entries)) return entries as StaticToken[]
  throw new TypeError(
    'staticTokens takes a list, as in [{ token, clientId }], or a function of env that returns one.',
  )
}

function faultsOf(entries: readonly StaticToken[]): string[] {
  return entries.flatMap((entry, index) => faultOf(entry, index) ?? [])
}

function toAnswer({ clientId, scopes = [], extra = {} }: StaticToken): TokenAnswer {
  return { valid: true, scopes, extra, ...(clientId !== undefined && { clientId }) }
}

/** What is wrong with an entry, named by its client or its place in the list. */
function faultOf(entry: StaticToken, index: number): string | undefined {
  const { token, clientId } = (entry ?? {}) as Partial<StaticToken>
  const name = clientId === undefined ? `number ${index + 1}` : JSON.stringify(clientId)
  try {
    refuseUnknown(`The static token of ${name}`, { ...entry, token: token ?? undefined }, TOKEN)
  } catch (error) {
    return textOf(error)
  }
  const fault = secretFault(token, MIN_TOKEN_CHARACTERS)
  return fault === undefined ? undefined : `The static token of ${name} ${fault}`
}

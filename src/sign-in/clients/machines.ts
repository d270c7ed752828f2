/**
 * Machines: clients without a person, which the operator names. They get tokens for a secret or a key of their own (RFC 6749 §4.4; the MCP
 * extension `io.modelcontextprotocol/oauth-client-credentials`, 2026-07-28), and nothing else: no code, no refresh token, no registration.
 */
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { isSameDigest, sha256 } from '../../definition/digest.ts'
import { isA, textOf } from '../../definition/error-text.ts'
import { isObject } from '../../definition/is-object.ts'
import { type Names, requireOptions } from '../../definition/unknown-option.ts'
import { checkSecrets } from '../keys.ts'
import { readSetting, requireRecord, SETTING, type Setting } from '../upstream/settings.ts'
import { isPublicUrl, RefusedUrlError, UnreachableUrlError } from './public-fetch.ts'
import { keysAt } from './public-keys.ts'

/** A client without a person, such as a job at night. It needs one of `secret`, `publicKeys` and `jwksUri`. */
export interface Machine {
  /** What it may do, of the scopes of `signIn`. It gets those that it asks for, otherwise all. */
  scopes: readonly string[]
  /** Of 32 or more characters, or a function that reads it: `(env) => env.REPORT_SECRET`. Several separated by commas: each is accepted. */
  secret?: Setting
  /** Public keys as a JWK set (RFC 7517): the machine signs with a private one (`private_key_jwt`, RFC 7523 §2.2). */
  publicKeys?: { readonly keys: readonly object[] }
  /** The URL of such a set, at a public https address: it is asked every 10 minutes, and for an unknown key, at most every 30 seconds. */
  jwksUri?: string
}

const MACHINE: Names<Machine> = {
  scopes: 'strings',
  secret: SETTING,
  publicKeys: 'object',
  jwksUri: 'string',
}
const PUBLIC_KEYS: Names<NonNullable<Machine['publicKeys']>> = { keys: 1 }

/** A machine as the token endpoint knows it. */
export interface KnownMachine {
  readonly name: string
  readonly scopes: readonly string[]
  /** Undefined: it has keys. @throws for a secret that is not set, or too short. */
  readonly isSecret?: (presented: string, env: unknown) => Promise<boolean>
  readonly keys?: JWTVerifyGetKey
  faultIn?(env: unknown): void
}

export type Machines = ReadonlyMap<string, KnownMachine>

/** Never an https URL or the handle of a token: other clients have those. */
const NAME = /^[a-z\d](?:[\w.-]{0,62}[a-z\d])?$/i

/** @throws TypeError for invalid options. */
export function toMachines(
  where: string,
  given: { readonly [name: string]: Machine } | undefined,
  scopes: { readonly [scope: string]: string },
  fetch: typeof globalThis.fetch,
): Machines {
  if (given !== undefined) requireRecord(`"machines" of ${where}`, given, 'each machine by its name')
  return new Map(
    Object.entries(given ?? {}).map(([name, machine]) => [
      name,
      toMachine(`"machines.${name}" of ${where}`, name, machine, scopes, fetch),
    ]),
  )
}

function toMachine(
  where: string,
  name: string,
  machine: Machine,
  known: { readonly [scope: string]: string },
  fetch: typeof globalThis.fetch,
): KnownMachine {
  if (!NAME.test(name))
    throw new TypeError(`${where}: a name has up to 64 letters, digits, dots, hyphens and underscores.`)
  requireOptions(where, machine, MACHINE, 'scopes')
  const { scopes, secret, publicKeys, jwksUri } = machine
  const unknown = scopes.find((scope) => !Object.hasOwn(known, scope))
  if (unknown !== undefined)
    throw new TypeError(`${where} has the scope ${JSON.stringify(unknown)}, which "scopes" does not have.`)
  if ([secret, publicKeys, jwksUri].filter((one) => one !== undefined).length !== 1)
    throw new TypeError(`${where} needs one of "secret", "publicKeys" and "jwksUri".`)
  if (secret !== undefined) return { name, scopes, ...ofSecret(where, secret) }
  if (jwksUri !== undefined && !(URL.canParse(jwksUri) && isPublicUrl(new URL(jwksUri))))
    throw new TypeError(`${where}: "jwksUri" must be an https URL at a public address.`)
  const keys =
    jwksUri === undefined ? createLocalJWKSet(toPublicKeys(where, publicKeys)) : ofOperator(jwksUri, fetch)
  return { name, scopes, keys }
}

function ofSecret(where: string, secret: Setting): Pick<KnownMachine, 'isSecret' | 'faultIn'> {
  const secretsIn = (env: unknown): readonly string[] => {
    const text = typeof secret === 'string' ? secret : readSetting(where, 'secret', secret, env)
    const secrets = text.split(',').flatMap((one) => one.trim() || [])
    checkSecrets(`"secret" of ${where}`, secrets)
    return secrets
  }
  if (typeof secret === 'string') secretsIn(undefined)
  return {
    async isSecret(presented, env) {
      const [given, ...all] = await Promise.all([presented, ...secretsIn(env)].map(sha256))
      // Each is compared, so that the time does not depend on which one it is.
      return all.filter((one) => isSameDigest(one, given!)).length > 0
    },
    faultIn: secretsIn,
  }
}

function toPublicKeys(where: string, given: unknown): JSONWebKeySet {
  requireOptions(`"publicKeys" of ${where}`, given, PUBLIC_KEYS, 'keys')
  const { keys } = given as { readonly keys: unknown }
  const isKey = (key: unknown): boolean =>
    isObject(key) && ['RSA', 'EC', 'OKP'].includes(String(key.kty)) && !('d' in key)
  if (!Array.isArray(keys) || keys.length === 0 || !keys.every(isKey))
    throw new TypeError(`${where}: "publicKeys" must have public keys of type RSA, EC or OKP in "keys".`)
  return { keys: keys as JSONWebKeySet['keys'] }
}

function ofOperator(url: string, fetch: typeof globalThis.fetch): JWTVerifyGetKey {
  const find = keysAt(url, fetch)()
  return async (header, token) => {
    try {
      return await find(header, token)
    } catch (cause) {
      throw unreachable(url, cause)
    }
  }
}

/** What the operator configured cannot be the client's fault. */
function unreachable(url: string, cause: unknown): unknown {
  return isA(cause, RefusedUrlError)
    ? new UnreachableUrlError(`${url} cannot be used: ${textOf(cause)}`, { cause })
    : cause
}

/** Tokens of machines (RFC 6749 §4.4): random, stored as hashes, for this resource, and short-lived, since a machine gets the next one itself. */
import { InvalidTokenError, VerifierUnavailableError } from '../../auth/verifier.ts'
import { digest } from '../../definition/digest.ts'
import { textOf } from '../../definition/error-text.ts'
import { randomText } from '../browser/flow.ts'
import { ASSERTION_TYPE, assertedClient, readAssertion } from '../clients/assertion.ts'
import type { KnownMachine } from '../clients/machines.ts'
import { asUnit, oauthError, PRIVATE, type Signing } from '../signing.ts'
import type { Unit } from '../unit.ts'
import { readBasic } from './basic.ts'

/** Seconds, or those of other access tokens if they are fewer. */
const MAX_SECONDS = 900

const TOKEN = /^mm_[\w-]{43}$/

export function isMachineToken(token: string): boolean {
  return TOKEN.test(token)
}

interface MachineToken {
  readonly machine: string
  readonly scopes: readonly string[]
  readonly resource: string
  /** Seconds since the epoch. */
  readonly expiresAt: number
}

/** A machine with a valid token. `sub` is who signed in: here, nobody did. */
export type MachineCaller = {
  readonly clientId: string
  readonly scopes: readonly string[]
  /** Seconds since the epoch. */
  readonly expiresAt: number
  readonly extra: { readonly sub?: undefined }
}

const keyOf = async (token: string): Promise<string> => `machine:${await digest(token)}`

/** The machine that a request to the token endpoint names, anywhere. */
export function machineNamed(
  request: Request,
  form: URLSearchParams,
  { machines }: Signing,
): KnownMachine | undefined {
  if (machines.size === 0) return undefined
  const names = [
    readBasic(request)?.id,
    form.get('client_id'),
    assertedClient(form.get('client_assertion') ?? ''),
  ]
  return names.map((name) => machines.get(name ?? '')).find((machine) => machine !== undefined)
}

/** @throws ClientUnreachableError if the machine's keys are at a URL that does not answer. */
export function machineToken(
  request: Request,
  form: URLSearchParams,
  machine: KnownMachine,
  signing: Signing,
): Promise<Response> {
  return asUnit(signing, async (unit) => {
    const refused = await authenticate(request, form, machine, signing, unit)
    if (refused !== undefined) return refused
    const grant = form.get('grant_type')
    if (grant === null && form.has('token')) return revoke(form.get('token')!, machine, unit)
    if (grant === 'client_credentials') return issue(form, machine, signing, unit)
    return grant === null
      ? oauthError(400, 'invalid_request', 'grant_type is missing')
      : oauthError(400, 'unauthorized_client', 'This client has the grant client_credentials only')
  })
}

/** Exactly one way, and the one that the machine has. Undefined: it is the machine. */
async function authenticate(
  request: Request,
  form: URLSearchParams,
  machine: KnownMachine,
  signing: Signing,
  unit: Unit,
): Promise<Response | undefined> {
  const basic = readBasic(request)
  const secret = form.get('client_secret')
  const assertion = form.get('client_assertion')
  if ([basic, secret ?? undefined, assertion ?? undefined].filter((one) => one !== undefined).length > 1)
    return oauthError(400, 'invalid_request', 'Client must not use multiple authentication methods')
  const names = [basic?.id, form.get('client_id'), assertion === null ? null : assertedClient(assertion)]
  const isNamed = names.every((name) => name === null || name === undefined || name === machine.name)
  const isAsserted = async (text: string): Promise<boolean> => {
    if (form.get('client_assertion_type') !== ASSERTION_TYPE || machine.keys === undefined) return false
    const proof = await readAssertion(text, machine.name, machine.keys, signing, unit)
    proof?.use()
    return proof !== undefined
  }
  const isProven =
    assertion === null
      ? await hasSecret(basic?.secrets ?? [secret ?? ''], machine, signing)
      : await isAsserted(assertion)
  if (isNamed && isProven) return undefined
  const refused = oauthError(401, 'invalid_client', 'Client authentication failed')
  if (request.headers.has('authorization')) refused.headers.set('www-authenticate', 'Basic realm="OAuth"')
  return refused
}

async function hasSecret(
  presented: readonly string[],
  { isSecret }: KnownMachine,
  { env }: Signing,
): Promise<boolean> {
  if (isSecret === undefined) return false
  const verdicts = await Promise.all(presented.map((one) => isSecret(one, env)))
  return verdicts.includes(true)
}

async function issue(
  form: URLSearchParams,
  { name, scopes: own }: KnownMachine,
  { place, lifetimes }: Signing,
  unit: Unit,
): Promise<Response> {
  if (!form.getAll('resource').every((one) => isSameUrl(one, place.resource)))
    return oauthError(400, 'invalid_target', `Tokens are for the resource ${place.resource} only`)
  const asked = (form.get('scope') ?? '').split(' ').filter((scope) => scope !== '')
  // Clients ask for what the metadata of the resource lists: what is not the machine's is left out, and `scope` says so (§3.3).
  const scopes = asked.length === 0 ? own : own.filter((scope) => asked.includes(scope))
  if (scopes.length === 0 && asked.length > 0)
    return oauthError(400, 'invalid_scope', 'This client has none of these scopes')
  const seconds = Math.min(lifetimes.access, MAX_SECONDS)
  const expiresAt = Math.floor(Date.now() / 1000) + seconds
  const token = `mm_${randomText()}`
  const record: MachineToken = { machine: name, scopes, resource: place.resource, expiresAt }
  unit.put(await keyOf(token), JSON.stringify(record), expiresAt * 1000)
  const answer = {
    access_token: token,
    token_type: 'bearer',
    expires_in: seconds,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  }
  const headers = { 'content-type': 'application/json', pragma: 'no-cache', ...PRIVATE }
  return new Response(JSON.stringify(answer), { headers })
}

/** RFC 7009 §2.2: 200 also for a token that is unknown, or of another client. */
async function revoke(token: string, { name }: KnownMachine, unit: Unit): Promise<Response> {
  const key = await keyOf(token)
  const text = await unit.read(key)
  if (text !== undefined && (JSON.parse(text) as MachineToken).machine === name) unit.delete(key)
  return new Response(null, { headers: PRIVATE })
}

/** @throws InvalidTokenError, or VerifierUnavailableError if the store does not answer. */
export async function verifyMachineToken(token: string, signing: Signing): Promise<MachineCaller> {
  let text: string | undefined
  try {
    text = (await signing.store.read(await keyOf(token)))?.value
  } catch (cause) {
    throw new VerifierUnavailableError(`The store of grants failed: ${textOf(cause)}`, { cause })
  }
  const record = text === undefined ? undefined : (JSON.parse(text) as MachineToken)
  if (
    record === undefined ||
    record.expiresAt * 1000 <= Date.now() ||
    record.resource !== signing.place.resource
  )
    throw new InvalidTokenError('The token is not valid, or has expired.')
  const { machine: name, expiresAt } = record
  const machine = signing.machines.get(name)
  if (machine === undefined) throw new InvalidTokenError(`The machine ${name} was removed from this server.`)
  // What the operator takes from a machine counts at once.
  const scopes = record.scopes.filter((scope) => machine.scopes.includes(scope))
  return { clientId: name, scopes, expiresAt, extra: {} }
}

function isSameUrl(one: string, other: string): boolean {
  return URL.canParse(one) && new URL(one).href === new URL(other).href
}

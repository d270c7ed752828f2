/** Several kinds of callers on one server: users with a token of an issuer, machines with an API key. */
import type { AuthInfo } from '../definition/context.ts'
import { textOf } from '../definition/error-text.ts'
import type { Access } from '../request/access.ts'
import { withMembers } from '../request/own-auth.ts'
import type { Admission, Auth, AuthContext, AuthRefusal, ResourceLocation } from './auth.ts'
import { createOnce } from './once.ts'
import { AUTHORIZATION, tokenHeader } from './token-header.ts'
import { needsToken } from './unknown-caller.ts'

/** Each one may ask an issuer about a token. */
const MAX_MEMBERS = 8

/** All that `anyOf` has created: one within another would hide which one knows a caller. */
const CREATED = new WeakSet<Auth>()

interface Member {
  readonly auth: Auth
  readonly realm: string
}

type Admitted = Extract<Admission, { ok: true }>

/** What is known after a token was tried by several. */
interface Outcome {
  /** Those of an `Auth` that admits callers without a token. */
  readonly open: Access[]
  readonly refusals: AuthRefusal[]
  readonly thrown: unknown[]
  /** For the server's log. */
  readonly causes: unknown[]
}

/**
 * Takes callers of several kinds. A token is tried by each in order, and the first that admits it decides what its caller may use, by its own
 * `scopes`; `ctx.auth.realm` says which one. One header of a request is read: of those of all members, first the `header` of `apiKeys`.
 *
 * Refusals: 403 if one knew the token, and it lacks scopes; otherwise 503 if one could not check it; otherwise 401. A 401 has the challenge
 * of the first member with authorization servers. Callers without a token may use what any member has opened by `anonymous`.
 *
 * ```ts
 * anyOf([jwt({ issuer, audience }), apiKeys({ store })])
 * ```
 *
 * @throws TypeError unless it is a list of 1 to 8, with at most one `signIn`.
 */
export function anyOf(auths: readonly Auth[]): Auth {
  checkMembers(auths)
  const members = toMembers(auths)
  const headers = readHeaders(auths)
  const [keyStore] = auths.flatMap((auth) => auth.keyStore ?? [])
  const judges = members.filter(({ auth }) => auth.admitCaller !== undefined)
  const rechecks = auths.flatMap(({ recheckMs }) => recheckMs ?? [])
  const once = createOnce()

  const challenge = (location: ResourceLocation, reason?: string): string => {
    const issuing = auths.filter((auth) => hasIssuers(auth.metadata(location)))
    const teller = [...issuing, ...auths].find((auth) => auth.challenge !== undefined)
    return teller?.challenge?.(location, reason) ?? 'Bearer'
  }

  const toRefusal = (outcome: Outcome, context: AuthContext, isSent: boolean): AuthRefusal => {
    const refusal = mostTelling(outcome.refusals)!
    const cause = together([...outcome.thrown, ...outcome.causes])
    const own = { ...refusal, ...(cause !== undefined && { cause }) }
    if (refusal.status !== 401) return own
    const told = challenge(context.location(), isSent ? refusal.message : undefined)
    return { ...own, headers: { ...refusal.headers, 'www-authenticate': told } }
  }

  const admit = async (request: Request, context: AuthContext): Promise<Admission> => {
    const name = tokenHeader(request, headers)
    const isSent = Boolean(request.headers.get(name))
    const outcome: Outcome = { open: [], refusals: [], thrown: [], causes: [] }
    for (const { auth, realm } of members) {
      if (isSent && !isSameName(tokenHeader(request, auth), name)) continue
      const admission = await attempt(auth, request, context, outcome)
      if (admission === undefined) continue
      const cause = together([
        ...outcome.thrown.flatMap((error) => once(error).cause ?? []),
        ...outcome.causes,
      ])
      return {
        ...admission,
        auth: withMembers(admission.auth, { realm }),
        by: admission.by ?? auth,
        ...(cause !== undefined && { cause }),
      }
    }
    const { open, refusals, thrown, causes } = outcome
    if (open.length > 0) {
      const told = challenge(context.location())
      const cause = together([...thrown, ...causes])
      return { ok: true, auth: undefined, access: openTo(open, told), ...(cause !== undefined && { cause }) }
    }
    const isKnown = refusals.some(({ status }) => status === 403)
    // A server error, as of a single one.
    if (thrown.length > 0 && !isKnown) throw together([...thrown, ...causes])
    return { ok: false, refusal: toRefusal(outcome, context, isSent) }
  }

  /** A caller as data: the one of its realm judges it, or any if it names none. */
  const admitCaller = (caller: AuthInfo, context: AuthContext): Admission => {
    const asked = judges.filter(({ realm }) => caller.realm === undefined || realm === caller.realm)
    const outcome: Outcome = { open: [], refusals: [], thrown: [], causes: [] }
    for (const { auth, realm } of asked) {
      const admission = auth.admitCaller!(caller, context)
      if (admission.ok && admission.auth !== undefined)
        return { ...admission, auth: withMembers(admission.auth, { realm }), by: auth }
      if (!admission.ok) outcome.refusals.push(admission.refusal)
    }
    if (outcome.refusals.length === 0)
      outcome.refusals.push({ status: 401, message: `Nobody of ${caller.realm} is known.`, headers: {} })
    return { ok: false, refusal: toRefusal(outcome, context, true) }
  }

  const serve: NonNullable<Auth['serve']> = (request, context) => {
    for (const auth of auths) {
      const answer = auth.serve?.(request, context)
      if (answer !== undefined) return answer
    }
    return undefined
  }

  const signer = auths.find(({ signInFacts }) => signInFacts !== undefined)
  const auth: Auth = {
    ...headers,
    admit,
    challenge,
    anonymous: openTo(
      auths.map(({ anonymous }) => anonymous),
      'Bearer',
    ),
    metadata: (location) => mergeMetadata(auths.map((auth) => auth.metadata(location) as Metadata)),
    checkNames: (parts, warn) => {
      for (const auth of auths) auth.checkNames?.(parts, warn)
    },
    faultIn: (env, server) =>
      auths.flatMap((auth) => auth.faultIn?.(env, server) ?? []).join(' ') || undefined,
    ...(auths.some((auth) => auth.serve !== undefined) && { serve }),
    ...(signer !== undefined && {
      signInFacts: (env: unknown) => ({
        ...signer.signInFacts!(env),
        ...(auths.length > 1 && { scopes: undefined }),
      }),
    }),
    ...(judges.length > 0 && { admitCaller }),
    ...(keyStore !== undefined && { keyStore }),
    ...(auths.some(({ needsServer }) => needsServer) && { needsServer: true }),
    ...(rechecks.length > 0 && { recheckMs: Math.min(...rechecks) }),
  }
  CREATED.add(auth)
  return auth
}

function checkMembers(auths: readonly Auth[]): void {
  const isList = Array.isArray(auths) && auths.length > 0 && auths.length <= MAX_MEMBERS
  if (isList && auths.every((auth) => typeof auth?.admit === 'function' && !CREATED.has(auth))) {
    if (auths.filter(({ signInFacts }) => signInFacts !== undefined).length < 2) return
    throw new TypeError('anyOf takes one signIn: all have the same paths, and only the first one is asked.')
  }
  throw new TypeError(
    `anyOf takes a list of 1 to ${MAX_MEMBERS} of what checks tokens, as in anyOf([jwt({ … }), apiKeys({ … })]).`,
  )
}

/** Two of one issuer know the same callers. Two of another kind do not: the second one gets a number. */
function toMembers(auths: readonly Auth[]): Member[] {
  const taken = new Map<string, number>()
  return auths.map((auth) => {
    const { realm = 'auth' } = auth
    const number = (taken.get(realm) ?? 0) + 1
    taken.set(realm, number)
    return { auth, realm: number === 1 || URL.canParse(realm) ? realm : `${realm} ${number}` }
  })
}

/** Where a token may be, in the order in which the headers count. */
function readHeaders(auths: readonly Auth[]): Pick<Auth, 'header' | 'keyHeader'> {
  const names = [...auths.flatMap(({ keyHeader = [] }) => keyHeader), ...auths.map(ownHeader)]
  const once = names.filter((name, index) => names.findIndex((other) => isSameName(other, name)) === index)
  const header = once.pop()!
  return { header, ...(once.length > 0 && { keyHeader: once }) }
}

function ownHeader({ header = AUTHORIZATION }: Auth): string {
  return header
}

function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

/** Asks one of several. Undefined: it did not identify the caller, and the outcome says what it did instead. */
async function attempt(
  auth: Auth,
  request: Request,
  context: AuthContext,
  { open, refusals, thrown, causes }: Outcome,
): Promise<(Admitted & { readonly auth: AuthInfo }) | undefined> {
  try {
    const admission = await auth.admit(request, context)
    const cause = admission.ok ? admission.cause : admission.refusal.cause
    if (cause !== undefined) causes.push(cause)
    if (!admission.ok) refusals.push(admission.refusal)
    else if (admission.auth === undefined) open.push(admission.access)
    else return { ...admission, auth: admission.auth }
  } catch (error) {
    // A mistake in one must not refuse the callers of another.
    thrown.push(error)
  }
  return undefined
}

/** Of several refusals: that of the one which knows the token, then an outage, then what says more than that it is unknown. */
function mostTelling(refusals: readonly AuthRefusal[]): AuthRefusal | undefined {
  const rankOf = ({ status, isUnknown }: AuthRefusal): number =>
    status === 403 ? 3 : status === 503 ? 2 : isUnknown ? 0 : 1
  return [...refusals].sort((one, other) => rankOf(other) - rankOf(one))[0]
}

function together(causes: readonly unknown[]): unknown {
  return causes.length < 2 ? causes[0] : new AggregateError(causes, causes.map(textOf).join(' '))
}

/** What any of them opens. */
function openTo(accesses: readonly Access[], challenge: string): Access {
  return {
    isAnonymous: true,
    isKnown: false,
    allows: (item) => accesses.some((access) => access.allows(item)),
    refusal: (item) => needsToken(item, challenge),
  }
}

interface Metadata {
  readonly [member: string]: unknown
  readonly authorization_servers?: readonly string[]
  readonly scopes_supported?: readonly string[]
}

function hasIssuers(metadata: object): boolean {
  return ((metadata as Metadata).authorization_servers ?? []).length > 0
}

/**
 * One document (RFC 9728 §2) of several: all authorization servers, and the scopes that they can grant. A client requests all scopes that it
 * finds, and an authorization server refuses those that only API keys have.
 */
function mergeMetadata(all: readonly Metadata[]): object {
  const merged: Record<string, unknown> = {}
  for (const one of all) for (const [member, value] of Object.entries(one)) merged[member] ??= value
  const granting = all.filter(hasIssuers)
  const lists = {
    authorization_servers: unite(all.map((one) => one.authorization_servers)),
    scopes_supported: unite((granting.length > 0 ? granting : all).map((one) => one.scopes_supported)),
  }
  for (const [member, values] of Object.entries(lists)) {
    if (values.length > 0) merged[member] = values
    else delete merged[member]
  }
  return merged
}

function unite(lists: readonly (readonly string[] | undefined)[]): string[] {
  return [...new Set(lists.flatMap((list) => list ?? []))]
}

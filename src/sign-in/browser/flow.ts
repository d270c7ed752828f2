/**
 * What sign-in remembers while a browser is away: for ten minutes, once, and only in the browser that began. The handle in the URL and a
 * cookie belong together. The cookie has all of it, sealed, so that strangers store nothing. In the store is what is too long for a cookie,
 * and what a provider has said of a person: sealed too, beside hashes of the handle and of a cookie that is random.
 */
import { randomBase64Url } from '../../definition/base64.ts'
import { digest } from '../../definition/digest.ts'
import { isObject } from '../../definition/is-object.ts'
import { allowanceOf } from '../clients/limits.ts'
import type { SignInKeys } from '../keys.ts'
import type { Place } from '../place.ts'
import type { Unit } from '../unit.ts'

const FLOW_MS = 600_000
/** Clocks of processes differ. */
const CLOCKS_MS = 60_000
const HANDLE = /^[\w-]{43}$/
/** Browsers take 4096 characters with the name and the attributes (RFC 6265 §6.1). */
const MAX_COOKIE_CHARACTERS = 3900
/** Of all flows in one browser: many proxies take 8 KB for a header, and another website can begin flows. */
const MAX_COOKIES_CHARACTERS = 6000
const MAX_REMOVED = 20
/** More than there is room for. */
const MAX_ENDED = 100

/** `upstream`: the browser is at the provider. `consent`: somebody is asked. */
export type FlowKind = 'upstream' | 'consent'

/** Too many requests that are too long for a cookie. */
export class FlowLimitError extends Error {
  override readonly name = 'FlowLimitError'
}

export interface BegunFlow {
  readonly handle: string
  /** `Set-Cookie` headers: its own is the last. */
  readonly cookies: readonly string[]
}

/** Whose flow it is, where. */
export interface Beginning {
  readonly keys: SignInKeys
  readonly place: Place
  readonly address: string | undefined
}

export function randomText(): string {
  return randomBase64Url(32)
}

/**
 * `store`: a provider has said who the person is. `browser`: it may be anybody.
 *
 * @throws FlowLimitError for content that is too long for a cookie, if this network has begun many such flows.
 */
export async function beginFlow(
  unit: Unit,
  { keys, place, address }: Beginning,
  kind: FlowKind,
  content: object,
  { request, where }: { readonly request: Request; readonly where: 'browser' | 'store' },
): Promise<BegunFlow> {
  const handle = randomText()
  const hash = await digest(handle)
  const purpose = purposeOf(place, kind, hash)
  const until = Date.now() + FLOW_MS
  let cookie = await keys.seal(purpose, { until, content })
  if (where === 'store' || cookie.length > MAX_COOKIE_CHARACTERS) {
    if (where === 'browser') await allowLong(unit, address)
    cookie = randomText()
    const sealed = await keys.seal(purpose, { browser: await digest(cookie), content })
    unit.put(`flow:${hash}`, sealed, until)
  }
  const own = setCookie(place, nameOf(hash), cookie, FLOW_MS)
  return { handle, cookies: [...roomFor(cookie, request, place), own] }
}

async function allowLong(unit: Unit, address: string | undefined): Promise<void> {
  const allowance = await allowanceOf('begun', address, unit)
  if (allowance?.isStored !== true)
    throw new FlowLimitError(
      'Many long ones came in this hour. Try again later, or tell the developer of the app.',
    )
  await allowance.count()
}

/** Undefined: it is not known, over, used before, or another browser's. */
export async function readFlow(
  unit: Unit,
  { keys, place }: Beginning,
  kind: FlowKind,
  handle: string,
  request: Request,
): Promise<{ readonly content: unknown; end(): string } | undefined> {
  if (!HANDLE.test(handle)) return undefined
  const hash = await digest(handle)
  const cookie = readCookie(request, place, nameOf(hash))
  if (cookie === undefined) return undefined
  const isStored = HANDLE.test(cookie)
  const sealed = isStored ? await unit.read(`flow:${hash}`) : cookie
  const opened = sealed === undefined ? undefined : await keys.open(purposeOf(place, kind, hash), sealed)
  if (!isObject(opened)) return undefined
  const { content, until, browser } = opened
  if (isStored ? browser !== (await digest(cookie)) : !(Number(until) > Date.now())) return undefined
  if (!isStored && (await unit.read(`done:${hash}`)) !== undefined) return undefined
  return {
    content,
    /** Uses it up. Returns the header that removes its cookie. */
    end() {
      if (isStored) unit.delete(`flow:${hash}`)
      else unit.put(`done:${hash}`, '1', Number(until) + CLOCKS_MS)
      return setCookie(place, nameOf(hash), '', 0)
    },
  }
}

/** It contains the issuer: several servers of one host may have one secret. */
const purposeOf = ({ issuer }: Place, kind: FlowKind, hash: string): string =>
  `flow:${kind}:${hash}:${issuer}`
/** One for each flow: a browser may have several open. */
const nameOf = (hash: string): string => `mayfly-flow-${hash.slice(0, 16)}`
const NAME = /^mayfly-flow-[\w-]{16}(?==)/

/** Headers that remove all flows of this browser: a question that is open in another tab is not answered by who comes next. */
export function endFlows(request: Request, place: Place): string[] {
  return flowsOf(request, place)
    .slice(0, MAX_ENDED)
    .map(({ name }) => setCookie(place, name, '', 0))
}

/** Headers that remove flows of this browser until there is room for another: the first, which are the oldest (RFC 6265 §5.4). */
function roomFor(cookie: string, request: Request, place: Place): string[] {
  const flows = flowsOf(request, place)
  let characters = flows.reduce((sum, one) => sum + one.characters, cookie.length)
  const removed: string[] = []
  for (const flow of flows.slice(0, MAX_REMOVED)) {
    if (characters <= MAX_COOKIES_CHARACTERS) break
    characters -= flow.characters
    removed.push(setCookie(place, flow.name, '', 0))
  }
  return removed
}

function flowsOf(request: Request, place: Place): { readonly name: string; readonly characters: number }[] {
  const prefix = prefixAt(place)
  return cookiesOf(request).flatMap((one) => {
    const name = one.startsWith(prefix) ? NAME.exec(one.slice(prefix.length))?.[0] : undefined
    return name === undefined ? [] : [{ name, characters: one.length }]
  })
}

/** It keeps out cookies of other hosts of the domain. Over http, on loopback, not every browser takes it. */
const prefixAt = ({ isSecure }: Place): string => (isSecure ? '__Host-' : '')

export function setCookie(place: Place, name: string, value: string, ms: number): string {
  const secure = place.isSecure ? '; Secure' : ''
  const start = `${prefixAt(place)}${name}=${value}; Path=/; HttpOnly${secure}`
  return `${start}; SameSite=Lax; Max-Age=${Math.floor(ms / 1000)}`
}

/** Undefined without one, and with two of the name. */
export function readCookie(request: Request, place: Place, name: string): string | undefined {
  const start = `${prefixAt(place)}${name}=`
  const found = cookiesOf(request).filter((cookie) => cookie.startsWith(start))
  return found.length === 1 ? found[0]!.slice(start.length) : undefined
}

function cookiesOf(request: Request): string[] {
  return (request.headers.get('cookie') ?? '').split(';').map((cookie) => cookie.trim())
}

/**
 * What sign-in remembers while a browser is away: a record that is used once, within ten minutes, and only by the browser that began. The
 * handle in the URL finds it, and a cookie with another random value proves the browser; the store has hashes of both, and the rest sealed.
 */
import { toBase64Url } from '../../definition/base64.ts'
import { digest } from '../../definition/digest.ts'
import { isObject } from '../../definition/is-object.ts'
import type { SignInKeys } from '../keys.ts'
import type { Place } from '../place.ts'
import type { Unit } from '../unit.ts'

const FLOW_MS = 600_000
const HANDLE = /^[\w-]{43}$/

/** `upstream`: the browser is at the provider. `consent`: somebody is asked. */
export type FlowKind = 'upstream' | 'consent'

export interface BegunFlow {
  readonly handle: string
  /** A `Set-Cookie` header. */
  readonly cookie: string
}

export function randomText(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(32)))
}

export async function beginFlow(
  unit: Unit,
  keys: SignInKeys,
  place: Place,
  kind: FlowKind,
  content: object,
): Promise<BegunFlow> {
  const handle = randomText()
  const browser = randomText()
  const hash = await digest(handle)
  const sealed = await keys.seal(purposeOf(kind, hash), { browser: await digest(browser), content })
  unit.put(`flow:${hash}`, sealed, Date.now() + FLOW_MS)
  return { handle, cookie: setCookie(place, nameOf(hash), browser, FLOW_MS) }
}

/** Undefined: it is not known, over, used before, or another browser's. */
export async function readFlow(
  unit: Unit,
  keys: SignInKeys,
  place: Place,
  kind: FlowKind,
  handle: string,
  request: Request,
): Promise<{ readonly content: unknown; end(): string } | undefined> {
  if (!HANDLE.test(handle)) return undefined
  const hash = await digest(handle)
  const browser = readCookie(request, place, nameOf(hash))
  const sealed = browser === undefined ? undefined : await unit.read(`flow:${hash}`)
  if (browser === undefined || sealed === undefined) return undefined
  const opened = await keys.open(purposeOf(kind, hash), sealed)
  if (!isObject(opened) || opened.browser !== (await digest(browser))) return undefined
  return {
    content: opened.content,
    /** Uses it up. Returns the header that removes its cookie. */
    end() {
      unit.delete(`flow:${hash}`)
      return setCookie(place, nameOf(hash), '', 0)
    },
  }
}

const purposeOf = (kind: FlowKind, hash: string): string => `flow:${kind}:${hash}`
/** One for each flow: a browser may have several open. */
const nameOf = (hash: string): string => `mayfly-flow-${hash.slice(0, 16)}`

/** `__Host-` keeps out cookies of other hosts of the domain. Over http, on loopback, not every browser takes it. */
export function setCookie({ isSecure }: Place, name: string, value: string, ms: number): string {
  const secure = isSecure ? '; Secure' : ''
  const prefix = isSecure ? '__Host-' : ''
  return `${prefix}${name}=${value}; Path=/; HttpOnly${secure}; SameSite=Lax; Max-Age=${Math.floor(ms / 1000)}`
}

/** Undefined without one, and with two of the name. */
export function readCookie(request: Request, { isSecure }: Place, name: string): string | undefined {
  const start = `${isSecure ? '__Host-' : ''}${name}=`
  const cookies = (request.headers.get('cookie') ?? '').split(';').map((cookie) => cookie.trim())
  const found = cookies.filter((cookie) => cookie.startsWith(start))
  return found.length === 1 ? found[0]!.slice(start.length) : undefined
}

/**
 * Who signed in with this browser, for an hour: the page of connections needs it. For longer, it only says whose consents to look at before
 * the provider is asked. A sealed cookie, nothing is stored.
 */
import { isObject } from '../../definition/is-object.ts'
import type { Signing } from '../signing.ts'
import { readCookie, setCookie } from './flow.ts'
import type { Person } from './person.ts'

const SESSION_MS = 60 * 60 * 1000
/** As long as consents. */
const LAST_PERSON_MS = 90 * 24 * 60 * 60 * 1000
const COOKIE = 'mayfly-person'

export interface Session extends Pick<Person, 'sub' | 'name' | 'email'> {
  /** Forms have it, so that another website cannot send them. */
  readonly token: string
}

/** The purpose contains the issuer: servers with one secret may be at one host. */
const purposeOf = ({ place }: Signing): string => `session:${place.issuer}`

/** Returns a `Set-Cookie` header. */
export async function beginSession(signing: Signing, { sub, name, email }: Person): Promise<string> {
  const short = (text: string | undefined) => text?.slice(0, 200)
  const sealed = await signing.keys.seal(purposeOf(signing), {
    sub,
    name: short(name),
    email: short(email),
    since: Date.now(),
  })
  return setCookie(signing.place, COOKIE, sealed, LAST_PERSON_MS)
}

/** Returns a `Set-Cookie` header. */
export function endSession({ place }: Signing): string {
  return setCookie(place, COOKIE, '', 0)
}

export async function readSession(request: Request, signing: Signing): Promise<Session | undefined> {
  const found = await read(request, signing, SESSION_MS)
  return found && { ...found.person, token: await signing.keys.tag(`form:${found.sealed}`) }
}

/** The `sub` of who signed in last. It gives access to nothing: the provider says who it is. */
export async function readLastPerson(request: Request, signing: Signing): Promise<string | undefined> {
  return (await read(request, signing, LAST_PERSON_MS))?.person.sub
}

async function read(
  request: Request,
  signing: Signing,
  forMs: number,
): Promise<{ readonly person: Omit<Session, 'token'>; readonly sealed: string } | undefined> {
  const sealed = readCookie(request, signing.place, COOKIE)
  const opened = sealed === undefined ? undefined : await signing.keys.open(purposeOf(signing), sealed)
  if (sealed === undefined || !isObject(opened)) return undefined
  const { sub, name, email, since } = opened as unknown as Session & { readonly since?: number }
  if (typeof since !== 'number' || since + forMs < Date.now()) return undefined
  return { person: { sub, name, email }, sealed }
}

export function isOfSession(form: URLSearchParams, { token }: Session): boolean {
  return form.get('form') === token
}

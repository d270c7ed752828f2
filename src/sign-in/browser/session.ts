/** Who signed in with this browser, for an hour: the page of connections needs it. A sealed cookie, nothing is stored. */
import { isObject } from '../../definition/is-object.ts'
import type { Signing } from '../signing.ts'
import { readCookie, setCookie } from './flow.ts'
import type { Person } from './person.ts'

const SESSION_MS = 60 * 60 * 1000
const COOKIE = 'mayfly-person'

export interface Session extends Pick<Person, 'sub' | 'name' | 'email'> {
  /** Forms have it, so that another website cannot send them. */
  readonly token: string
}

/** The purpose contains the issuer: servers with one secret may be at one host. */
const purposeOf = ({ place }: Signing): string => `session:${place.issuer}`

/** Returns a `Set-Cookie` header. */
export async function beginSession(signing: Signing, { sub, name, email }: Person): Promise<string> {
  const until = Date.now() + SESSION_MS
  const short = (text: string | undefined) => text?.slice(0, 200)
  const sealed = await signing.keys.seal(purposeOf(signing), {
    sub,
    name: short(name),
    email: short(email),
    until,
  })
  return setCookie(signing.place, COOKIE, sealed, SESSION_MS)
}

/** Returns a `Set-Cookie` header. */
export function endSession({ place }: Signing): string {
  return setCookie(place, COOKIE, '', 0)
}

export async function readSession(request: Request, signing: Signing): Promise<Session | undefined> {
  const sealed = readCookie(request, signing.place, COOKIE)
  const opened = sealed === undefined ? undefined : await signing.keys.open(purposeOf(signing), sealed)
  if (!isObject(opened) || typeof opened.until !== 'number' || opened.until < Date.now()) return undefined
  const { sub, name, email } = opened as unknown as Session
  return { sub, name, email, token: await signing.keys.tag(`form:${sealed}`) }
}

export function isOfSession(form: URLSearchParams, { token }: Session): boolean {
  return form.get('form') === token
}

/**
 * Who signed in with this browser, for an hour: the page of connections needs it. For longer, it only says whose consents to look at before
 * the provider is asked. A sealed cookie: stored is only that one was ended.
 */
import { isObject } from '../../definition/is-object.ts'
import type { Signing } from '../signing.ts'
import type { Unit } from '../unit.ts'
import { randomText, readCookie, setCookie } from './flow.ts'
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
    id: randomText(),
  })
  return setCookie(signing.place, COOKIE, sealed, LAST_PERSON_MS)
}

/** Ends it for every copy of its cookie, for as long as one could be of use. Returns a `Set-Cookie` header. */
export async function endSession(request: Request, signing: Signing, unit: Unit): Promise<string> {
  const found = await read(request, signing)
  if (found !== undefined) unit.put(endedKey(found.id), '1', found.since + LAST_PERSON_MS)
  return setCookie(signing.place, COOKIE, '', 0)
}

const endedKey = (id: string): string => `ended:${id}`

/** Who signed in with this browser last. */
export interface LastPerson {
  /** It gives access to nothing: the provider says who it is. */
  readonly sub: string
  /** Undefined: that was more than an hour ago. */
  readonly session: Session | undefined
}

export async function readLastPerson(request: Request, signing: Signing): Promise<LastPerson | undefined> {
  const found = await read(request, signing)
  if (found === undefined) return undefined
  const { person, sealed, since } = found
  const isCurrent = since + SESSION_MS >= Date.now()
  const session = isCurrent ? { ...person, token: await signing.keys.tag(`form:${sealed}`) } : undefined
  return { sub: person.sub, session }
}

export async function readSession(request: Request, signing: Signing): Promise<Session | undefined> {
  return (await readLastPerson(request, signing))?.session
}

/** What the cookie says, unless it has expired or was ended: there is no other way to read it. */
async function read(
  request: Request,
  signing: Signing,
): Promise<
  | {
      readonly person: Omit<Session, 'token'>
      readonly sealed: string
      readonly id: string
      readonly since: number
    }
  | undefined
> {
  const sealed = readCookie(request, signing.place, COOKIE)
  const opened = sealed === undefined ? undefined : await signing.keys.open(purposeOf(signing), sealed)
  if (sealed === undefined || !isObject(opened)) return undefined
  const { sub, name, email, since, id } = opened as unknown as Session & { since?: number; id?: string }
  if (typeof since !== 'number' || typeof id !== 'string' || since + LAST_PERSON_MS < Date.now())
    return undefined
  if ((await signing.store.read(endedKey(id))) !== undefined) return undefined
  return { person: { sub, name, email }, sealed, id, since }
}

export function isOfSession(form: URLSearchParams, { token }: Session): boolean {
  return form.get('form') === token
}

/**
 * The question whether a client may come in. It names the client, where it returns to and what it may do, and is answered before the browser
 * goes to the provider; or after it, with the person's name, where the provider returns another person than was expected.
 */
import {
  asUnit,
  errorPage,
  isFromHere,
  pageResponse,
  type Signing,
  scopesShown,
  seeOther,
} from '../signing.ts'
import { type AuthorizationRequest, authorizationErrorRedirect } from '../tokens/library.ts'
import type { Unit } from '../unit.ts'
import { toUpstream } from './away.ts'
import type { ClientSeen } from './consents.ts'
import { beginFlow, readFlow } from './flow.ts'
import type { Arrived, Person } from './person.ts'
import { endSession, type Session } from './session.ts'
import { letIn, refuseChanged } from './to-client.ts'

interface Asked {
  readonly request: AuthorizationRequest
  /** What the page shows of the client: the answer is about it, whatever its document says later. */
  readonly client: ClientSeen
  /** Who the provider said it is. Undefined: the provider comes next. */
  readonly arrived?: Arrived
  /** Who signed in with this browser last. */
  readonly visitor?: Pick<Person, 'sub' | 'name' | 'email'> | undefined
  /** Whether the provider is to ask for the account. */
  readonly isSwitching?: boolean
}

export const OVER =
  'It was finished, took longer than ten minutes, or began in another browser. Start again in your app.'

/** Sends the browser to the question. */
export async function ask(
  browser: Request,
  signing: Signing,
  unit: Unit,
  asked: Asked,
  cookies: readonly string[] = [],
): Promise<Response> {
  const where = asked.arrived === undefined ? 'browser' : 'store'
  const begun = await beginFlow(unit, signing, 'consent', asked, { request: browser, where })
  return seeOther(`${signing.place.authorize}?consent=${begun.handle}`, [...cookies, ...begun.cookies])
}

/** The person of a session, as the record of a question has it. */
export function visitorOf(session: Session | undefined): Asked['visitor'] {
  return session && { sub: session.sub, name: session.name, email: session.email }
}

export async function showQuestion(request: Request, signing: Signing, handle: string): Promise<Response> {
  const { place, upstream, name } = signing
  return asUnit(signing, async (unit) => {
    const flow = await readFlow(unit, signing, 'consent', handle, request)
    if (flow === undefined) return errorPage(signing, 400, 'This sign-in cannot be continued', OVER)
    const { request: asked, client, arrived, visitor } = flow.content as Asked
    const person = arrived?.person ?? visitor
    return pageResponse({
      page: 'consent',
      server: name,
      client: { ...client, redirectUri: asked.redirectUri },
      ...(person && {
        person: { name: person.name, email: person.email },
        switchUrl: `${place.authorize}?switch=${handle}`,
      }),
      upstream: upstream.name,
      upstreamScopes: upstream.scopes ?? [],
      scopes: scopesShown(signing, asked.scope),
      connectionsUrl: place.connections,
      action: place.authorize,
      fields: { consent: handle },
    })
  })
}

/** "Not you?": the same question about nobody in particular, and then another account at the provider. */
export async function switchPerson(request: Request, signing: Signing, handle: string): Promise<Response> {
  return asUnit(signing, async (unit) => {
    const flow = await readFlow(unit, signing, 'consent', handle, request)
    if (flow === undefined) return errorPage(signing, 400, 'This sign-in cannot be continued', OVER)
    const { request: asked, client } = flow.content as Asked
    return ask(request, signing, unit, { request: asked, client, isSwitching: true }, [
      flow.end(),
      await endSession(request, signing, unit),
    ])
  })
}

/** POST of the answer. The redirect URI is that of the record, which was checked, never one of the form. */
export async function decide(request: Request, form: URLSearchParams, signing: Signing): Promise<Response> {
  if (!isFromHere(request, signing.place))
    return errorPage(
      signing,
      403,
      'This form is from another website',
      'Nothing was changed. Start again in your app.',
    )
  const decision = form.get('decision')
  const answered = await asUnit(signing, async (unit) => {
    const flow = await readFlow(unit, signing, 'consent', form.get('consent') ?? '', request)
    if (flow === undefined) return errorPage(signing, 400, 'This sign-in cannot be continued', OVER)
    if (decision !== 'approve' && decision !== 'deny')
      return errorPage(signing, 400, 'Nothing was chosen', 'Go back, and choose whether the app may come in.')
    const asked = flow.content as Asked
    const { request: agreed, client, arrived } = asked
    const cookie = flow.end()
    if (arrived !== undefined && decision === 'approve')
      return letIn(signing, unit, agreed, client, arrived, [cookie])
    const refused = await refuseChanged(signing, unit, agreed, client, [cookie])
    if (refused !== undefined) return refused
    if (decision === 'deny') return seeOther(authorizationErrorRedirect(agreed, 'access_denied'), [cookie])
    return { asked, cookie }
  })
  if (answered instanceof Response) return answered
  const { asked, cookie } = answered
  const { request: agreed, client, visitor, isSwitching } = asked
  return toUpstream(
    request,
    signing,
    { request: agreed, agreed: { client, sub: visitor?.sub } },
    { isSwitching, cookies: [cookie] },
  )
}

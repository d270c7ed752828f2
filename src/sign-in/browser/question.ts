/**
 * The question whether a client may come in. It names the client, where it returns to and what it may do, and is answered before the browser
 * goes to the provider; or after it, with the person's name, where the provider returns another person than was expected.
 */
import {
  asUnit,
  clientShown,
  errorPage,
  isFromHere,
  libraryFor,
  pageResponse,
  type Signing,
  scopesShown,
  seeOther,
} from '../signing.ts'
import { type AuthorizationRequest, authorizationErrorRedirect } from '../tokens/library.ts'
import type { Unit } from '../unit.ts'
import { toUpstream } from './away.ts'
import { complete } from './consents.ts'
import { beginFlow, readFlow } from './flow.ts'
import type { Arrived, Person } from './person.ts'
import { endSession, type Session } from './session.ts'

interface Asked {
  readonly request: AuthorizationRequest
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
    const { request: asked, arrived, visitor } = flow.content as Asked
    const helpers = libraryFor(signing).getOAuthApi({ OAUTH_KV: unit.library })
    const client = clientShown(asked, await helpers.lookupClient(asked.clientId))
    const person = arrived?.person ?? visitor
    return pageResponse({
      page: 'consent',
      server: name,
      client,
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
    const { request: asked } = flow.content as Asked
    return ask(request, signing, unit, { request: asked, isSwitching: true }, [
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
    const cookie = flow.end()
    if (decision === 'deny')
      return seeOther(authorizationErrorRedirect(asked.request, 'access_denied'), [cookie])
    if (asked.arrived === undefined) return { asked, cookie }
    const helpers = libraryFor(signing).getOAuthApi({ OAUTH_KV: unit.library })
    const client = await helpers.lookupClient(asked.request.clientId)
    return seeOther(await complete(signing, unit, helpers, asked.request, client, asked.arrived), [cookie])
  })
  if (answered instanceof Response) return answered
  const { asked, cookie } = answered
  const { request: agreed, visitor, isSwitching } = asked
  return toUpstream(
    request,
    signing,
    { request: agreed, agreed: { sub: visitor?.sub } },
    { isSwitching, cookies: [cookie] },
  )
}

/** Sends the browser to the provider, and says what is remembered meanwhile. */
import { digest } from '../../definition/digest.ts'
import { isA, memberOf, textOf } from '../../definition/error-text.ts'
import { withTimeout } from '../../definition/timeout.ts'
import { asUnit, errorPage, type Signing, seeOther } from '../signing.ts'
import type { AuthorizationRequest } from '../tokens/library.ts'
import { providerOf, UPSTREAM_TIMEOUT_MS } from '../upstream/tokens.ts'
import { UpstreamRefusedError, UpstreamUnavailableError } from '../upstream/upstream.ts'
import type { ClientSeen } from './consents.ts'
import { beginFlow, randomText } from './flow.ts'

/** What is remembered while the browser is at the provider. Without a request, it came from the page of connections. */
export interface Away {
  readonly request?: AuthorizationRequest
  /** The answer to the question, which was just given in this browser. Undefined: it was not asked. */
  readonly agreed?: Agreed
  /** Where it is: the code of one provider is not sent to another (RFC 9700 §4.4). */
  readonly provider: string
  readonly verifier: string
  readonly nonce: string
}

export interface Agreed {
  /** As the question showed it. */
  readonly client: ClientSeen
  /** Who the question said it was, if anybody. */
  readonly sub?: string | undefined
}

/** `isSwitching`: the person wants another account than the one that the provider remembers. `cookies`: set before its own. */
export async function toUpstream(
  browser: Request,
  signing: Signing,
  from: Pick<Away, 'request' | 'agreed'>,
  {
    isSwitching = false,
    cookies = [],
  }: { isSwitching?: boolean | undefined; cookies?: readonly string[] } = {},
): Promise<Response> {
  const { upstream, env, place } = signing
  const away: Away = {
    ...from,
    provider: providerOf(signing) ?? '',
    verifier: randomText(),
    nonce: randomText(),
  }
  const codeChallenge = await digest(away.verifier)
  const begun = await asUnit(signing, (unit) =>
    beginFlow(unit, signing, 'upstream', away, { request: browser, where: 'browser' }),
  )
  try {
    const { nonce } = away
    const start = { env, redirectUri: place.callback, state: begun.handle, nonce, codeChallenge, isSwitching }
    const url = await withTimeout(upstream.authorizeUrl(start), UPSTREAM_TIMEOUT_MS, upstream.name)
    return seeOther(url, [...cookies, ...begun.cookies])
  } catch (error) {
    return upstreamFailure(signing, error)
  }
}

export function upstreamFailure(signing: Signing, error: unknown): Response {
  const { upstream, report } = signing
  if (isA(error, UpstreamRefusedError)) {
    const cause = memberOf(error, 'cause')
    if (cause !== undefined) report(cause)
    return errorPage(signing, 403, 'You are not let in', textOf(error))
  }
  report(error)
  const message = isA(error, UpstreamUnavailableError)
    ? textOf(error)
    : 'Start again in your app in a few minutes.'
  return errorPage(signing, 503, `${upstream.name} cannot be used now`, message)
}

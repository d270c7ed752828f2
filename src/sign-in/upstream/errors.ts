/** The errors of providers, each with a sentence for the person, and a cause for the operator. */
import { cut, isA } from '../../definition/error-text.ts'
import { escapeUnprintable } from '../../definition/unprintable.ts'
import {
  UpstreamFault,
  type UpstreamFaultCode,
  UpstreamRefusedError,
  UpstreamUnavailableError,
} from './upstream.ts'

/** What the person reads. `not_allowed` is said by the code that knows who is allowed. */
const SENTENCES: { readonly [code in UpstreamFaultCode]: (name: string) => string } = {
  denied: (name) => `You did not finish signing in with ${name}. Go back to your app to try again.`,
  not_allowed: () => 'This account may not sign in here.',
  issuer_mismatch: (name) => `The answer did not come from ${name}. Go back to your app to try again.`,
  id_token_invalid: (name) =>
    `${atStart(name)} did not confirm who you are, so nobody was signed in. Go back to your app to try again.`,
  grant_refused: (name) => `${atStart(name)} ended this sign-in. Go back to your app to try again.`,
  misconfigured: (name) =>
    `Sign-in with ${name} is not set up correctly. Tell the people who run this server.`,
  unreachable: (name) => `${atStart(name)} does not answer at the moment. Try again in a minute.`,
  answer_invalid: (name) => `${atStart(name)} does not work at the moment. Try again in a few minutes.`,
}

/** At the start of a sentence. */
function atStart(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

/** Where trying again may help, or the operator must act. */
const UNAVAILABLE: ReadonlySet<UpstreamFaultCode> = new Set([
  'misconfigured',
  'unreachable',
  'answer_invalid',
])

/**
 * @param name The provider's, for people.
 * @param sentence Default: what the code says.
 */
export function upstreamError(
  name: string,
  cause: UpstreamFault,
  sentence = SENTENCES[cause.code](name),
): UpstreamRefusedError | UpstreamUnavailableError {
  return UNAVAILABLE.has(cause.code)
    ? new UpstreamUnavailableError(sentence, { cause })
    : new UpstreamRefusedError(sentence, { cause })
}

/** The person is not one of those who may sign in. */
export function notAllowed(sentence: string, reason: string): UpstreamRefusedError {
  return new UpstreamRefusedError(sentence, { cause: new UpstreamFault('not_allowed', reason) })
}

/** What a provider wrote, on one line of the log: without the secrets that it may repeat, at most 200 characters. */
export function quoted(text: unknown, secrets: readonly (string | undefined)[]): string {
  if (typeof text !== 'string') return ''
  let safe = text
  for (const secret of secrets)
    if (secret) for (const spelling of spellingsOf(secret)) safe = safe.replaceAll(spelling, '…')
  return cut(escapeUnprintable(safe.replaceAll(/\s+/g, ' ')), 200)
}

/** As it is, in a URL, and in a form: a provider may repeat the request. */
function spellingsOf(secret: string): readonly string[] {
  const inForm = new URLSearchParams({ '': secret }).toString().slice(1)
  const inUrl = inForm.replaceAll('+', '%20')
  // What `encodeURIComponent` leaves as it is; itself, it throws for half a surrogate pair.
  return [secret, inForm, inUrl, inUrl.replaceAll(/%(?:21|27|28|29|7E)/g, decodeURIComponent)]
}

/** Not a member, which a log could show. */
const rotated = new WeakMap<object, string>()

/** The error of a refresh whose answer has a new refresh token, although it cannot be used otherwise. */
export function withRotated<Thrown>(error: Thrown, refreshToken: string | undefined): Thrown {
  if (refreshToken !== undefined && isA(error, Error)) rotated.set(error, refreshToken)
  return error
}

export function rotatedIn(error: unknown): string | undefined {
  return isA(error, Error) ? rotated.get(error) : undefined
}

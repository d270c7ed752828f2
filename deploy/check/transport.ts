/** Below HTTP: TLS, and what happens to a client that uses http instead of https. */
import { isA } from '../../src/definition/error-text.ts'
import type { Answer } from './http.ts'
import { modernMessage } from './messages.ts'
import { degrades, type Outcome, Stop, skipped, works, wrong } from './outcome.ts'
import type { Probe, Topic } from './probe.ts'
import { describe } from './reply.ts'
import { cite, quote } from './safe-text.ts'
import { SPEC } from './spec.ts'
import { NoAnswerStop } from './wire.ts'

const DAY_MS = 86_400_000
const SOON_DAYS = 14
/** The fix for a body that does not match its `Content-Encoding`. */
export const DECODABLE =
  'compress the body, or omit Content-Encoding: a proxy may have done one without the other'

const tls: Probe = {
  id: 'transport.tls',
  title: 'TLS',
  spec: `${SPEC.authorizationSecurity}#communication-security`,
  run({ url, isLocal, wire }) {
    if (url.protocol === 'http:')
      return isLocal
        ? skipped('http on a local host')
        : degrades('http: tokens and data are not encrypted', 'serve https')
    const facts = wire.seen[0]?.tls
    if (facts === undefined || Number.isNaN(facts.validTo.getTime())) return skipped('not known')
    const days = Math.floor((facts.validTo.getTime() - Date.now()) / DAY_MS)
    const said = `${facts.protocol}, certificate valid for ${days} days`
    return days < SOON_DAYS ? degrades(said, 'renew the certificate') : works(said)
  },
}

const plain: Probe = {
  id: 'transport.http',
  title: 'the same URL with http',
  spec: `${SPEC.rfc}/rfc9110#section-15.4.9`,
  async run({ url, wire }) {
    if (url.protocol !== 'https:' || url.port !== '') return skipped('not https on port 443')
    const { headers, body } = modernMessage({ method: 'server/discover' }, wire.freshId())
    const twin = new URL(url)
    twin.protocol = 'http:'
    twin.search = ''
    // Another origin: sends neither the token nor the user's headers, which could be intercepted.
    const sending = { label: 'the same URL with http', url: twin, headers, body, statuses: 'any' } as const
    const answer = wire.send({ ...sending, isEnough: () => true })
    return judgePlain(
      await answer.catch((error: unknown) => {
        if (isA(error, NoAnswerStop) && error.why !== 'address refused') return undefined
        throw isA(error, NoAnswerStop) ? new Stop(skipped(`not requested: ${error.reason}`)) : error
      }),
    )
  },
}

const encoding: Probe = {
  id: 'transport.encoding',
  title: 'a response to a client that accepts gzip can be decoded',
  spec: `${SPEC.rfc}/rfc9110#section-8.4`,
  async run(endpoint) {
    const { body, headers, id } = endpoint.greeting()
    const accepting = { ...headers, 'accept-encoding': 'gzip, deflate, br' }
    const sending = {
      label: 'a request that accepts gzip',
      body,
      id,
      headers: accepting,
      statuses: 'any',
    } as const
    const reply = await endpoint.wire.ask(sending)
    if (reply.answer.ended === 'undecodable') return wrong(describe(reply), DECODABLE)
    return works(cite(reply.answer.headers.get('content-encoding') ?? 'not compressed'))
  },
}

/** The outcome for the answer to a POST at the http version of an https URL; undefined without an answer. */
export function judgePlain(answer: Pick<Answer, 'status' | 'headers'> | undefined): Outcome {
  if (answer === undefined) return works('nothing answers there')
  const { status, headers } = answer
  const location = headers.get('location') ?? ''
  if (status < 300)
    return degrades(
      'served without TLS: tokens are sent unencrypted',
      'redirect http to https with 308, or close it',
    )
  if (status >= 400) return works(`refused with ${status}`)
  if (!location.startsWith('https:'))
    return wrong(`redirected to ${quote(location)}, which is not https`, 'redirect http to https with 308')
  return status === 307 || status === 308
    ? works(`redirected with ${status}`)
    : degrades(
        `redirected with ${status}, which turns POST into GET`,
        'redirect with 308, which keeps the POST',
      )
}

export const transport: Topic = { title: 'Transport', runs: 'together', probes: [tls, plain, encoding] }

/** The first request of a client, without a token. */
import { isA } from '../../../src/definition/error-text.ts'
import { metadataUrl } from '../authorization.ts'
import type { Knock } from '../clients/profile.ts'
import type { Answer } from '../http.ts'
import { initializeMessage, LEGACY_VERSIONS, type Message, modernMessage } from '../messages.ts'
import { degrades, type Outcome, Stop, untried, works, wrong } from '../outcome.ts'
import { describe, faultsOf, type Reply } from '../reply.ts'
import { quote } from '../safe-text.ts'
import { type Challenge, headersOf, type Stepped, type Trail } from './trail.ts'

export async function knock(step: Knock, trail: Trail): Promise<Stepped> {
  const { wire } = trail
  if (step.isModernFirst) {
    const discover = modernMessage({ method: 'server/discover' }, wire.freshId())
    const fault = discoverFault(await send(trail, 'server/discover', discover))
    if (fault !== undefined) return { outcome: fault }
  }
  const message = initializeMessage(LEGACY_VERSIONS[0], wire.freshId())
  const reply = await send(trail, 'initialize', message)
  if (reply instanceof Stop) return { outcome: reply.outcome }
  return judge(step, trail, reply, message.id)
}

/** Continues with `initialize` after any refusal, but not after a broken or missing answer. */
function discoverFault(reply: Reply | Stop): Outcome | undefined {
  const fix =
    'answer server/discover, or refuse it with -32601: it is the first request of clients of 2026-07-28'
  if (reply instanceof Stop) return wrong(reply.outcome.detail, fix)
  return reply.answer.status >= 500 ? wrong(`server/discover: ${describe(reply)}`, fix) : undefined
}

function judge(step: Knock, trail: Trail, reply: Reply, id: Message['id']): Stepped {
  const { answer, result } = reply
  const { status, headers } = answer
  const challenge = challengeIn(headers)
  if (step.signsInAt.includes(status)) {
    const said = challenge.metadataUrl === undefined ? '' : ' with the metadata URL'
    return { outcome: works(`HTTP ${status}${said}`), found: { isOpen: false, challenge } }
  }
  if (status === 429)
    return {
      outcome: wrong('HTTP 429: the server limits the rate', 'check again later, or allow this address'),
    }
  if (status >= 300 && status < 400) return redirected(step, trail, answer)
  if (status === 401 || status === 403) return { outcome: refused(step, status) }
  if (result === undefined || typeof result.protocolVersion !== 'string')
    return { outcome: unanswered(reply) }
  const faults = faultsOf(reply, id)
  if (faults.length > 0)
    return { outcome: wrong(faults.join('; '), 'answer initialize with one JSON-RPC response') }
  const found = { isOpen: true }
  return headers.has('www-authenticate')
    ? {
        found,
        outcome: degrades(
          `HTTP ${status} with WWW-Authenticate: it signs in only on ${step.signsInAt.join(' or ')}`,
          'answer 401 to initialize without a token if the server requires one',
        ),
      }
    : { found, outcome: works('answered: no token is required') }
}

function unanswered(reply: Reply): Outcome {
  return reply.error === undefined
    ? wrong(
        `initialize: ${describe(reply)}`,
        'answer POST at this URL, and 401 without a token: a proxy or another route may interfere',
      )
    : wrong(
        `initialize of ${LEGACY_VERSIONS[0]} is refused: ${describe(reply)}`,
        'answer with the newest supported version, whatever version the client requests',
      )
}

function refused({ signsInAt, allow }: Knock, status: number): Outcome {
  const fix = 'answer 401 with WWW-Authenticate: Bearer to a request without a token'
  return wrong(
    `HTTP ${status}: it signs in only on ${signsInAt.join(' or ')}`,
    allow === undefined
      ? `${fix}; if a firewall answers, allow the client`
      : `${fix}; if a firewall answers, allow ${allow}`,
  )
}

function redirected({ stopsAt }: Knock, { url }: Trail, { status, headers }: Answer): Stepped {
  const location = headers.get('location') ?? ''
  const target = URL.canParse(location, url.href) ? new URL(location, url.href) : undefined
  const said = `HTTP ${status} to ${target === undefined ? 'nowhere' : quote(target.href)}`
  const fix =
    'answer at exactly this URL, with and without a trailing slash, and use the right scheme behind a proxy'
  if (stopsAt?.toHttp && url.protocol === 'https:' && target?.protocol === 'http:')
    return { outcome: wrong(`${said}: it does not continue without TLS`, fix) }
  if (stopsAt?.statuses.includes(status))
    return { outcome: wrong(`${said}: it sends GET there, and the message is lost`, fix) }
  const outcome = degrades(`${said}: not every client follows`, fix)
  return { outcome, signInEnds: untried('not followed', 'check the target of the redirect') }
}

/** RFC 6750 §3 and RFC 9728 §5.1. */
function challengeIn(headers: Headers): Challenge {
  const header = headers.get('www-authenticate') ?? ''
  const named = metadataUrl(header)
  const scope = /\bscope\s*=\s*(?:"([^"]*)"|([^\s,]+))/i.exec(header)
  const scopes = (scope?.[1] ?? scope?.[2] ?? '').split(' ').filter((each) => each !== '')
  return { scopes, ...(named !== undefined && { metadataUrl: named }) }
}

async function send(trail: Trail, label: string, { headers, body, id }: Message): Promise<Reply | Stop> {
  try {
    return await trail.wire.ask({
      label: `${label} as ${trail.profile.id}`,
      url: trail.url,
      headers: { ...headers, ...headersOf(trail) },
      body,
      id,
      credentials: 'none',
      statuses: 'any',
    })
  } catch (error) {
    if (isA(error, Stop)) return error
    throw error
  }
}

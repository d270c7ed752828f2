/** GET and DELETE: streams and sessions of the legacy era, refused by servers that have neither. */
import type { Endpoint } from './endpoint.ts'
import type { Answer } from './http.ts'
import { isStream } from './media-type.ts'
import { legacyHeaders } from './messages.ts'
import { degrades, type Outcome, works, wrong } from './outcome.ts'
import type { Probe, Topic } from './probe.ts'
import { describe, readReply } from './reply.ts'
import { cite } from './safe-text.ts'
import { SPEC } from './spec.ts'

const get: Probe = {
  id: 'methods.get',
  title: 'GET opens a stream or is 405',
  spec: `${SPEC.legacyHttp}#listening-for-messages-from-the-server`,
  async run(endpoint) {
    void endpoint.era
    const headers = { ...sessionHeaders(endpoint), accept: 'text/event-stream' }
    // A stream is closed once its headers identify it.
    const answer = await endpoint.request('GET', headers, {
      isEnough: (received) => isStream(received),
    })
    if (answer.status === 405) return refused(answer)
    if (answer.status === 200 && isStream(answer.headers)) return streamed(endpoint)
    const fix = 'answer GET with 405 and Allow, or with a stream: clients treat anything else as a failure'
    return endpoint.contact.isLegacy || answer.status >= 500
      ? wrong(describe(readReply(answer)), fix)
      : degrades(describe(readReply(answer)), fix)
  },
}

const remove: Probe = {
  id: 'methods.delete',
  title: 'DELETE ends a session or is 405',
  spec: `${SPEC.legacyHttp}#session-management`,
  async run(endpoint) {
    void endpoint.era
    const { session } = endpoint.contact
    // Ends a new session, since the others are still in use.
    const opened = session?.id === undefined ? undefined : await endpoint.initialize(session.version)
    const id = opened?.answer.headers.get('mcp-session-id')
    const headers = { ...sessionHeaders(endpoint), ...(id && { 'mcp-session-id': id }) }
    const answer = await endpoint.request('DELETE', headers)
    if (answer.status === 405) return refused(answer)
    if (id && answer.status >= 200 && answer.status < 300)
      return works(`HTTP ${answer.status}: the session is ended`)
    const said = describe(readReply(answer))
    const fix = 'answer DELETE with 405 and Allow if there are no sessions'
    return answer.status >= 500 ? wrong(said, fix) : degrades(said, fix)
  },
}

function refused({ headers }: Answer): Outcome {
  const allow = headers.get('allow')
  return allow === null
    ? degrades('405 without Allow', 'add Allow: POST to the 405 (RFC 9110 §15.5.6)')
    : works(`405, Allow: ${cite(allow)}`)
}

function streamed({ contact }: Endpoint): Outcome {
  return contact.session?.id === undefined
    ? degrades(
        'a stream is opened, but without a session nothing can be sent on it',
        'answer 405: otherwise each client holds a useless connection, which costs money on serverless platforms',
      )
    : works('a stream is opened')
}

/** The headers of a client of the server's newest era. */
function sessionHeaders({ contact }: Endpoint): { [name: string]: string } {
  const { 'content-type': _, ...headers } = legacyHeaders(contact.session)
  return headers
}

export const httpMethods: Topic = { title: 'GET and DELETE', runs: 'together', probes: [get, remove] }

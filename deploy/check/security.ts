/** Who can reach a local server, and which security headers browsers get. */
import type { Endpoint } from './endpoint.ts'
import type { Answer } from './http.ts'
import { degrades, skipped, works, wrong } from './outcome.ts'
import type { Probe, Topic } from './probe.ts'
import { SPEC } from './spec.ts'

const ORIGIN = `${SPEC.http}#security-%26-endpoint`
const FOREIGN_HOST = 'mayfly-check.example'

const origin: Probe = {
  id: 'security.origin',
  title: 'a foreign Origin',
  spec: ORIGIN,
  async run(endpoint) {
    const answer = await knock(endpoint, 'a foreign Origin', { origin: `http://${FOREIGN_HOST}` })
    if (answer.status === 403) return works('403')
    if (!isServed(answer)) return works(`refused with ${answer.status}`)
    return endpoint.isLocal
      ? wrong('served on a local host: any web page may call it', 'answer 403 to an Origin that is not local')
      : works('served, which is safe if the server uses no cookies')
  },
}

const rebinding: Probe = {
  id: 'security.rebinding',
  title: 'a foreign Host on a local host is refused',
  spec: ORIGIN,
  async run(endpoint) {
    if (!endpoint.isLocal) return skipped('not a local host')
    const { port } = endpoint.url
    const host = port === '' ? FOREIGN_HOST : `${FOREIGN_HOST}:${port}`
    const fix = 'answer 403 to a Host that is not local: DNS rebinding makes any name point here'
    const page = await knock(endpoint, 'a rebound name', { host, origin: `http://${host}` })
    if (isServed(page)) return wrong('served, even with a foreign Origin', fix)
    const bare = await knock(endpoint, 'a foreign Host', { host })
    return isServed(bare) ? degrades('served without an Origin', fix) : works(`${bare.status}`)
  },
}

const sniffing: Probe = {
  id: 'security.nosniff',
  title: 'answers forbid sniffing',
  spec: `${SPEC.fetch}/#x-content-type-options-header`,
  async run(endpoint) {
    const { headers } = await knock(endpoint, 'a plain request', {})
    return headers.get('x-content-type-options')?.toLowerCase() === 'nosniff'
      ? works('nosniff')
      : degrades(
          'X-Content-Type-Options is missing',
          'send X-Content-Type-Options: nosniff: tools may return content from others',
        )
  },
}

const hsts: Probe = {
  id: 'security.hsts',
  title: 'Strict-Transport-Security',
  spec: `${SPEC.rfc}/rfc6797#section-7.1`,
  async run(endpoint) {
    if (endpoint.url.protocol !== 'https:' || endpoint.isLocal) return skipped('not https on a public host')
    const { headers } = await knock(endpoint, 'a plain request', {})
    return headers.has('strict-transport-security')
      ? works('sent')
      : degrades('missing', 'send Strict-Transport-Security: max-age=31536000')
  },
}

/** A first request with the headers under test. */
function knock(
  endpoint: Endpoint,
  label: string,
  more: { readonly [name: string]: string },
): Promise<Answer> {
  const { body, headers } = endpoint.greeting()
  return endpoint.wire.send({
    label,
    body,
    headers: { ...headers, ...more },
    isEnough: () => true,
    statuses: 'any',
  })
}

function isServed({ status }: Answer): boolean {
  return status < 400
}

export const security: Topic = {
  title: 'Security',
  runs: 'together',
  probes: [origin, rebinding, sniffing, hsts],
}

/** MCP Events (SEP-3415): what a server declares, and what it answers before it sends anything. No subscription is made. */
import { isObject } from '../../src/definition/is-object.ts'
import type { Contact } from './contact.ts'
import type { Asked, Endpoint } from './endpoint.ts'
import type { JsonObject } from './messages.ts'
import { degrades, hint, type Outcome, Stop, skipped, works, wrong } from './outcome.ts'
import type { Probe, Topic } from './probe.ts'
import { brief, describe } from './reply.ts'
import { quote } from './safe-text.ts'

const SPEC = 'https://modelcontextprotocol.io/extensions/events/overview'
export const EVENTS_EXTENSION = 'io.modelcontextprotocol/events'
const MODES: readonly unknown[] = ['poll', 'push', 'webhook']
/** Pages and events that are read. */
const MAX_PAGES = 20
const MAX_EVENTS = 1000

/** A name that no resolver knows (RFC 6761), and a secret of nobody. */
const NOWHERE = 'https://mayfly-check.invalid/events'
const SECRET = `whsec_${'A'.repeat(43)}=`

interface Declared {
  readonly asCapability: boolean
  readonly asExtension: boolean
}

/** Where a server says that it has events. */
export function declaredEvents({ isModern, discovery, initialization }: Contact): Declared {
  const { capabilities } = isModern ? discovery : initialization
  const { events, extensions } = isObject(capabilities) ? capabilities : {}
  return {
    asCapability: isObject(events),
    asExtension: isObject(extensions) && isObject(extensions[EVENTS_EXTENSION]),
  }
}

export function hasEvents(contact: Contact): boolean {
  const { asCapability, asExtension } = declaredEvents(contact)
  return asCapability || asExtension
}

const declared: Probe = {
  id: 'events.declared',
  title: 'events are declared where all clients look',
  spec: SPEC,
  run({ contact }) {
    const { asCapability, asExtension } = declaredEvents(contact)
    if (asCapability && asExtension) return works('as a capability and as an extension')
    return asCapability
      ? hint(
          `only as the capability "events", not in "extensions" as ${EVENTS_EXTENSION}`,
          'declare both: clients of SEP-3415 look for the extension',
        )
      : degrades(
          `only as the extension ${EVENTS_EXTENSION}, not as the capability "events"`,
          'declare "events": {} too: ChatGPT and the AI SDK look for it',
        )
  },
}

const reading = new WeakMap<Endpoint, Promise<readonly JsonObject[]>>()

/** Read once for all probes. Throws `Stop` for a list that cannot be used. */
export function readEventList(endpoint: Endpoint): Promise<readonly JsonObject[]> {
  const known = reading.get(endpoint) ?? read(endpoint)
  reading.set(endpoint, known)
  return known
}

async function read(endpoint: Endpoint): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = []
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES && found.length < MAX_EVENTS; page++) {
    const params = cursor === undefined ? {} : { cursor }
    const asked = await endpoint.ask(endpoint.era, { method: 'events/list', params })
    const events = asked.result?.events
    if (!Array.isArray(events) || !events.every(isObject))
      throw new Stop(
        wrong(`events/list: ${describe(asked)}`, 'answer { "events": […] }, with an object for each event'),
      )
    found.push(...events)
    const next = asked.result?.nextCursor
    if (typeof next !== 'string') break
    cursor = next
  }
  return found
}

const list: Probe = {
  id: 'events.list',
  title: 'events/list describes each event',
  spec: SPEC,
  async run(endpoint) {
    const events = await readEventList(endpoint)
    for (const { name, delivery, inputSchema, payloadSchema } of events) {
      if (typeof name !== 'string' || name === '')
        return wrong('an event has no name', 'give each event a "name"')
      if (!Array.isArray(delivery) || delivery.length === 0 || !delivery.every((one) => MODES.includes(one)))
        return wrong(
          `"delivery" of ${quote(name)} is ${quote(JSON.stringify(delivery) ?? 'missing')}`,
          'list how it is delivered: poll, push or webhook',
        )
      if (!isObject(inputSchema) || !isObject(payloadSchema))
        return wrong(
          `${quote(name)} lacks "inputSchema" or "payloadSchema"`,
          'describe the arguments and the data of each event by a JSON Schema',
        )
    }
    const names = events.map(({ name }) => name)
    const twice = names.find((name, index) => names.indexOf(name) !== index)
    if (twice !== undefined) return wrong(`${quote(twice)} is listed twice`, 'list each event once')
    return events.length === 0
      ? degrades('no event for this caller', 'define an event, or pass a token that may see one')
      : works(`${events.length}`)
  },
}

const unknown: Probe = {
  id: 'events.unknown',
  title: 'an unknown event is -32011 with its kind',
  spec: SPEC,
  async run(endpoint) {
    const asked = await endpoint.ask(endpoint.era, {
      method: 'events/poll',
      params: { name: 'mayfly.check.unknown', arguments: {}, cursor: null },
    })
    const data = asked.error?.data
    if (asked.error?.code === -32011 && isObject(data) && data.kind === 'event') return works(brief(asked))
    return judged(asked, 'answer -32011 with data { "kind": "event" }')
  },
}

const poll: Probe = {
  id: 'events.poll',
  title: 'a first poll is a cursor without events',
  spec: SPEC,
  async run(endpoint) {
    const events = await readEventList(endpoint)
    const one = events.find(({ delivery }) => Array.isArray(delivery) && delivery.includes('poll'))
    if (one === undefined) return skipped('no event can be polled')
    const asked = await endpoint.ask(endpoint.era, {
      method: 'events/poll',
      params: { name: one.name, arguments: {}, cursor: null },
    })
    if (asked.error?.code === -32602) return skipped(`${quote(one.name)} needs arguments`)
    if (asked.error?.code === -32012) return skipped('this caller may not have it')
    const { events: got, cursor, truncated, hasMore } = asked.result ?? {}
    const fix =
      'answer { events: [], cursor, truncated: false, hasMore: false, nextPollMs } for a cursor of null'
    if (asked.result === undefined) return wrong(describe(asked), fix)
    if (typeof cursor !== 'string' || !Array.isArray(got)) return wrong('no "cursor" or no "events"', fix)
    if (got.length > 0 || hasMore === true) return wrong('events of the past, which were not asked for', fix)
    return truncated === true ? wrong('"truncated", though nothing was left out', fix) : works('a cursor')
  },
}

/** A subscription that must be refused: without a token, or to a URL that must not be sent to. */
async function subscribe(
  endpoint: Endpoint,
  url: string,
  more: { readonly isAnonymous?: boolean; readonly mode?: string } = {},
): Promise<Asked | undefined> {
  const { isAnonymous = false, mode = 'webhook' } = more
  const events = await readEventList(endpoint)
  const one = events.find(({ delivery }) => Array.isArray(delivery) && delivery.includes('webhook'))
  // Without a token, the list has no webhooks.
  const name = one?.name ?? (isAnonymous ? events[0]?.name : undefined)
  if (name === undefined) return undefined
  return endpoint.ask(endpoint.era, {
    method: 'events/subscribe',
    params: { name, arguments: {}, cursor: null, delivery: { mode, url, secret: SECRET } },
    statuses: 'any',
    ...(isAnonymous && { credentials: 'none' as const }),
  })
}

const anonymous: Probe = {
  id: 'events.anonymous',
  title: 'a subscription without a token is refused',
  spec: SPEC,
  async run(endpoint) {
    const asked = await subscribe(endpoint, NOWHERE, { isAnonymous: true })
    if (asked === undefined) return skipped('no event')
    const { status } = asked.answer
    if (status === 401 || status === 403 || asked.error?.code === -32012) return works(brief(asked))
    const fix = 'answer 401, or -32012: a subscription belongs to a principal'
    if (asked.error?.code === -32015) return wrong('anybody can make the server send requests to a URL', fix)
    return judged(asked, fix)
  },
}

const URLS = ['http://mayfly-check.invalid/events', 'https://127.0.0.1/events', 'https://[::1]/events']

const callbacks: Probe = {
  id: 'events.callback-url',
  title: 'webhooks to http and to private addresses are refused',
  spec: `${SPEC}#webhook-security`,
  async run(endpoint) {
    for (const url of URLS) {
      const asked = await subscribe(endpoint, url)
      if (asked === undefined) return skipped('no event has webhooks for this caller')
      const { code } = asked.error ?? {}
      if (code === -32012) return skipped('this caller may not subscribe')
      if (asked.result !== undefined)
        return wrong(`subscribed to ${url}`, 'accept only https URLs with public addresses')
      if (code !== -32602 && code !== -32015)
        return judged(asked, 'answer -32602 for a URL that must not get webhooks')
    }
    return works('-32602')
  },
}

const mode: Probe = {
  id: 'events.mode',
  title: 'another delivery mode than webhook is -32014',
  spec: SPEC,
  async run(endpoint) {
    const asked = await subscribe(endpoint, NOWHERE, { mode: 'mayfly-check' })
    if (asked === undefined) return skipped('no event has webhooks for this caller')
    if (asked.error?.code === -32012) return skipped('this caller may not subscribe')
    if (asked.error?.code === -32014) return works(brief(asked))
    return judged(asked, 'answer -32014 with data { "feature": "deliveryMode", "value": … }')
  },
}

function judged(asked: Asked, fix: string): Outcome {
  const isRefused = asked.error !== undefined && asked.answer.status < 500
  return isRefused ? degrades(describe(asked), fix) : wrong(describe(asked), fix)
}

export const eventsTopic: Topic = {
  title: 'MCP Events',
  runs: 'together',
  probes: [declared, list, unknown, poll, anonymous, callbacks, mode],
}

/** `subscriptions/listen`: acknowledged first, ended at once if there is nothing to send, and never hanging. */

import { isA } from '../../src/definition/error-text.ts'
import { isObject } from '../../src/definition/is-object.ts'
import type { IsEnough } from './body.ts'
import type { Asked, Endpoint } from './endpoint.ts'
import { isStream } from './media-type.ts'
import { SUBSCRIPTION_ID } from './messages.ts'
import { degrades, type Outcome, Stop, skipped, works, wrong } from './outcome.ts'
import type { Probe, Topic } from './probe.ts'
import { describe, faultsOf, messagesIn, untilResponse } from './reply.ts'
import { SPEC } from './spec.ts'

/** How long to wait for the acknowledgement before the stream is closed. */
const EVENT_TIMEOUT_MS = 3000

const FILTER = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'

const opened: Probe = {
  id: 'listen.acknowledged',
  title: 'subscriptions/listen is acknowledged',
  spec: `${SPEC.subscriptions}#acknowledgment`,
  async run(endpoint) {
    const { asked, promised } = await listen(endpoint)
    const { error, messages, answer } = asked
    if (error !== undefined) return refused(asked, promised)
    const [first] = messages
    const fix = 'send notifications/subscriptions/acknowledged as the first event, at once'
    if (first === undefined)
      return wrong(
        isStream(answer.headers) ? 'the stream is silent' : describe(asked),
        `${fix}: clients wait for it`,
      )
    if (first.method !== ACKNOWLEDGED) {
      return asked.result !== undefined
        ? degrades('ended without an acknowledgement', fix)
        : wrong('another message comes first', fix)
    }
    const { _meta: meta } = isObject(first.params) ? first.params : {}
    if (!isObject(meta) || meta[SUBSCRIPTION_ID] !== asked.id)
      return wrong(
        'the acknowledgement does not carry the id of the request',
        `put it into _meta as ${SUBSCRIPTION_ID}`,
      )
    const extra = honoured(asked).filter((name) => !promised.includes(name))
    if (extra.length > 0)
      return degrades(
        `${extra.join(', ')} acknowledged but not advertised as listChanged`,
        'acknowledge what is advertised, and advertise what is acknowledged',
      )
    return works(honoured(asked).join(', ') || 'with nothing to listen to')
  },
}

const ends: Probe = {
  id: 'listen.ends',
  title: 'a stream with nothing to send is ended',
  spec: `${SPEC.subscriptions}#graceful-closure`,
  async run(endpoint) {
    const { asked } = await listenQuietly(endpoint)
    const { error, result, answer, messages } = asked
    if (error !== undefined) return works('refused: no stream')
    if (honoured(asked).length > 0)
      return works('stays open for the acknowledged changes; closed by this check')
    const fix = 'end the stream with a result if nothing is acknowledged: it holds a useless connection'
    if (result !== undefined) return ended(asked)
    if (messages.length === 0) return wrong('no event, and no end', fix)
    return answer.ended === 'timeout'
      ? degrades('it stays open', fix)
      : degrades('it is cut without a result', 'end with a result, so that clients do not reconnect')
  },
}

const unbuffered: Probe = {
  id: 'listen.unbuffered',
  title: 'streams ask proxies not to buffer',
  spec: `${SPEC.http}#receiving-messages`,
  async run(endpoint) {
    const { asked } = await listenQuietly(endpoint)
    const { headers } = asked.answer
    if (!isStream(headers)) return skipped('no stream')
    return headers.get('x-accel-buffering')?.toLowerCase() === 'no'
      ? works('X-Accel-Buffering: no')
      : degrades(
          'X-Accel-Buffering is missing',
          'send X-Accel-Buffering: no with event streams: proxies hold events back',
        )
  },
}

interface Listening {
  readonly asked: Asked
  /** The filter members that the capabilities advertise. */
  readonly promised: readonly string[]
}

/** Runs once for all probes, since a stream is the most expensive request. */
const listening = new WeakMap<Endpoint, Promise<Listening>>()

function listen(endpoint: Endpoint): Promise<Listening> {
  endpoint.requireEra('modern')
  const known = listening.get(endpoint) ?? open(endpoint)
  listening.set(endpoint, known)
  return known
}

/** Only the first probe reports silence. */
function listenQuietly(endpoint: Endpoint): Promise<Listening> {
  return listen(endpoint).catch((error: unknown) => {
    if (isA(error, Stop) && error.outcome.verdict === 'wrong') throw new Stop(skipped('no answer'))
    throw error
  })
}

async function open(endpoint: Endpoint): Promise<Listening> {
  const { capabilities } = endpoint.contact.discovery
  const promised = Object.keys(FILTER).filter((name) => {
    const capability = isObject(capabilities) && capabilities[name.replace('ListChanged', '')]
    return isObject(capability) && capability.listChanged === true
  })
  const asked = await endpoint.ask('modern', {
    method: 'subscriptions/listen',
    params: { notifications: FILTER },
    timeoutMs: Math.min(EVENT_TIMEOUT_MS, endpoint.wire.options.timeoutMs),
    isEnough: isAnsweredOrPinned,
  })
  return { asked, promised }
}

/** Whether the response has arrived, or the stream was acknowledged with a filter that is not empty and stays open. */
const isAnsweredOrPinned: IsEnough = (headers, event) =>
  untilResponse(undefined)(headers, event) ||
  (event !== undefined && honoured({ messages: messagesIn(event) }).length > 0)

/** From the requested filter. */
function honoured({ messages }: Pick<Asked, 'messages'>): string[] {
  const params = messages.find(({ method }) => method === ACKNOWLEDGED)?.params
  const filter = isObject(params) && isObject(params.notifications) ? params.notifications : {}
  return Object.keys(FILTER).filter((name) => filter[name] === true)
}

function refused(asked: Asked, promised: readonly string[]): Outcome {
  if (promised.length > 0 && asked.error?.code === -32601)
    return wrong(
      `${describe(asked)}, though listChanged is advertised`,
      'serve subscriptions/listen, or advertise no listChanged',
    )
  return degrades(
    describe(asked),
    'acknowledge subscriptions/listen and end it at once if there are no changes to send: clients may always ask',
  )
}

function ended(asked: Asked): Outcome {
  const faults = faultsOf(asked, asked.id)
  const meta = isObject(asked.result?._meta) ? asked.result._meta : {}
  if (faults.length > 0) return wrong(faults.join('; '), 'end the stream with the response to the request')
  return meta[SUBSCRIPTION_ID] === asked.id
    ? works('ended with a result')
    : degrades(
        'ended with a result without the id of the subscription',
        `put the id into _meta as ${SUBSCRIPTION_ID}`,
      )
}

export const listenTopic: Topic = {
  title: 'subscriptions/listen',
  runs: 'together',
  probes: [opened, ends, unbuffered],
}

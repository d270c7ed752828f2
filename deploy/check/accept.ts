/** `Accept`: official clients send both types; other programs send anything. */

import { isStream } from './media-type.ts'
import { degrades, works, wrong } from './outcome.ts'
import type { Probe, Topic } from './probe.ts'
import { describe } from './reply.ts'
import { SPEC } from './spec.ts'

const JSON_TYPE = 'application/json'
const STREAM_TYPE = 'text/event-stream'

interface Variant {
  readonly id: string
  readonly title: string
  readonly accept: string | undefined
}

const TOLERANT: readonly Variant[] = [
  { id: 'accept.json', title: 'Accept: application/json', accept: JSON_TYPE },
  { id: 'accept.any', title: 'Accept: */*', accept: '*/*' },
  { id: 'accept.absent', title: 'no Accept', accept: undefined },
]

const both: Probe = {
  id: 'accept.both',
  title: 'Accept: application/json, text/event-stream',
  spec: `${SPEC.http}#sending-messages`,
  async run(endpoint) {
    const asked = await endpoint.askLittle()
    return asked.result === undefined
      ? wrong(describe(asked), 'answer requests that accept both types, which every client sends')
      : works(isStream(asked.answer.headers) ? 'answered as a stream' : 'answered in JSON')
  },
}

const tolerant: readonly Probe[] = TOLERANT.map(({ id, title, accept }) => ({
  id,
  title,
  spec: `${SPEC.rfc}/rfc9110#section-12.5.1`,
  async run(endpoint) {
    const asked = await endpoint.askLittle({ headers: { accept } })
    const fix = 'answer in JSON: scripts and simple clients do not accept streams'
    if (asked.answer.status >= 500) return wrong(describe(asked), fix)
    if (asked.result === undefined) return degrades(`refused: ${describe(asked)}`, fix)
    if (!isStream(asked.answer.headers)) return works('answered in JSON')
    return accept === JSON_TYPE
      ? degrades('answered as a stream, which was not accepted', fix)
      : works('answered as a stream')
  },
}))

const stream: Probe = {
  id: 'accept.stream',
  title: 'Accept: text/event-stream',
  spec: `${SPEC.rfc}/rfc9110#section-12.5.1`,
  async run(endpoint) {
    const asked = await endpoint.askLittle({ headers: { accept: STREAM_TYPE } })
    const fix = 'answer as a stream with the response as its only event'
    if (asked.answer.status >= 500) return wrong(describe(asked), fix)
    if (asked.result === undefined) return degrades(`refused: ${describe(asked)}`, fix)
    return works(isStream(asked.answer.headers) ? 'answered as a stream' : 'answered in JSON')
  },
}

export const accept: Topic = { title: 'Accept', runs: 'together', probes: [both, ...tolerant, stream] }

/** How the server refuses invalid messages. */

import { essence } from './media-type.ts'
import { degrades, type Outcome, works, wrong } from './outcome.ts'
import type { Probe, Topic } from './probe.ts'
import { brief, describe, faultsOf, type Reply, typeOf } from './reply.ts'
import { SPEC } from './spec.ts'

/** Whether it was refused with the right status and code, refused otherwise, or not refused. */
function judge(reply: Reply, status: number, code: number, fix: string): Outcome {
  const { answer, error } = reply
  if (answer.status === status && error?.code === code) return works(brief(reply))
  if (answer.status >= 500 || (answer.status < 400 && error === undefined)) return wrong(describe(reply), fix)
  return degrades(describe(reply), fix)
}

const badJson: Probe = {
  id: 'errors.json',
  title: 'a body that is not JSON is -32700 with 400',
  spec: `${SPEC.basic}#error-codes`,
  async run(endpoint) {
    const reply = await endpoint.post('bad JSON', '{"jsonrpc":"2.0","id":1,')
    return judge(reply, 400, -32700, 'catch errors of the JSON parser, and answer 400 with -32700')
  },
}

const noMessage: Probe = {
  id: 'errors.message',
  title: 'JSON that is not a message is -32600 with 400',
  spec: `${SPEC.basic}#requests`,
  async run(endpoint) {
    const reply = await endpoint.post('JSON that is not a message', '42')
    return judge(reply, 400, -32600, 'check that the body is a JSON-RPC message, and answer 400 with -32600')
  },
}

const wrongVersion: Probe = {
  id: 'errors.jsonrpc',
  title: 'a request without "jsonrpc": "2.0" is refused',
  spec: `${SPEC.basic}#requests`,
  async run(endpoint) {
    const body = endpoint.little().body.replace('"jsonrpc":"2.0"', '"jsonrpc":"1.0"')
    const reply = await endpoint.post('jsonrpc 1.0', body)
    return judge(reply, 400, -32600, 'check "jsonrpc", and answer 400 with -32600')
  },
}

const contentType: Probe = {
  id: 'errors.content-type',
  title: 'another content type than JSON is 415',
  spec: `${SPEC.rfc}/rfc9110#section-15.5.16`,
  async run(endpoint) {
    const { body } = endpoint.little()
    const reply = await endpoint.post('text/plain', body, { 'content-type': 'text/plain' })
    const fix =
      'answer 415 unless it is application/json: any web page may send text/plain without a preflight'
    if (reply.answer.status === 415) return works(brief(reply))
    return reply.answer.status >= 500 ? wrong(describe(reply), fix) : degrades(describe(reply), fix)
  },
}

const ids: Probe = {
  id: 'errors.ids',
  title: 'large numbers and long strings are returned as ids',
  spec: `${SPEC.basic}#responses`,
  async run(endpoint) {
    const fix = 'answer with exactly the id of the request, number or string'
    for (const id of [Number.MAX_SAFE_INTEGER, 0, `mayfly-check-${'x'.repeat(200)}`]) {
      const asked = await endpoint.askLittle({ id })
      const faults = faultsOf(asked, id)
      if (faults.length > 0) return wrong(faults.join('; '), fix)
    }
    return works('a number, zero and a string')
  },
}

const notification: Probe = {
  id: 'errors.notification',
  title: 'a notification is 202 without a body',
  spec: `${SPEC.http}#sending-messages`,
  async run(endpoint) {
    const method = 'notifications/mayfly-check'
    const reply = await endpoint.post('a notification', JSON.stringify({ jsonrpc: '2.0', method }), {
      ...(endpoint.era === 'modern' && { 'mcp-method': method }),
    })
    const { status, body, ended } = reply.answer
    const fix = 'answer notifications, known or not, with 202 and an empty body'
    if (status === 202 && body === '' && ended === 'whole') return works('HTTP 202')
    if (status >= 500 || ended === 'timeout') return wrong(describe(reply), fix)
    return degrades(describe(reply), fix)
  },
}

const answersType: Probe = {
  id: 'errors.answer-type',
  title: 'the content type is JSON or an event stream',
  spec: `${SPEC.http}#sending-messages`,
  async run(endpoint) {
    const { answer } = await endpoint.askLittle()
    const type = essence(answer.headers)
    return type === 'application/json' || type === 'text/event-stream'
      ? works(type)
      : wrong(
          `Content-Type is ${typeOf(answer.headers) || 'missing'}`,
          'send application/json or text/event-stream: clients refuse anything else',
        )
  },
}

export const errors: Topic = {
  title: 'Messages and errors',
  runs: 'together',
  probes: [badJson, noMessage, wrongVersion, contentType, ids, notification, answersType],
}

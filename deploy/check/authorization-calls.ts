/** Whether a server that requires a token for some methods also requires it for calls. */
import type { Endpoint } from './endpoint.ts'
import { isStream } from './media-type.ts'
import { type Call, type Era, legacyMessage, type Message, modernMessage } from './messages.ts'
import { UNKNOWN_TOOL } from './modern-requests.ts'
import { skipped, works, wrong } from './outcome.ts'
import type { Probe } from './probe.ts'
import { describe, type Reply } from './reply.ts'
import { SPEC } from './spec.ts'

/** Calls of things that no server has, so that nothing runs. */
const CALLS: readonly Call[] = [
  { method: 'tools/call', params: { name: UNKNOWN_TOOL, arguments: {} } },
  { method: 'prompts/get', params: { name: UNKNOWN_TOOL } },
  { method: 'resources/read', params: { uri: 'mayfly-check://no-such-resource' } },
]
/** Errors that show that the call was processed: the tool, prompt or resource does not exist. */
const LOOKED_UP = [-32602, -32002]
const BAD_TOKEN = { authorization: 'Bearer mayfly-check-no-such-token' }

interface Knock extends Message {
  readonly label: string
}

export const calls: Probe = {
  id: 'authorization.calls',
  title: 'calls require a token if other methods do',
  spec: `${SPEC.authorization}#access-token-usage`,
  async run(endpoint) {
    const guarded = await findGuarded(endpoint)
    if (guarded === undefined) return skipped('no token is needed')
    for (const [who, knock] of attempts(endpoint)) {
      const reply = await send(endpoint, knock)
      if (isServed(reply))
        return wrong(
          `${knock.label} ${who} is answered (${describe(reply)}), though ${guarded} is 401`,
          'check the token before reading the body, in one place for all methods: here calls run without a token',
        )
    }
    const { status, headers } = await endpoint.wire.send({
      label: 'GET without a token',
      method: 'GET',
      headers: { accept: 'text/event-stream' },
      credentials: 'none',
      statuses: 'any',
      isEnough: () => true,
    })
    if (status === 200 && isStream(headers))
      return wrong(
        `GET without a token is answered (HTTP 200, a stream), though ${guarded} is 401`,
        'require the token for GET, too: its stream carries messages for one caller',
      )
    return works('all refused')
  },
}

/** A method that gets 401 without a token. */
async function findGuarded(endpoint: Endpoint): Promise<string | undefined> {
  const { isModern, isLegacy } = endpoint.contact
  const knocks: readonly Knock[] = [
    { ...endpoint.greeting(), label: 'the first request' },
    ...(isModern ? [toKnock(endpoint, 'modern', { method: 'tools/list' })] : []),
    ...(isLegacy ? [toKnock(endpoint, 'legacy', { method: 'tools/list' })] : []),
  ]
  for (const knock of knocks) {
    const { answer } = await send(endpoint, knock)
    if (answer.status === 401) return knock.label
  }
  return undefined
}

function attempts(endpoint: Endpoint): (readonly [who: string, knock: Knock])[] {
  const { isModern, isLegacy } = endpoint.contact
  // If not even the first request is answered, the server may speak either era.
  const eras: readonly Era[] = isModern || isLegacy ? endpoint.eras : ['modern', 'legacy']
  const all = eras.flatMap((era) => CALLS.map((call) => toKnock(endpoint, era, call)))
  const tools = all.filter(({ label }) => label.startsWith('tools/call'))
  // 2025-03-26 has batches, but no version header.
  const single = legacyMessage(CALLS[0]!, endpoint.wire.freshId(), undefined)
  const batch = { ...single, body: `[${single.body}]`, label: 'tools/call in a batch' }
  const forged = tools.map((knock) => ({ ...knock, headers: { ...knock.headers, ...BAD_TOKEN } }))
  return [
    ...[...all, batch].map((knock) => ['without a token', knock] as const),
    ...forged.map((knock) => ['with an invalid token', knock] as const),
  ]
}

function toKnock({ wire, contact }: Endpoint, era: Era, call: Call): Knock {
  const message =
    era === 'modern'
      ? modernMessage(call, wire.freshId())
      : legacyMessage(call, wire.freshId(), contact.session)
  return { ...message, label: `${call.method} (${era})` }
}

function send({ wire }: Endpoint, { label, body, headers, id }: Knock): Promise<Reply> {
  return wire.ask({ label, body, headers, id, credentials: 'none', statuses: 'any' })
}

function isServed({ answer, result, error }: Reply): boolean {
  if (answer.status === 401 || answer.status === 403) return false
  return result !== undefined || LOOKED_UP.some((code) => code === error?.code)
}

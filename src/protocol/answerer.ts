/**
 * The answerer of an `MCPServer`: each message is answered in its era.
 */
import { withPart } from '../definition/part.ts'
import { ANSWER_TIMEOUT_MS, withTimeout } from '../definition/timeout.ts'
import { QUESTION_ID, rendezvousKey } from '../interaction/rendezvous.ts'
import { principalOf } from '../request/principal.ts'
import type { Answerer, UnansweredMessage } from './engine.ts'
import type { EngineOptions, Incoming } from './engine-options.ts'
import { toGatewayMessage } from './gateway-message.ts'
import { invalidRequest } from './json-rpc.ts'
import type { ServeLegacy } from './legacy.ts'
import { createListenLater } from './listen-later.ts'
import { loadLegacy } from './load-legacy.ts'
import { createModern } from './modern.ts'
import { isLegacyVersion, LEGACY_VERSIONS, MODERN_VERSIONS } from './versions.ts'

export function createAnswerer(options: EngineOptions): Answerer {
  const listen = createListenLater(options)
  const serveModern = createModern(options, listen.serve)
  let legacy: ServeLegacy | undefined
  const serveLegacy: ServeLegacy = (message, incoming) =>
    withPart(loadLegacy, ({ createLegacy }) => {
      legacy ??= createLegacy(options, listen.open)
      return legacy(message, incoming)
    })
  return {
    modernVersions: MODERN_VERSIONS,
    // Responses and notifications must not wait for a slot, since the call that waits for a response already has one.
    runs: ({ kind }) => kind === 'request',
    answer(message, incoming) {
      const serve = incoming.era === 'modern' ? serveModern : serveLegacy
      if (incoming.era === 'legacy') checkLegacyVersion(incoming)
      const { gateway, definition } = options
      if (gateway === undefined) return serve(message, incoming)
      return gateway.definitionFor(definition, toGatewayMessage(message, incoming), options).then((found) => {
        incoming.definition = found
        return serve(message, incoming)
      })
    },
    accept(message, incoming) {
      if (incoming.era === 'legacy') checkLegacyVersion(incoming)
      return message.kind === 'response' ? deliver(message, incoming, options) : undefined
    },
    close: listen.close,
  }
}

/** Delivers a legacy client's answer to a question on the stream of another request. */
async function deliver(
  { id, answer }: UnansweredMessage & { kind: 'response' },
  incoming: Incoming,
  { asking }: EngineOptions,
): Promise<void> {
  const { session, env } = incoming.platform
  const rendezvous = session?.rendezvous ?? asking.rendezvousFor(env)
  if (rendezvous === undefined || typeof id !== 'string' || !id.startsWith(QUESTION_ID)) return
  const delivering = rendezvous.deliver(rendezvousKey(id, principalOf(incoming)), answer ?? null)
  await withTimeout(delivering, ANSWER_TIMEOUT_MS, 'rendezvous')
}

/** Refuses an unsupported version, for any message (Streamable HTTP, "Protocol Version Header"). */
function checkLegacyVersion({ versionHeader }: Incoming): void {
  if (versionHeader === null || isLegacyVersion(versionHeader)) return
  throw invalidRequest(
    `the MCP-Protocol-Version header is ${JSON.stringify(versionHeader.slice(0, 40))}; the supported legacy versions are ${LEGACY_VERSIONS.join(', ')}`,
  )
}

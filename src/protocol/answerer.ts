/**
 * The answerer of an `MCPServer`: each message is answered in its era.
 */
import { withPart } from '../definition/part.ts'
import type { Answerer } from './engine.ts'
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
  const serveModern = createModern(options, listen)
  let legacy: ServeLegacy | undefined
  const serveLegacy: ServeLegacy = (message, incoming) =>
    withPart(loadLegacy, ({ createLegacy }) => {
      legacy ??= createLegacy(options, listen)
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
      return message.kind === 'response'
        ? withPart(loadLegacy, ({ deliver }) => deliver(message, incoming, options))
        : undefined
    },
    close: listen.close,
  }
}

/** Refuses an unsupported version, for any message (Streamable HTTP, "Protocol Version Header"). */
function checkLegacyVersion({ versionHeader }: Incoming): void {
  if (versionHeader === null || isLegacyVersion(versionHeader)) return
  throw invalidRequest(
    `the MCP-Protocol-Version header is ${JSON.stringify(versionHeader.slice(0, 40))}; the supported legacy versions are ${LEGACY_VERSIONS.join(', ')}`,
  )
}

import type { RpcId } from '../../src/protocol/json-rpc.ts'
import { readMessage } from '../../src/protocol/read-message.ts'

type Outline = { readonly jsonrpc: '2.0'; readonly id?: RpcId; readonly [name: string]: unknown }

/**
 * The outline of a body for the SDK's transport: enough to match answers with requests. The transport would refuse messages that its own
 * schemas do not support; the engine handles those itself.
 */
export function outlineOf(body: unknown): Outline | Outline[] {
  return Array.isArray(body) ? body.map(outline) : outline(body)
}

function outline(value: unknown): Outline {
  const message = readMessage(value)
  const jsonrpc = '2.0'
  switch (message.kind) {
    case 'request': {
      const { id, method, params } = message
      return method === 'initialize'
        ? { jsonrpc, id, method, params: opening(params) }
        : { jsonrpc, id, method }
    }
    case 'notification':
      return { jsonrpc, method: message.method }
    default:
      // A response: the transport does not have to know which request it answers.
      return { jsonrpc, id: 0, result: {} }
  }
}

/** The members by which the transport recognizes the start of a session; the engine checks the rest. */
function opening({ protocolVersion }: { readonly [name: string]: unknown }): object {
  return {
    protocolVersion: typeof protocolVersion === 'string' ? protocolVersion : '',
    capabilities: {},
    clientInfo: { name: '', version: '' },
  }
}

import { type RpcId, readMessage } from '../../src/protocol/json-rpc.ts'

type Outline = { readonly jsonrpc: '2.0'; readonly id?: RpcId; readonly [name: string]: unknown }

/**
 * What the SDK's transport is shown of a body: enough to know which answer goes where. It refuses what its own schemas do not know,
 * which the engine may take or refuses in its own words.
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
      // An answer: whose it is it need not know.
      return { jsonrpc, id: 0, result: {} }
  }
}

/** By less it would not know that a session begins; what is wrong with the rest the engine says. */
function opening({ protocolVersion }: { readonly [name: string]: unknown }): object {
  return {
    protocolVersion: typeof protocolVersion === 'string' ? protocolVersion : '',
    capabilities: {},
    clientInfo: { name: '', version: '' },
  }
}

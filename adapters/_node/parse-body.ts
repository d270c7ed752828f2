import { isObject } from '../../src/definition/is-object.ts'
import { checkBatch } from '../../src/protocol/batch.ts'
import type { Engine } from '../../src/protocol/engine.ts'
import { readMessage } from '../../src/protocol/read-message.ts'

/** The parsed body, for a transport that needs it; undefined if the engine refuses it, which then also answers it. */
export function parseBody(engine: Engine, text: string, { headers }: Request): unknown {
  try {
    const value = engine.parse(text)
    if (Array.isArray(value)) checkBatch(value, headers.get('mcp-protocol-version'))
    else if (readMessage(value).kind === 'invalid') return undefined
    return value
  } catch {
    return undefined
  }
}

/** Whether a message opens a session. */
export function isInitialize(message: unknown): boolean {
  return isObject(message) && message.method === 'initialize'
}

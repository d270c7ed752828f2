/** The body of a request as JSON-RPC: `[text]`. */
import { isDeepStrictEqual } from 'node:util'
import { NO_MEMBERS } from '../../../src/definition/json-members.ts'
import { ErrorCode, ProtocolError } from '../../../src/definition/protocol-error.ts'
import { hasEnvelope, readEnvelope, readProgressToken } from '../../../src/protocol/envelope.ts'
import { errorMessage, parseJson, resultMessage } from '../../../src/protocol/json-rpc.ts'
import { readMessage } from '../../../src/protocol/read-message.ts'
import { generateJson, mutateJson, mutateText } from '../mutate.ts'
import { promise, type Target } from '../target.ts'

const LIMITS = { maxDepth: 8, maxMembers: 60, maxStringCharacters: 300 }

const REFUSALS: readonly number[] = [ErrorCode.parse, ErrorCode.invalidRequest]

/** What is wrong with it. @throws any exception that is not meant for clients. */
function faultOf(read: () => unknown): string {
  try {
    read()
    return 'nothing'
  } catch (error) {
    if (error instanceof ProtocolError) return error.message
    throw error
  }
}

function run([text]: readonly string[]): string {
  let value: unknown
  try {
    value = parseJson(text!, LIMITS)
  } catch (error) {
    promise(error instanceof ProtocolError, `parseJson throws ${error}`)
    promise(REFUSALS.includes(error.code) && error.status === 400, `parseJson throws ${error.code}`)
    return error.message.replaceAll(/\d+/g, '')
  }
  promise(isDeepStrictEqual(value, JSON.parse(text!)), 'the JSON was read as something else')
  const message = readMessage(value)
  let outcome: string = message.kind
  if (message.kind === 'invalid') outcome = message.reason
  if (message.kind === 'invalid') promise(message.reason !== '', 'no reason')
  else if (message.kind === 'response') promise(!('method' in message), 'a response with a method')
  else {
    promise(
      typeof message.method === 'string' && typeof message.params === 'object',
      'no method or no params',
    )
    const { params } = message
    outcome += [() => hasEnvelope(params), () => readEnvelope(params), () => readProgressToken(params)].map(
      faultOf,
    )
  }
  const id = 'id' in message ? message.id : undefined
  const { id: shown } = JSON.parse(errorMessage(id, { code: -1, message: text! })) as { id?: unknown }
  promise(shown === id, 'the id is written as another')
  if (id !== undefined) {
    const written = JSON.parse(resultMessage(id, NO_MEMBERS)) as { id: unknown }
    promise(written.id === id, 'the id is written as another')
  }
  return outcome
}

export const json: Target = {
  name: 'json',
  seeds: [
    ['{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"progressToken":"a"}}}'],
    ['{"jsonrpc":"2.0","method":"notifications/initialized"}'],
    ['{"jsonrpc":"2.0","id":"x","result":{}}'],
    ['{"jsonrpc":"2.0","error":{"code":-1,"message":"x"}}'],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":1},"result":{}}'],
    ['{"a":{"constructor":{"prototype":{}}},"__proto__":{}}'],
    ['[[[[[[[[[[]]]]]]]]]]'],
  ],
  generate: (random) => [generateJson(random, 5)],
  mutate: ([text], [other], random) => [
    random.chance(0.6) ? mutateJson(text!, other!, random).slice(0, 6000) : mutateText(text!, other!, random),
  ],
  run,
}

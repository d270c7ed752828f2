/** The result or error of a call that needed to ask its client but could not. */
import type { CallToolResult } from '../definition/content.ts'
import { warn } from '../definition/json-line.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { DEGRADED_META, type Degraded } from './degraded-meta.ts'

/** Warnings that were printed. As many as there are reasons in the matrix. */
const warned = new Set<string>()

/** Prints a line for the operator, once in this process. */
export function warnOperator(message: string): void {
  if (warned.has(message)) return
  warned.add(message)
  warn(message)
}

/** What a model reads: it cannot configure the server. The operator finds the reason and the remedy in the log. */
function textForClient({ feature, reason, remedy }: Degraded): string {
  if (/^Call the tool again/.test(remedy)) return `This needs an answer. ${reason} ${remedy}`
  // The reason of a client that did not declare it is not the operator's to mend.
  if (!reason.startsWith('The client '))
    warnOperator(`A client could not be asked (${feature}): ${reason} ${remedy}`)
  const [kind] = feature.split('.')
  return `This needs an answer, but this client cannot be asked. A client of MCP 2026-07-28 or later that supports ${kind} can.`
}

/** A text that the model can read and pass on to its user. */
export function degradedResult(degraded: Degraded, question: string): CallToolResult {
  return {
    content: [{ type: 'text', text: `${question}\n\n${textForClient(degraded)}` }],
    isError: true,
    _meta: { [DEGRADED_META]: degraded },
  }
}

/** The same as an error, for prompts and resources, whose results have no place for it. */
export function degradedError(degraded: Degraded): ProtocolError {
  return new ProtocolError(ErrorCode.internal, textForClient(degraded), degraded)
}

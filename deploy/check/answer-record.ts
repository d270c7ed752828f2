/** The record of an answer: only what is checked at the end, since answers may be large. */

import type { Answer } from './http.ts'
import { essence } from './media-type.ts'
import type { Reply } from './reply.ts'
import { quote } from './safe-text.ts'

export interface AnswerRecord extends Pick<Answer, 'status' | 'headers' | 'isUtf8' | 'tls'> {
  readonly label: string
  /** The beginning of an error's body, otherwise empty. */
  readonly errorText: string
  /** The id of a response to another request, for display. */
  readonly strayId?: string
  /** The method of a request that the server sent, for display. */
  readonly question?: string
}

const MAX_KEPT = 65_536

export function toAnswerRecord(label: string, reply: Reply): AnswerRecord {
  const { status, headers, isUtf8, tls, body } = reply.answer
  const [stray] = reply.strays
  // Every client answers a ping.
  const question = reply.questions.find(({ method }) => method !== 'ping')
  return {
    label,
    status,
    headers,
    isUtf8,
    ...(tls && { tls }),
    errorText: isError(reply) ? copy(body.slice(0, MAX_KEPT)) : '',
    ...(stray && { strayId: quote(stray.id) }),
    ...(question && { question: quote(question.method) }),
  }
}

function isError({ answer, error, result }: Reply): boolean {
  return (
    answer.status >= 400 ||
    error !== undefined ||
    result?.isError === true ||
    essence(answer.headers) === 'text/html'
  )
}

/** Copies the text: a substring keeps the whole string in memory. */
function copy(text: string): string {
  return Buffer.from(text).toString()
}

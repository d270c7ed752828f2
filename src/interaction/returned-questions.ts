/** The questions of a tool that returns them instead of awaiting the answers. */
import type { InputRequired } from '../definition/input-required.ts'
import { type Question, sentQuestion } from './question.ts'

/** By their keys. @throws TypeError for neither a question nor a state (MCP 2026-07-28, "Server Requirements", 6). */
export function returnedQuestions(
  inputRequests: InputRequired['inputRequests'],
  requestState: unknown,
): { readonly key: string; readonly question: Question }[] {
  const questions = Object.entries(inputRequests ?? {}).map(([key, request]) => ({
    key,
    question: sentQuestion(request.method, request.params ?? {}),
  }))
  if (requestState !== undefined && typeof requestState !== 'string')
    throw new TypeError('The requestState of an input_required result must be a string.')
  if (questions.length === 0 && requestState === undefined)
    throw new TypeError('An input_required result needs an input request, a requestState, or both.')
  return questions
}

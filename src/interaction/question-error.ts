/**
 * The error of `ctx.elicit`, `ctx.createMessage` and `ctx.listRoots` for a question that gets no answer.
 */

/**
 * - `INSIDE_STEP`: the question was asked inside a step. Ask before or after the step.
 * - `CALL_OVER`: the question was asked after the tool had answered.
 * - `INVALID_ANSWERS`: the client sent three invalid answers; `message` says what was wrong.
 */
export type QuestionErrorCode = 'INSIDE_STEP' | 'CALL_OVER' | 'INVALID_ANSWERS'

/** A question that got no answer. Match `code`; the text of `message` may change. */
export class QuestionError extends Error {
  override readonly name = 'QuestionError'
  readonly code: QuestionErrorCode

  constructor(code: QuestionErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * The error of `ctx.elicit`, `ctx.createMessage` and `ctx.listRoots`: a question that gets no answer, by code.
 */

/**
 * - `INSIDE_STEP`: it was asked inside a step. Ask before or after the step.
 * - `CALL_OVER`: it was asked after the tool had answered.
 * - `INVALID_ANSWERS`: the client answered three times with something that does not fit; `message` has what did not.
 */
export type QuestionErrorCode = 'INSIDE_STEP' | 'CALL_OVER' | 'INVALID_ANSWERS'

/** Match `code`; texts may change. */
export class QuestionError extends Error {
  override readonly name = 'QuestionError'
  readonly code: QuestionErrorCode

  constructor(code: QuestionErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** A test's answers to a server's questions: data in the order of the questions, or a function. */
import { readReason } from '../interaction/asked-again.ts'
import { type RequestedSchema, validate } from '../interaction/form-content.ts'

/** The fields of a submitted form. */
export type FormContent = Record<string, string | number | boolean | string[]>

/** An answer in wire form. A type, not an interface, so that it fits the open types of the official SDKs. */
export type ElicitResult = {
  action: 'accept' | 'decline' | 'cancel'
  content?: FormContent
}

/** A question as the client receives it: a form, or a URL to visit (MCP 2026-07-28, "Elicitation"). */
export interface Question {
  readonly message: string
  readonly mode?: 'form' | 'url' | undefined
  /** The schema of a form. */
  readonly requestedSchema?: RequestedSchema | undefined
  /** The URL to visit. */
  readonly url?: string | undefined
}

/**
 * - one answer: for every question.
 * - a list: one answer for each question, in the order in which they arrive.
 * - a function: called with each question. Its result is sent unchanged, so that a test can also give an invalid answer.
 */
export type Answers =
  | ElicitResult
  | readonly ElicitResult[]
  | ((question: Question) => ElicitResult | Promise<ElicitResult>)

/**
 * - `NO_CLIENT`: `@modelcontextprotocol/client` is not installed.
 * - `NO_ANSWER`: the server asked more questions than there are answers.
 * - `INVALID_ANSWER`: the answer does not match the form, or the server did not accept it, for example because of its format.
 */
export type TestingErrorCode = 'NO_CLIENT' | 'NO_ANSWER' | 'INVALID_ANSWER'

/** An error in the test itself. Match `code`; the text may change. Errors of the server are thrown by the official client. */
export class TestingError extends Error {
  override readonly name = 'TestingError'
  readonly code: TestingErrorCode

  constructor(code: TestingErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/**
 * Answers one question after another. The function rejects with a `TestingError` if no answer is left, if it does not match, or if the
 * server did not accept the last one.
 *
 * @throws TypeError for a value that is not an answer.
 */
export function createAnswering(answers: Answers): (question: Question) => Promise<ElicitResult> {
  if (typeof answers === 'function') return async (question) => answers(question)
  const list: readonly ElicitResult[] = [answers].flat()
  if (!list.every(isAnswer)) throw new TypeError(NO_ANSWERS)
  let asked = 0
  return async (question) => {
    checkAccepted(question)
    const answer = Array.isArray(answers) ? list[asked++] : list[0]
    if (answer === undefined)
      throw new TestingError(
        'NO_ANSWER',
        `The server asked "${question.message}", but no answer is left: "answers" has ${list.length}.`,
      )
    checkFits(answer, question)
    return answer
  }
}

const NO_ANSWERS =
  '"answers" of connect is an answer (accept({ … }), decline() or cancel()), a list of answers, or a function.'

function isAnswer(value: unknown): boolean {
  const { action } = (value ?? {}) as { action?: unknown }
  return action === 'accept' || action === 'decline' || action === 'cancel'
}

/** A server asks again after an answer that it does not accept, so the same answer would be repeated forever. */
function checkAccepted({ message }: Question): void {
  const again = readReason(message)
  if (again === undefined) return
  throw new TestingError(
    'INVALID_ANSWER',
    `The server did not accept the answer to "${again.asked}": ${again.reason}`,
  )
}

/** Names the invalid field without asking the server. */
function checkFits({ action, content = {} }: ElicitResult, { message, requestedSchema }: Question): void {
  if (action !== 'accept' || requestedSchema === undefined) return
  const faults = validate(requestedSchema, content)
  if (faults.length === 0) return
  const named = faults.map((fault) => `"${fault.field}" ${fault.message}`).join(', ')
  throw new TestingError('INVALID_ANSWER', `The answer to "${message}" does not match its form: ${named}.`)
}

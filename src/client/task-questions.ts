/** The questions of a task: each is asked once, within the limits for all questions, and answered by `tasks/update`. */
import { type ElicitRequestParams, isSpecType } from '@modelcontextprotocol/client'
import type { Call } from './call.ts'
import type { Connection, RequestSettings } from './connection.ts'
import { MCPClientError } from './errors.ts'
import { printable } from './printable.ts'
import { untilItPasses } from './retries.ts'
import { MalformedTask, type TaskInputRequest } from './task.ts'
import { updateTask } from './task-requests.ts'

/** Maximum questions that are open at the same time, as in a round of a call. */
const MAX_AT_ONCE = 8
/** Maximum characters of one question. */
const MAX_LENGTH = 65_536

interface Asked {
  /** The question as JSON, to detect a different one under the same key. */
  readonly text: string
  /** Aborts when the answer is no longer needed. */
  readonly controller: AbortController
  isAnswered: boolean
}

export class TaskQuestions {
  /** Rejects if a question cannot be answered. Never resolves. */
  readonly failed: Promise<never>
  readonly #connection: Connection
  readonly #taskId: string
  readonly #call: Call
  readonly #settings: RequestSettings & { readonly signal: AbortSignal }
  /** Whether another client may answer if there is no handler. */
  readonly #mayLeave: boolean
  /** The questions so far, by key: a key is never used again. */
  readonly #asked = new Map<string, Asked>()
  #fail: (error: unknown) => void = () => {}

  constructor(
    connection: Connection,
    taskId: string,
    call: Call,
    settings: RequestSettings & { readonly signal: AbortSignal },
    mayLeave: boolean,
  ) {
    this.#connection = connection
    this.#taskId = taskId
    this.#call = call
    this.#settings = settings
    this.#mayLeave = mayLeave
    this.failed = new Promise((_, reject) => {
      this.#fail = reject
    })
    this.failed.catch(() => {})
  }

  /** Updates the open questions: asks new ones, and cancels those that are gone. */
  update(open: { readonly [key: string]: TaskInputRequest }): void {
    this.#takeBack(open)
    const entries = Object.entries(open)
    if (entries.length > MAX_AT_ONCE) {
      throw new MalformedTask(
        `the server asks ${entries.length} questions at once, and no more than ${MAX_AT_ONCE} are answered`,
      )
    }
    const isNew = entries.filter(([key, request]) => this.#isNew(key, request))
    if (isNew.length === 0) return
    if (this.#connection.questions.handler === undefined) this.#leave(isNew.map(([key]) => key))
    else this.#answer(isNew).catch(this.#fail)
  }

  end(): void {
    for (const { controller } of this.#asked.values()) controller.abort()
  }

  /** A question that is still unanswered is asked again, since a server's state may lag behind. */
  #takeBack(open: object): void {
    for (const [key, { controller, isAnswered }] of this.#asked) {
      if (Object.hasOwn(open, key) || isAnswered) continue
      controller.abort()
      this.#asked.delete(key)
    }
  }

  #isNew(key: string, request: TaskInputRequest): boolean {
    const text = JSON.stringify(request)
    if (text.length > MAX_LENGTH)
      throw new MalformedTask(`a question from the server is longer than ${MAX_LENGTH} characters`)
    const known = this.#asked.get(key)
    if (known === undefined)
      this.#asked.set(key, { text, controller: new AbortController(), isAnswered: false })
    else if (known.text !== text)
      throw new MalformedTask(`the server asks a different question under the key ${printable(key, 60)}`)
    return known === undefined
  }

  /** Leaves questions to other clients; a handler that is registered later gets them. */
  #leave(keys: readonly string[]): void {
    for (const key of keys) this.#asked.delete(key)
    if (this.#mayLeave) return
    const { server } = this.#connection
    throw new MCPClientError(
      'UNSUPPORTED',
      `A task of MCP server "${server}" asks its user, but this client has no handler: register one with elicitation.onRequest, or give onTask and answer with client.tasks.update.`,
      { server, operation: 'tasks/get' },
    )
  }

  /** Sends the answers together, since a server may refuse only a part of them. */
  async #answer(questions: readonly (readonly [key: string, TaskInputRequest])[]): Promise<void> {
    const { questions: asker } = this.#connection
    const askers = { calls: [this.#call], isCertain: true }
    const all = questions.map(async ([key, request]) => {
      const asked = this.#asked.get(key)!
      const { signal } = asked.controller
      const answer = await asker.answer(askers, readQuestion(request), signal)
      if (signal.aborted) return []
      asked.isAnswered = true
      return [[key, answer] as const]
    })
    const answers = (await Promise.all(all)).flat()
    if (answers.length === 0) return
    const responses = Object.fromEntries(answers)
    // A retry is harmless, since answered keys are ignored.
    await untilItPasses(this.#settings.signal, () =>
      updateTask(this.#connection, this.#taskId, responses, this.#settings),
    )
  }
}

function readQuestion({ method, params }: TaskInputRequest): ElicitRequestParams {
  if (method !== 'elicitation/create') {
    throw new MalformedTask(
      `the server requests ${printable(method, 60)}, which this client does not support`,
    )
  }
  if (isSpecType.ElicitRequestParams(params)) return params
  throw new MalformedTask('a question from the server is malformed')
}

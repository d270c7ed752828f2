/**
 * Waits for a task to end: polls it, gets its questions answered, and reports its changes. Whatever the server does, it neither spins nor
 * waits forever.
 */

import { ProtocolError } from '@modelcontextprotocol/client'
import type { CallToolResult } from '../definition/content.ts'
import { isA } from '../definition/error-text.ts'
import type { Names } from '../definition/unknown-option.ts'
import type { Call } from './call.ts'
import { checkTimeout } from './config.ts'
import { type Connection, REQUEST_SETTINGS, type RequestSettings } from './connection.ts'
import { withDeadline } from './deadline.ts'
import { callListener, MCPClientError, type MCPClientErrorCode } from './errors.ts'
import { printable } from './printable.ts'
import { sleep, untilItPasses } from './retries.ts'
import { type DetailedTask, isEnded, printableId, type Task } from './task.ts'
import { TaskQuestions } from './task-questions.ts'
import { cancelTask, getTask } from './task-requests.ts'

/** Settings of a wait for a task. */
export interface WaitSettings extends RequestSettings {
  /** Aborts the wait, and cancels the task. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds for each request, not for the task. Default: the server's `timeoutMs`. */
  readonly timeoutMs?: number | undefined
  /** Maximum milliseconds to wait for the end; the time a user takes to answer does not count. Default: the server's `maxTaskMs`. */
  readonly maxTaskMs?: number | undefined
  /**
   * Called with the task when its status, its `statusMessage` or its questions have changed. With it, the wait continues even without a
   * handler for questions, since they may be answered with `client.tasks.update`.
   */
  readonly onTask?: ((task: DetailedTask) => unknown) | undefined
}

/** The names of `WaitSettings`. */
export const WAIT_SETTINGS: Names<WaitSettings> = { ...REQUEST_SETTINGS, maxTaskMs: [0], onTask: 'function' }

/** Milliseconds between two polls: the server's value within these limits, otherwise the default. */
const MIN_POLL_MS = 100
const DEFAULT_POLL_MS = 1000
const MAX_POLL_MS = 300_000
/** Milliseconds after the time to live in which a server may still end the task. */
const GRACE_MS = 5000

/**
 * Resolves with the result of the task. `started` is the task from `tools/call`, or only its id; `call` is the call that its questions
 * belong to.
 *
 * @throws MCPClientError with the last known state of the `task`.
 */
export async function waitForTask(
  connection: Connection,
  started: Task | string,
  call: Call,
  settings: WaitSettings = {},
): Promise<CallToolResult> {
  checkTimeout('maxTaskMs', settings.maxTaskMs)
  return new TaskWait(connection, started, call, settings).run()
}

class TaskWait {
  readonly #connection: Connection
  readonly #call: Call
  readonly #settings: WaitSettings
  readonly #taskId: string
  readonly #startedAt = Date.now()
  #latest: Task | undefined
  #told = ''

  constructor(connection: Connection, started: Task | string, call: Call, settings: WaitSettings) {
    this.#connection = connection
    this.#call = call
    this.#settings = settings
    this.#taskId = typeof started === 'string' ? started : started.taskId
    this.#latest = typeof started === 'string' ? undefined : started
  }

  async run(): Promise<CallToolResult> {
    const { signal, maxTaskMs = this.#connection.maxTaskMs } = this.#settings
    const askedBefore = this.#call.askedMs
    const deadline = {
      timeoutMs: maxTaskMs,
      signals: [this.#connection.ended, signal],
      pausedMs: () => this.#call.askedMs - askedBefore,
      onTimeout: () =>
        this.#error(
          'TIMEOUT',
          `has not ended within ${maxTaskMs} ms: continue with client.tasks.wait, or raise maxTaskMs`,
        ),
    }
    try {
      return this.#conclude(await withDeadline(deadline, (ended) => this.#untilEnded(ended)))
    } catch (cause) {
      const error = this.#connection.toError('tasks/get', cause, signal)
      const isOver = this.#latest !== undefined && isEnded(this.#latest)
      if (signal?.aborted === true && !isOver) this.#cancel()
      throw this.#withTask(error)
    }
  }

  async #untilEnded(ended: AbortSignal): Promise<DetailedTask> {
    const { timeoutMs, onTask } = this.#settings
    const over = new AbortController()
    const abort = (): void => over.abort(ended.reason)
    ended.addEventListener('abort', abort, { once: true })
    const request = { signal: over.signal, timeoutMs }
    const questions = new TaskQuestions(
      this.#connection,
      this.#taskId,
      this.#call,
      request,
      onTask !== undefined,
    )
    try {
      return await Promise.race([this.#follow(questions, request), questions.failed])
    } finally {
      ended.removeEventListener('abort', abort)
      questions.end()
      // A failed question leaves a poll running.
      over.abort()
    }
  }

  async #follow(
    questions: TaskQuestions,
    request: RequestSettings & { signal: AbortSignal },
  ): Promise<DetailedTask> {
    // The answer to a call does not contain the members of other statuses.
    if (this.#latest?.status === 'working') {
      this.#tell({ ...this.#latest, status: 'working' })
      await sleep(intervalOf(this.#latest), request.signal)
    }
    for (;;) {
      const task = await this.#look(request)
      this.#tell(task)
      if (isEnded(task)) return task
      this.#checkTimeToLive(task)
      questions.update(task.status === 'input_required' ? task.inputRequests : {})
      await sleep(intervalOf(task), request.signal)
    }
  }

  async #look(request: RequestSettings & { signal: AbortSignal }): Promise<DetailedTask> {
    const look = (): Promise<DetailedTask> => getTask(this.#connection, this.#taskId, request)
    const task = await untilItPasses(request.signal, look)
    this.#latest = task
    return task
  }

  #tell(task: DetailedTask): void {
    const { onTask } = this.#settings
    if (onTask === undefined) return
    const keys = task.status === 'input_required' ? Object.keys(task.inputRequests) : []
    const told = JSON.stringify([task.status, task.statusMessage, keys])
    if (told !== this.#told) callListener(onTask, task, this.#connection)
    this.#told = told
  }

  /** By this machine's clock, since the server's may be wrong. */
  #checkTimeToLive({ ttlMs }: Task): void {
    if (ttlMs === null || Date.now() - this.#startedAt <= ttlMs + GRACE_MS) return
    throw this.#error('TASK_GONE', `has not ended in its time to live of ${ttlMs} ms`)
  }

  #conclude(task: DetailedTask): CallToolResult {
    if (task.status === 'completed') return task.result
    if (task.status === 'failed') {
      const { code, message, data } = task.error
      throw this.#error(
        'TASK_FAILED',
        `failed: ${printable(message)}`,
        new ProtocolError(code, message, data),
      )
    }
    const why = task.statusMessage === undefined ? '' : `: ${printable(task.statusMessage)}`
    throw this.#error('TASK_CANCELLED', `was cancelled${why}`)
  }

  /** In the background, since the caller already continued. */
  #cancel(): void {
    cancelTask(this.#connection, this.#taskId, { timeoutMs: this.#settings.timeoutMs }).catch(
      (error: unknown) => {
        if (isA(error, MCPClientError) && !['DISCONNECTED', 'TASK_GONE'].includes(error.code))
          this.#connection.report(error)
      },
    )
  }

  #error(code: MCPClientErrorCode, what: string, cause?: unknown): MCPClientError {
    const { server, secrets } = this.#connection
    const text = `Task ${printableId(this.#taskId)} of MCP server "${server}" ${secrets.hide(what)}.`
    const settled = { cause: secrets.hideIn(cause), task: this.#latest }
    return new MCPClientError(code, text, { server, operation: 'tasks/get', ...settled })
  }

  #withTask(error: MCPClientError): MCPClientError {
    if (error.task !== undefined || this.#latest === undefined) return error
    const { code, message, server = this.#connection.server, operation = 'tasks/get', cause } = error
    return new MCPClientError(code, message, { server, operation, cause, task: this.#latest })
  }
}

function intervalOf({ pollIntervalMs = DEFAULT_POLL_MS }: Task): number {
  return Math.min(Math.max(pollIntervalMs, MIN_POLL_MS), MAX_POLL_MS)
}

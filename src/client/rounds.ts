/**
 * The questions of modern servers (MCP 2026-07-28, "Multi Round-Trip Requests"): renames each one, so that it can be matched with its call,
 * since servers may use the same keys in every call.
 */
import type { RequestId } from '@modelcontextprotocol/client'
import type { Call } from './call.ts'

/** Maximum questions in one round. */
const MAX_AT_ONCE = 8

interface Asked {
  readonly key: string
  readonly call: Call
}

export class Rounds {
  readonly #asked = new Map<string, Asked>()
  /** Each has one listener, since a server decides how often it asks. */
  readonly #calls = new WeakSet<Call>()
  #count = 0

  /** The result of a call with its questions renamed; any other result unchanged. Throws for too many questions. */
  name<R extends object>(call: Call | undefined, result: R): R {
    const { resultType, inputRequests } = result as { resultType?: unknown; inputRequests?: unknown }
    if (resultType !== 'input_required' || inputRequests === null || typeof inputRequests !== 'object') {
      return result
    }
    const questions = Object.entries(inputRequests)
    if (questions.length > MAX_AT_ONCE) {
      throw new Error(
        `the server asks ${questions.length} questions at once, but at most ${MAX_AT_ONCE} are answered`,
      )
    }
    if (call === undefined) return result
    const round = this.#count++
    const named = questions.map(([key, question]) => {
      const name = `${round}:${key}`
      this.#asked.set(name, { key, call })
      return [name, question] as const
    })
    if (!this.#calls.has(call)) {
      this.#calls.add(call)
      call.signal.addEventListener('abort', () => this.#forget(call), { once: true })
    }
    return { ...result, inputRequests: Object.fromEntries(named) }
  }

  /** The parameters with their answers under the server's own keys. */
  restore<Params extends object>(params: Params | undefined): Params | undefined {
    if (params === undefined || !('inputResponses' in params)) return params
    const answers = Object.entries(params.inputResponses as object).map(([name, answer]) => {
      const key = this.#asked.get(name)?.key ?? name
      this.#asked.delete(name)
      return [key, answer] as const
    })
    return { ...params, inputResponses: Object.fromEntries(answers) }
  }

  #forget(call: Call): void {
    for (const [name, asked] of this.#asked) if (asked.call === call) this.#asked.delete(name)
  }

  callOf(name: RequestId): Call | undefined {
    return this.#asked.get(String(name))?.call
  }
}

/** A request of Mayfly's own to a server of another SDK, such as for its lists. */
import { isObject } from '../definition/is-object.ts'
import { isEventStream, readEvents } from '../protocol/read-events.ts'
import type { ForeignCall, RunForeign } from './run.ts'

type Result = { readonly [name: string]: unknown }

/** The server answered with an error. */
export class AnsweredError extends Error {}

/**
 * Runs the server until it has answered, or `whole` aborts.
 *
 * @throws AnsweredError if the server answers with an error, and any error of the server.
 */
export async function askForeign(
  run: RunForeign,
  whole: AbortSignal,
  toCall: (signal: AbortSignal) => ForeignCall,
): Promise<Result> {
  whole.throwIfAborted()
  const over = new AbortController()
  const end = (): void => over.abort()
  whole.addEventListener('abort', end)
  const call = toCall(over.signal)
  const answer = await run(call)
  try {
    const { response } = answer
    let last = ''
    if (isEventStream(response) && response.body !== null) {
      await readEvents(response.body, (data) => {
        last = data
      })
    } else last = await response.text()
    const sent: unknown = JSON.parse(last)
    if (isObject(sent) && isObject(sent.result)) return sent.result
    const { method } = call.message as { readonly method?: unknown }
    throw new AnsweredError(`${method} was answered ${last.slice(0, 200)}`)
  } finally {
    whole.removeEventListener('abort', end)
    end()
    await answer.close()
  }
}

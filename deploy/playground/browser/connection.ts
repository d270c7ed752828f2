/** Connects to a server: in the chosen era, or in the first one that it speaks. */
import { type Client, type Era, isLegacyAnswer } from './client.ts'
import type { Json } from './json.ts'

export type EraChoice = 'auto' | Era

export interface Connection {
  readonly client: Client
  readonly era: Era
  /** The answer to `server/discover` or `initialize`. */
  readonly described: Json
  readonly tookMs: number
}

/** Milliseconds that a server has for its first answer, and then for its lists. A cold start takes less. */
export const PATIENCE_MS = 20_000

/** The server did not answer in time. */
export class TooSlow extends Error {
  override readonly message = `no answer within ${PATIENCE_MS / 1000} s`
}

/** The first attempt's error, and the second's if there was one. */
export class NoConnection extends Error {
  readonly attempts: readonly { readonly era: Era; readonly error: unknown }[]

  constructor(attempts: NoConnection['attempts']) {
    super('no connection')
    this.attempts = attempts
  }
}

/** Rejects with `NoConnection`, or with the reason of `signal`. */
export async function openConnection(
  choice: EraChoice,
  createClient: (era: Era) => Client,
  signal: AbortSignal,
): Promise<Connection> {
  const attempts: { era: Era; error: unknown }[] = []
  for (const era of choice === 'auto' ? (['modern', 'legacy'] as const) : [choice]) {
    const client = createClient(era)
    const started = performance.now()
    try {
      const described = await withPatience(signal, (bounded) => client.connect(bounded))
      return { client, era, described, tookMs: performance.now() - started }
    } catch (error) {
      signal.throwIfAborted()
      attempts.push({ era, error })
      if (era === 'modern' && !isLegacyAnswer(error)) break
    }
  }
  throw new NoConnection(attempts)
}

/** Rejects with `TooSlow` if `action` takes longer than `PATIENCE_MS`, and ends it. */
export async function withPatience<Result>(
  signal: AbortSignal,
  action: (bounded: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const own = new AbortController()
  const end = (): void => own.abort(signal.reason)
  signal.addEventListener('abort', end)
  const timer = setTimeout(() => own.abort(new TooSlow()), PATIENCE_MS)
  try {
    return await action(own.signal)
  } catch (error) {
    throw own.signal.aborted ? own.signal.reason : error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
  }
}

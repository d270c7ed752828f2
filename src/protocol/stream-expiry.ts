/**
 * The receiver of a stream, and until when: every stream is bound to the token that opened it.
 */
import type { Admitted } from './engine-options.ts'
import { isBuffered, isStream, type Reply } from './reply.ts'

/** The caller that opened a stream. */
export type StreamOwner = Pick<Admitted, 'auth' | 'access' | 'recheck'>

/** When the caller's token expires, in milliseconds since the epoch: no stream outlives it. `Infinity` if it does not. */
export function expiryOf({ auth }: Pick<StreamOwner, 'auth'>): number {
  return (auth?.expiresAt ?? Number.POSITIVE_INFINITY) * 1000
}

/** Checks in a row that cannot tell: after more, the stream ends, since its caller may be refused. */
const MAX_UNKNOWN = 3

/** Calls `end` once if the caller is refused while its stream is open. Returns a function that stops the checks. */
export function whenRefused({ recheck }: Pick<StreamOwner, 'recheck'>, end: () => void): () => void {
  if (recheck === undefined) return () => {}
  let timer: ReturnType<typeof setTimeout> | undefined
  let isOver = false
  let unknown = 0
  const check = async (): Promise<void> => {
    const verdict = await recheck.verdict()
    if (isOver) return
    unknown = verdict === 'unknown' ? unknown + 1 : 0
    if (verdict !== 'refused' && unknown <= MAX_UNKNOWN) return wait()
    isOver = true
    end()
  }
  const wait = (): void => {
    timer = setTimeout(check, recheck.everyMs)
  }
  wait()
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}

/** A reply that ends if it is a stream whose caller is refused. Its reader controls the pace, as without this. */
export function endingWhenRefused(reply: Reply, owner: Pick<StreamOwner, 'recheck'>): Reply {
  if (owner.recheck === undefined || isBuffered(reply) || reply.body === null || !isStream(reply))
    return reply
  const reader = reply.body.getReader()
  const stop = whenRefused(owner, () => void reader.cancel().catch(() => {}))
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (!done) return controller.enqueue(value)
          stop()
          controller.close()
        } catch (error) {
          stop()
          throw error
        }
      },
      cancel(reason) {
        stop()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, reply)
}

/** The answers to a batch: limited in all, since each message may ask for the same large resource. */
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { utf8Length } from '../definition/utf8.ts'
import { errorMessage, type RpcId } from './json-rpc.ts'

/** Maximum bytes of all answers: as many as a body may have by default. */
export const MAX_BATCH_BYTES = 4_194_304

export interface BatchAnswers {
  /** @throws ProtocolError if the answers so far are too large: the request is not run. */
  check(): void
  /** The answer, or the error that is sent instead. */
  keep(id: RpcId, answer: string): string
}

export function createBatchAnswers(): BatchAnswers {
  let kept = 0
  let isFull = false
  const tooLarge = (): ProtocolError =>
    new ProtocolError(
      ErrorCode.internal,
      `The answers to this batch have more than ${MAX_BATCH_BYTES} bytes: send this request alone.`,
      { limit: 'responseBytes', maxBytes: MAX_BATCH_BYTES },
    )
  return {
    check() {
      if (isFull) throw tooLarge()
    },
    keep(id, answer) {
      const bytes = utf8Length(answer)
      if (kept + bytes <= MAX_BATCH_BYTES) {
        kept += bytes
        return answer
      }
      isFull = true
      return errorMessage(id, tooLarge())
    },
  }
}

/** Starts each one when the one before has ended or is waiting for something, so that their results are not all in memory at once. */
export async function inTurn<Item, Outcome>(
  items: readonly Item[],
  work: (item: Item) => Promise<Outcome>,
): Promise<Outcome[]> {
  const outcomes: Promise<Outcome>[] = []
  for (const item of items) {
    const outcome = work(item)
    outcomes.push(outcome)
    let timer: ReturnType<typeof setTimeout> | undefined
    const waiting = new Promise<void>((resolve) => {
      timer = setTimeout(resolve)
    })
    await Promise.race([outcome, waiting])
    clearTimeout(timer)
  }
  return Promise.all(outcomes)
}

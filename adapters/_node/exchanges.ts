/**
 * The unanswered requests of a session, each of which has an HTTP exchange. The transport finds the exchange for an answer by its id: a
 * second request with the same id would take the stream of the first.
 */
import { ErrorCode } from '../../src/definition/protocol-error.ts'
import { errorMessage, type RpcId } from '../../src/protocol/json-rpc.ts'
import { readMessage } from '../../src/protocol/read-message.ts'
import { type Reply, toResponse } from '../../src/protocol/reply.ts'
import { SESSION_NOT_FOUND } from './response.ts'
import type { Endings, SdkTransport } from './transport.ts'

/** The members of SDK v1's transport that are used here. */
interface ExchangeTransport extends SdkTransport {
  closeSSEStream?(id: RpcId): void
}

export interface Exchanges extends Endings {
  /** Claims the ids of a message or a batch. If one is in use, the first of those is returned and no id is claimed. */
  claim(body: unknown): RpcId | undefined
  release(body: unknown): void
  /** Answers every request with an error, since the session ends: the transport would leave a buffered exchange open forever. */
  end(): void
  /**
   * For a single request with a claimed id: resolves when its answer begins, with the refusal if its caller may not send it. A refusal
   * has a status and a challenge, which the transport's stream could not carry.
   */
  refusal(body: unknown): Promise<Response | undefined> | undefined
}

interface Taken {
  /** Whether other requests share its exchange. */
  readonly isShared: boolean
  readonly begun: Promise<Response | undefined>
  begin(refusal: Response | undefined): void
}

/** `transport` is called on demand. `isBuffered`: the transport answers in JSON, once all answers of an exchange exist. */
export function createExchanges(transport: () => ExchangeTransport, isBuffered: boolean): Exchanges {
  const taken = new Map<RpcId, Taken>()
  const release = (body: unknown): void => {
    for (const id of idsOf(body)) {
      taken.get(id)?.begin(undefined)
      taken.delete(id)
    }
  }
  const fail = (id: RpcId, code: number, message: string): void => {
    const error = errorMessage(id, { code, message })
    transport()
      .send(JSON.parse(error))
      .catch(() => {})
  }
  return {
    claim(body) {
      const ids = idsOf(body)
      const inUse = ids.find((id) => taken.has(id))
      if (inUse === undefined) for (const id of ids) taken.set(id, createTaken(Array.isArray(body)))
      return inUse
    },
    release,
    refusal: (body) => (Array.isArray(body) ? undefined : idsOf(body).map((id) => taken.get(id)?.begun)[0]),
    onBegun: (id, reply) => taken.get(id)?.begin(isRefusal(reply) ? toResponse(reply).clone() : undefined),
    onSettled: release,
    onCancelled(id) {
      // The stream ends without an answer, as the specification requires. A shared or buffered exchange needs an answer to end.
      if (!isBuffered && taken.get(id)?.isShared === false) transport().closeSSEStream?.(id)
      fail(id, ErrorCode.internal, 'The client cancelled this request.')
    },
    end() {
      for (const [id, { begin }] of taken) {
        fail(id, SESSION_NOT_FOUND, 'The session ended before the answer: initialize again.')
        begin(undefined)
      }
      taken.clear()
    },
  }
}

function createTaken(isShared: boolean): Taken {
  let begin: Taken['begin'] = () => {}
  const begun = new Promise<Response | undefined>((resolve) => {
    begin = resolve
  })
  return { isShared, begun, begin }
}

/** Whether the caller needs a token, or more scopes. */
function isRefusal({ status }: Reply): boolean {
  return status === 401 || status === 403
}

function idsOf(body: unknown): readonly RpcId[] {
  return (Array.isArray(body) ? body : [body]).flatMap((value) => {
    const message = readMessage(value)
    return message.kind === 'request' ? [message.id] : []
  })
}

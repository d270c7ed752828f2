/** Answers of legacy clients to questions. */
import { ANSWER_TIMEOUT_MS, withTimeout } from '../definition/timeout.ts'
import { QUESTION_ID, rendezvousKey } from '../interaction/rendezvous.ts'
import { principalOf } from '../request/principal.ts'
import type { EngineOptions, Incoming } from './engine-options.ts'
import type { Message } from './json-rpc.ts'

/** Delivers a legacy client's answer to a question on the stream of another request. */
export async function deliver(
  { id, answer }: Message & { readonly kind: 'response' },
  incoming: Incoming,
  { asking }: EngineOptions,
): Promise<void> {
  const { session, env } = incoming.platform
  const rendezvous = session?.rendezvous ?? asking.rendezvousFor(env)
  if (rendezvous === undefined || typeof id !== 'string' || !id.startsWith(QUESTION_ID)) return
  const delivering = rendezvous.deliver(rendezvousKey(id, principalOf(incoming)), answer ?? null)
  await withTimeout(delivering, ANSWER_TIMEOUT_MS, 'rendezvous')
}

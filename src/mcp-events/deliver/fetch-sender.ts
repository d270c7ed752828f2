/** Sends by `fetch`. */
import { boundedFetch, FetchFault, isRedirect } from '../../definition/bounded-fetch.ts'
import { isA } from '../../definition/error-text.ts'
import type { EventSender, PostOutcome } from '../contract.ts'
import { toOutcome } from './answer.ts'
import { failureOf } from './failure.ts'

/**
 * Sends with a limit of time, follows no redirect, and cancels each body that is not asked for. It cannot see the address that a name
 * resolves to: where the platform's `fetch` reaches a private network, use a sender that checks it.
 *
 * @param fetch Default: the global one.
 */
export function createFetchSender(fetch?: typeof globalThis.fetch): EventSender {
  return {
    async post(url, { headers, body }, { timeoutMs, signal, maxBodyBytes }): Promise<PostOutcome> {
      try {
        const answer = await boundedFetch(
          url,
          { method: 'POST', headers, body },
          {
            fetch,
            timeoutMs,
            signal,
            maxBytes: maxBodyBytes ?? 0,
            isRead: (status) => maxBodyBytes !== undefined && !isRedirect(status),
          },
        )
        if (isRedirect(answer.status)) return { failure: 'redirect' }
        const text = maxBodyBytes === undefined ? undefined : answer.text
        return toOutcome(answer.status, answer.headers.get('retry-after'), text)
      } catch (error) {
        signal?.throwIfAborted()
        const reason = isA(error, FetchFault) ? error.reason : undefined
        if (reason === 'too-large') return { failure: 'too-large' }
        return { failure: reason === 'too-late' ? 'timeout' : failureOf(error) }
      }
    },
  }
}

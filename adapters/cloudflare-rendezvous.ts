/**
 * A rendezvous with Durable Objects, one per question: the waiting call keeps a response of the object open, and the request with the
 * answer makes the object write it there. Nothing is stored.
 */

import { withTimeout } from '../src/definition/timeout.ts'
import { refuseUnknown } from '../src/definition/unknown-option.ts'
import { OUTAGE_OPTIONS, type OutageOptions, toReport } from '../src/events/outage.ts'
import type { Awaited, Rendezvous } from '../src/index.ts'
import { createWait } from '../src/interaction/rendezvous.ts'
import type { DurableObjectNamespace } from './_cloudflare/durable-object.ts'

const WAIT = 'https://rendezvous/wait'
const DELIVER = 'https://rendezvous/deliver'

/**
 * The Durable Object class: export it from your Worker and bind it.
 *
 * ```toml
 * [[durable_objects.bindings]]
 * name = "RENDEZVOUS"
 * class_name = "MayflyRendezvous"
 *
 * [[migrations]]
 * tag = "mayfly-rendezvous-1"
 * new_sqlite_classes = ["MayflyRendezvous"]
 * ```
 */
export class MayflyRendezvous {
  #deliver: ((answer: string) => void) | undefined

  fetch(request: Request): Response | Promise<Response> {
    return request.url === WAIT ? this.#wait(request) : this.#receive(request)
  }

  /** Responds immediately, which shows that the wait has started; the body follows with the answer. */
  async #wait(request: Request): Promise<Response> {
    const { deadline } = (await request.json()) as { deadline: number }
    let end = (): void => {}
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const finish = (answer: string): void => {
          clearTimeout(timer)
          this.#deliver = undefined
          controller.enqueue(new TextEncoder().encode(answer))
          controller.close()
        }
        const timer = setTimeout(() => finish(''), Math.max(0, deadline - Date.now()))
        this.#deliver = finish
        end = () => {
          clearTimeout(timer)
          this.#deliver = undefined
        }
      },
      cancel: () => end(),
    })
    // Identity: a proxy that compresses would buffer the body.
    return new Response(body, {
      headers: { 'content-type': 'text/event-stream', 'content-encoding': 'identity' },
    })
  }

  /** An answer that no call waits for is dropped. */
  async #receive(request: Request): Promise<Response> {
    const answer = await request.text()
    this.#deliver?.(answer)
    return new Response(null, { status: 204 })
  }
}

/**
 * Creates a rendezvous from the binding of `MayflyRendezvous`. A wait ends at its deadline or when it is aborted, and never rejects,
 * even if the object fails; delivering rejects if the object fails or does not answer.
 *
 * @throws TypeError without a binding.
 *
 * ```ts
 * rendezvous: (env) => durableObjectRendezvous(env.RENDEZVOUS as DurableObjectNamespace)
 * ```
 */
export function durableObjectRendezvous(
  namespace: DurableObjectNamespace,
  options: OutageOptions = {},
): Rendezvous {
  if (typeof namespace?.idFromName !== 'function') {
    throw new TypeError(
      'durableObjectRendezvous needs the binding of a Durable Object: bind MayflyRendezvous in the wrangler configuration, as in docs/rendezvous.md',
    )
  }
  refuseUnknown('durableObjectRendezvous', options, OUTAGE_OPTIONS)
  const { timeoutMs = 2000 } = options
  const report = toReport(options, 'Rendezvous')
  const ask = async (key: string, url: string, body: unknown, signal: AbortSignal): Promise<Response> => {
    const object = namespace.get(namespace.idFromName(key) as never)
    const response = await object.fetch(url, { method: 'POST', body: JSON.stringify(body), signal })
    if (response.ok) return response
    await response.body?.cancel()
    throw new Error(`The Durable Object answered ${response.status}.`)
  }
  return {
    async wait(key, deadline, signal): Promise<Awaited> {
      if (signal.aborted || deadline <= Date.now()) return { answer: Promise.resolve(undefined) }
      const over = new AbortController()
      const { answer, settle } = createWait(deadline, signal, () => over.abort())
      const fail = (error: unknown): void => {
        // Errors after the end of the wait are ignored.
        if (!over.signal.aborted) report(error)
        settle(undefined)
      }
      const begun = ask(key, WAIT, { deadline }, over.signal).then((response) => {
        response
          .text()
          .then((text) => settle(text === '' ? undefined : JSON.parse(text)))
          .catch(fail)
      }, fail)
      await Promise.race([begun, answer])
      return { answer }
    },
    async deliver(key, answer) {
      const over = new AbortController()
      try {
        await withTimeout(ask(key, DELIVER, answer, over.signal), timeoutMs, 'Durable Object')
      } finally {
        over.abort()
      }
    },
  }
}

/**
 * A rendezvous of Durable Objects, one a question: the call that waits holds a response of the object open, and the request
 * that brings the answer makes the object write it there. Nothing is stored.
 */
import type { Awaited, Rendezvous } from '../src/index.ts'

/** What workerd gives for a Durable Object binding; inlined, so that no platform package is needed for its type. */
export interface DurableObjectNamespace {
  idFromName(name: string): unknown
  get(id: never): { fetch(url: string, init?: RequestInit): Promise<Response> }
}

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
    return request.url === WAIT ? this.#wait(request) : this.#take(request)
  }

  /** Answers at once, which says that the wait has begun; the body comes with the answer. */
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
    // Identity: a compressing hop would hold the body back.
    return new Response(body, {
      headers: { 'content-type': 'text/event-stream', 'content-encoding': 'identity' },
    })
  }

  /** An answer for which nobody waits is dropped. */
  async #take(request: Request): Promise<Response> {
    const answer = await request.text()
    this.#deliver?.(answer)
    return new Response(null, { status: 204 })
  }
}

/**
 * A rendezvous over the binding of `MayflyRendezvous`.
 *
 * ```ts
 * rendezvous: (env) => durableObjectRendezvous(env.RENDEZVOUS as DurableObjectNamespace)
 * ```
 */
export function durableObjectRendezvous(namespace: DurableObjectNamespace): Rendezvous {
  const object = (key: string) => namespace.get(namespace.idFromName(key) as never)
  return {
    async wait(key, deadline, signal): Promise<Awaited> {
      const body = JSON.stringify({ deadline })
      const response = await object(key).fetch(WAIT, { method: 'POST', body, signal })
      const answer = response.text().then(
        (text) => (text === '' ? undefined : (JSON.parse(text) as unknown)),
        () => undefined, // aborted
      )
      return { answer }
    },
    async deliver(key, answer) {
      await object(key).fetch(DELIVER, { method: 'POST', body: JSON.stringify(answer) })
    },
  }
}

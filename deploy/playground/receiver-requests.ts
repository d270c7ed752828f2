/** What the page asks of its receivers, and the requests of servers to them. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { EventReceiver, EventReceivers, ReceiverAnswer } from './event-receiver.ts'
import { Refused } from './outgoing.ts'

const ANSWERS: readonly ReceiverAnswer[] = ['accept', 'fail', 'gone', 'slow']

/**
 * Does what the page asks: opens a receiver, or reads, sets or closes the one with this `id`. One that is no longer open is `isGone`: it was
 * of an earlier process, or made room while its page was hidden.
 *
 * @throws Refused for an unknown answer, and if too many are open.
 */
export function askReceivers(
  { id, after, answer, close }: { readonly [name: string]: unknown },
  receivers: EventReceivers,
  toUrl: (id: string) => string,
): object {
  if (id === undefined) {
    const opened = receivers.open()
    if (opened === undefined) throw new Refused('too many pages receive events: close some')
    return { id: opened.id, secret: opened.secret, url: toUrl(opened.id) }
  }
  const receiver = receivers.get(String(id))
  if (receiver === undefined) return { entries: [], isGone: true }
  if (close === true) receivers.close(receiver.id)
  if (answer !== undefined) setAnswer(receiver, answer)
  return { entries: receiver.entries.filter(({ number }) => number > Number(after ?? 0)) }
}

function setAnswer(receiver: EventReceiver, answer: unknown): void {
  const known = ANSWERS.find((one) => one === answer)
  if (known === undefined) throw new Refused(`no such answer: ${ANSWERS.join(', ')}`)
  receiver.setAnswer(known)
}

/** Answers a request to a receiver. It needs no token of the page: the id is the secret, and what is not signed is only noted. */
export async function receive(
  id: string,
  message: IncomingMessage,
  response: ServerResponse,
  receivers: EventReceivers,
): Promise<void> {
  const { method = 'GET', headers } = message
  const own = Object.entries(headers).filter(([name]) => SIGNED.test(name)) as [string, string][]
  const body = method === 'POST' ? (Readable.toWeb(message) as ReadableStream) : null
  const request = new Request('http://127.0.0.1/', {
    method,
    headers: own,
    body,
    duplex: 'half',
  } as RequestInit)
  const answer = await receivers.handle(id, request)
  // A body that was not read would keep the connection.
  response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), connection: 'close' })
  response.end(await answer.text())
}

/** What a receiver needs of the headers. */
const SIGNED = /^(?:content-(?:type|length)|webhook-.+|x-mcp-.+)$/

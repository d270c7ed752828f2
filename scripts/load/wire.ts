/**
 * One client's connection: requests of both eras over node:http, kept alive.
 */
import { Agent, type IncomingMessage, request } from 'node:http'

export type Json = { readonly [name: string]: unknown }

export interface Reply {
  readonly status: number
  readonly sessionId: string | undefined
  /** Every message of the answer, in order. */
  readonly messages: readonly Json[]
}

export interface Connection {
  /** @throws Aborted if it was told to hang up after a time, and has; Error if no complete answer came. */
  post(body: object, headers: { readonly [name: string]: string }, abortAfterMs?: number): Promise<Reply>
  close(): void
}

/** The client itself has hung up. */
export class Aborted extends Error {
  override readonly name = 'Aborted'
}

const TIMEOUT_MS = 30_000

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

export function connect(url: URL): Connection {
  // One connection each, as for clients on different machines.
  const kept = new Agent({ keepAlive: true, maxSockets: 1 })
  // Hanging up ends a connection, and Node accepts one new one per turn: that time under load is not measured.
  const hungUp = new Agent({ maxSockets: 1 })
  return {
    post: (body, headers, abortAfterMs) => {
      const text = JSON.stringify(body)
      return new Promise((resolve, reject) => {
        const length = String(Buffer.byteLength(text))
        const options = {
          method: 'POST',
          agent: abortAfterMs === undefined ? kept : hungUp,
          headers: { ...HEADERS, 'content-length': length, ...headers },
        }
        const sent = request(url, options, (response) => read(response).then(resolve, fail))
        let reason: Error | undefined
        const hangUp = (): void => {
          reason =
            abortAfterMs === undefined ? new Error(`No answer within ${TIMEOUT_MS} ms.`) : new Aborted()
          sent.destroy()
        }
        const timer = setTimeout(hangUp, abortAfterMs ?? TIMEOUT_MS)
        const fail = (error: Error): void => reject(reason ?? error)
        sent.once('error', fail).once('close', () => clearTimeout(timer))
        sent.end(text)
      })
    },
    close: () => {
      kept.destroy()
      hungUp.destroy()
    },
  }
}

async function read(response: IncomingMessage): Promise<Reply> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  const isStream = response.headers['content-type'] === 'text/event-stream'
  const sessionId = response.headers['mcp-session-id']
  return {
    status: response.statusCode!,
    sessionId: typeof sessionId === 'string' ? sessionId : undefined,
    messages: isStream ? eventsOf(text) : text === '' ? [] : [JSON.parse(text) as Json],
  }
}

function eventsOf(text: string): Json[] {
  return text.split('\n\n').flatMap((event) => {
    const data = /^data: (.*)$/m.exec(event)?.[1]
    return data === undefined ? [] : [JSON.parse(data) as Json]
  })
}

/**
 * What one request brought back: its status and the JSON-RPC messages, whether they came as JSON or as SSE.
 */
import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { CorpusEntry } from './corpus/_entry.ts'
import type { Peer } from './peer.ts'

export interface Observation {
  readonly status: number
  readonly headers: Headers
  /** Notifications in order, then responses, ordered by id. Empty where the body holds no JSON-RPC. */
  readonly messages: readonly JsonObject[]
}

export type JsonObject = { readonly [name: string]: unknown }

/** Generous: only a hang takes so long. */
const PATIENCE_MS = 10_000

/** Sends one entry. @throws Error when the peer rejects, or does not answer in time. */
export async function observe(peer: Peer, entry: CorpusEntry): Promise<Observation> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${peer.name} left "${entry.id}" unanswered.`)), PATIENCE_MS)
  })
  try {
    return await Promise.race([send(peer, entry), tooLate])
  } finally {
    clearTimeout(timer)
  }
}

async function send(peer: Peer, { httpMethod, url, headers, body, reads, publishes = [] }: CorpusEntry) {
  const hangUp = new AbortController()
  const response = await peer.fetch(
    new Request(url, {
      method: httpMethod,
      headers,
      signal: hangUp.signal,
      ...(body !== undefined && { body }),
    }),
  )
  const isStream = response.headers.get('content-type') === 'text/event-stream'
  const messages = isStream
    ? await readStream(response, reads, async () => {
        for (const [kind, uri] of publishes) await peer.publish[kind](uri)
      })
    : await readJson(response)
  hangUp.abort()
  return { status: response.status, headers: response.headers, messages: inOrder(messages) }
}

async function readJson(response: Response): Promise<JsonObject[]> {
  const text = await response.text()
  if (text === '') return []
  if (response.headers.get('content-type')?.startsWith('application/json') !== true) return []
  const value = JSON.parse(text) as JsonObject | JsonObject[]
  return Array.isArray(value) ? value : [value]
}

async function readStream(
  response: Response,
  reads = Number.POSITIVE_INFINITY,
  onFirst: () => Promise<void>,
): Promise<JsonObject[]> {
  const messages: JsonObject[] = []
  const events = response
    .body!.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>)
    .pipeThrough(new EventSourceParserStream())
  for await (const { data } of events) {
    messages.push(JSON.parse(data) as JsonObject)
    if (messages.length === 1) await onFirst()
    if (messages.length >= reads) break // leaving the loop cancels the stream
  }
  return messages
}

function inOrder(messages: readonly JsonObject[]): JsonObject[] {
  const isNotification = (message: JsonObject) => typeof message.method === 'string'
  const responses = messages.filter((message) => !isNotification(message))
  const byId = (one: JsonObject, other: JsonObject) =>
    JSON.stringify(one.id ?? null).localeCompare(JSON.stringify(other.id ?? null))
  return [...messages.filter(isNotification), ...responses.sort(byId)]
}

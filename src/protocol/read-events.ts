/** Reads the messages of an SSE body. */
import { createEventReader } from './event-stream.ts'

/**
 * Calls `take` with the data of each event of an SSE body as it arrives (WHATWG HTML §9.2.6), and awaits it. Event ids and names are
 * dropped: a stateless server cannot resume.
 */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  onData: (data: string) => void | Promise<void>,
): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader()
  let found: string[] = []
  const read = createEventReader(({ data }) => found.push(data))
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    read(value)
    const taken = found
    found = []
    for (const data of taken) {
      const taking = onData(data)
      if (taking !== undefined) await taking
    }
  }
}

export function isEventStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false
}

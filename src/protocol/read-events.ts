/** Reads the messages of an SSE body. */

/**
 * Calls `take` with the data of each event of an SSE body as it arrives (WHATWG HTML §9.2.6), and awaits it. Event ids and names are
 * dropped: a stateless server cannot resume.
 */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  onData: (data: string) => void | Promise<void>,
): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader()
  let rest = ''
  let data: string[] = []
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const lines = (rest + value).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop()!
    for (const line of lines) {
      if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5))
      if (line !== '' || data.length === 0) continue
      const taking = onData(data.join('\n'))
      if (taking !== undefined) await taking
      data = []
    }
  }
}

export function isEventStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false
}

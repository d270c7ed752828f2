/** Reads an event stream incrementally (WHATWG HTML, "Server-sent events"). */

/** Characters of one event; a longer one ends the stream. */
const MAX_EVENT = 8_000_000

/** Returns a function that takes the next piece of text and gives the data of the events that it completes. */
export function createEventReader(): (piece: string) => string[] {
  let rest = ''
  let size = 0
  let data: string[] = []
  return (piece) => {
    const found: string[] = []
    // A CR may be the first half of CRLF, so it waits for the next piece.
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) found.push(data.join('\n'))
        data = []
        size = 0
      } else if (line.startsWith('data:')) {
        data.push(line.slice(line[5] === ' ' ? 6 : 5))
        size += line.length
      }
    }
    if (size + rest.length > MAX_EVENT) throw new Error('an event from the server is too large')
    return found
  }
}

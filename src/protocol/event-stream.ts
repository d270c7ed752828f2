/** Splits an event stream (HTML standard, "Interpreting an event stream"). */

export interface ServerEvent {
  /** Empty if the event has no type, which means `message`. */
  readonly type: string
  readonly data: string
}

/**
 * Returns a function that takes the next piece of the stream; `onEvent` gets each complete event with data. Takes linear time, in any
 * number of pieces.
 */
export function createEventReader(onEvent: (event: ServerEvent) => void): (piece: string) => void {
  let line: string[] = []
  let data: string[] = []
  let type = ''
  let isAfterReturn = false

  const endLine = (): void => {
    const text = line.join('')
    line = []
    if (text !== '') readField(text)
    else dispatch()
  }
  const dispatch = (): void => {
    if (data.length > 0) onEvent({ type, data: data.join('\n') })
    data = []
    type = ''
  }
  const readField = (text: string): void => {
    const colon = text.indexOf(':')
    const name = colon === -1 ? text : text.slice(0, colon)
    const value = colon === -1 ? '' : text.slice(colon + 1).replace(/^ /, '')
    if (name === 'data') data.push(value)
    if (name === 'event') type = value
  }

  return (piece) => {
    if (piece === '') return
    // A two-character line end may be split between pieces.
    let start = isAfterReturn && piece.startsWith('\n') ? 1 : 0
    isAfterReturn = piece.endsWith('\r')
    const ends = /\r\n|\n|\r/g
    ends.lastIndex = start
    for (let end = ends.exec(piece); end !== null; end = ends.exec(piece)) {
      line.push(piece.slice(start, end.index))
      endLine()
      start = ends.lastIndex
    }
    if (start < piece.length) line.push(piece.slice(start))
  }
}

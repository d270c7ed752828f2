/** Event streams are read by `mayfly check` as clients read them, in pieces of any size. */
import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createEventReader, type ServerEvent } from '../../src/protocol/event-stream.ts'

function read(pieces: readonly string[]): ServerEvent[] {
  const events: ServerEvent[] = []
  const next = createEventReader((event) => events.push(event))
  for (const piece of pieces) next(piece)
  return events
}

/** As the parser that the official clients use reads it. */
function readAsClients(text: string): ServerEvent[] {
  const events: ServerEvent[] = []
  const parser = createParser({ onEvent: ({ event = '', data }) => events.push({ type: event, data }) })
  parser.feed(text)
  return events
}

const line = fc.oneof(
  fc.constantFrom(
    '',
    'data',
    'data:',
    'data: a',
    'data:a: b',
    'data:  x',
    'event: other',
    'event:message',
    ':',
    ': c',
    'id: 1',
    'x',
  ),
  fc.string({ maxLength: 8 }).filter((text) => !/[\r\n]/.test(text)),
)
// The comment at the end: the clients' parser waits with a last "\r" for what may follow it.
const stream = fc
  .array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 30 })
  .map((lines) => `${lines.flat().join('')}:\n`)

test('any stream, cut into any pieces, has the events that a client sees', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1 })
  fc.assert(
    fc.property(stream, sizes, (text, lengths) => {
      const pieces: string[] = []
      for (let start = 0, turn = 0; start < text.length; turn++) {
        const length = lengths[turn % lengths.length]!
        pieces.push(text.slice(start, start + length), '')
        start += length
      }

      expect(read(pieces)).toEqual(readAsClients(text))
    }),
    { numRuns: 2000 },
  )
})

test('an event that is cut off is left out', () => {
  expect(read(['data: {}\n\ndata: {"id":1}\n'])).toEqual([{ type: '', data: '{}' }])
})

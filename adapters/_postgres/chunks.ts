/**
 * Strings of any length as payloads of `NOTIFY`, which Postgres limits to less than 8000 bytes. A string that fits is sent unchanged; a
 * longer one as several payloads, each `<id> <index> <count> <part>`. Postgres delivers the payloads of one transaction in order and
 * together, so the receiver only has to store one unfinished string.
 */

/** Characters, which equal bytes, since only ASCII is sent. The rest of the 8000 is for the prefix of a part. */
const PART_CHARACTERS = 7900

/** Maximum parts of one string: an escaped event of the permitted size needs at most 760. */
const MAX_PARTS = 1000

const PART = /^([0-9a-f-]{36}) (\d{1,4}) (\d{1,4}) (.*)$/s

/** Escapes non-ASCII characters in JSON, which keeps its meaning, and its length in every database encoding. */
function toAscii(json: string): string {
  return json.replaceAll(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

export function toPayloads(json: string): string[] {
  const text = toAscii(json)
  if (text.length <= PART_CHARACTERS) return [text]
  const count = Math.ceil(text.length / PART_CHARACTERS)
  const id = crypto.randomUUID()
  return Array.from({ length: count }, (_, index) => {
    const part = text.slice(index * PART_CHARACTERS, (index + 1) * PART_CHARACTERS)
    return `${id} ${index} ${count} ${part}`
  })
}

/** Returns a function that takes payloads, and calls `onText` for each complete string. Incomplete parts are dropped. */
export function createJoiner(onText: (text: string) => void): (payload: string) => void {
  let open: { readonly id: string; readonly count: number; readonly parts: string[] } | undefined
  return (payload) => {
    const match = PART.exec(payload)
    if (match === null) return onText(payload)
    const [, id, index, count, part] = match as unknown as [string, string, string, string, string]
    if (Number(index) === 0 && Number(count) < MAX_PARTS) open = { id, count: Number(count), parts: [] }
    if (open?.id !== id || open.parts.length !== Number(index)) {
      open = undefined
      return
    }
    open.parts.push(part)
    if (open.parts.length < open.count) return
    const text = open.parts.join('')
    open = undefined
    onText(text)
  }
}

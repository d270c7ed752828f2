/** The moon: its phase, and a picture of it. A PNG needs nothing but the `CompressionStream` every runtime has. */

const SYNODIC_MONTH_DAYS = 29.530588853
const A_NEW_MOON = Date.UTC(2000, 0, 6, 18, 14)
const NAMES = [
  'new moon',
  'waxing crescent',
  'first quarter',
  'waxing gibbous',
  'full moon',
  'waning gibbous',
  'last quarter',
  'waning crescent',
]

export interface Moon {
  date: string
  phase: string
  /** 0 (new) to 1 (full). */
  illumination: number
  ageDays: number
}

/** The moon on the evening of `date`, as in 2026-06-15. Good to half a day. */
export function moonOn(date: string): Moon {
  const days = (Date.parse(`${date}T21:00:00Z`) - A_NEW_MOON) / 86_400_000
  const ageDays = ((days % SYNODIC_MONTH_DAYS) + SYNODIC_MONTH_DAYS) % SYNODIC_MONTH_DAYS
  const turn = ageDays / SYNODIC_MONTH_DAYS
  return {
    date,
    phase: NAMES[Math.round(turn * 8) % 8]!,
    illumination: Math.round(((1 - Math.cos(turn * 2 * Math.PI)) / 2) * 100) / 100,
    ageDays: Math.round(ageDays * 10) / 10,
  }
}

const SIZE = 96
const SKY = [13, 22, 48]
const DARK = [38, 48, 78]
const LIGHT = [246, 241, 213]

/** A base64 PNG, 96 by 96, of the moon at that age. */
export async function drawMoon(ageDays: number): Promise<string> {
  const turn = ageDays / SYNODIC_MONTH_DAYS
  const rows = new Uint8Array(SIZE * (1 + SIZE * 3)) // each row starts with its filter type, 0
  for (let row = 0; row < SIZE; row++) {
    for (let column = 0; column < SIZE; column++) {
      rows.set(
        pixel((column - SIZE / 2) / 40, (row - SIZE / 2) / 40, turn),
        row * (1 + SIZE * 3) + 1 + column * 3,
      )
    }
  }
  return toBase64(await encodePng(rows))
}

/** Waxing grows from the right, waning shrinks to the left: the terminator is half an ellipse. */
function pixel(x: number, y: number, turn: number): number[] {
  if (x * x + y * y > 1) return SKY
  const terminator = Math.cos(turn * 2 * Math.PI) * Math.sqrt(1 - y * y)
  return (turn < 0.5 ? x > terminator : x < -terminator) ? LIGHT : DARK
}

async function encodePng(rows: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const header = new DataView(new ArrayBuffer(13))
  header.setUint32(0, SIZE)
  header.setUint32(4, SIZE)
  header.setUint16(8, 0x0802) // 8 bits a channel, RGB
  const deflated = new Blob([rows]).stream().pipeThrough(new CompressionStream('deflate'))
  const pixels = new Uint8Array(await new Response(deflated).arrayBuffer())
  return concat([
    Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a),
    chunk('IHDR', new Uint8Array(header.buffer)),
    chunk('IDAT', pixels),
    chunk('IEND', new Uint8Array()),
  ])
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const body = concat([new TextEncoder().encode(type), data])
  const frame = new DataView(new ArrayBuffer(4))
  frame.setUint32(0, data.length)
  const check = new DataView(new ArrayBuffer(4))
  check.setUint32(0, crc32(body))
  return concat([new Uint8Array(frame.buffer), body, new Uint8Array(check.buffer)])
}

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return (crc ^ 0xffffffff) >>> 0
}

function concat(parts: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.length
  }
  return whole
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}

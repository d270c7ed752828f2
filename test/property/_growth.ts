/**
 * Measures how work grows: by the clock (processor time has steps of 4 ms), warmed up, the least of several runs, of sizes that double until one run takes long enough to be
 * measured; where that is too much, of two sizes in turn.
 */
import { describe, expect, it } from 'vitest'

/** Hostile shapes of a size. */
export const TEXTS: { readonly [shape: string]: (size: number) => string } = {
  letters: (size) => 'a'.repeat(size),
  spaces: (size) => ' '.repeat(size),
  marks: (size) => '\u0316\u0301'.repeat(size / 2),
  'marks of half width': (size) => '\uFF9E\u0316'.repeat(size / 2),
  'encoded marks': (size) => '%CC%96%CC%81'.repeat(size / 12),
  'escapes of escapes': (size) => '%25'.repeat(size / 3),
  'half escapes': (size) => '%'.repeat(size),
  slashes: (size) => '/'.repeat(size),
  'steps up': (size) => 'a/../'.repeat(size / 5),
  dots: (size) => `${'.'.repeat(size)}x`,
  colons: (size) => ':'.repeat(size),
  streams: (size) => ':$'.repeat(size / 2),
  braces: (size) => '{'.repeat(size),
  commas: (size) => ',;='.repeat(size / 3),
  quotes: (size) => '"\\'.repeat(size / 2),
  lines: (size) => '\r\n'.repeat(size / 2),
  returns: (size) => '\r'.repeat(size),
  data: (size) => 'data:x\n'.repeat(size / 7),
  'blanks and quotes': (size) => `${' '.repeat(size)}"a"b`,
  base64url: (size) => 'QUJD'.repeat(size / 4),
  'lines of a quote': (size) => `> ${'y\n'.repeat(size / 2)}`,
  'quotes within each other': (size) => `${'>'.repeat(40)} x\n\n`.repeat(size / 44),
  'lists within each other': (size) => `${'- '.repeat(40)}x\n`.repeat(size / 82),
  links: (size) => `${'[a]('.repeat(25)}\n`.repeat(size / 101),
  elements: (size) => '<ul><li><b>a'.repeat(size / 12),
  'ended elements': (size) => `${'<ul><li>a'.repeat(20)}${'</ul>'.repeat(20)}`.repeat(size / 280),
  comments: (size) => '<!--'.repeat(size / 4),
}

const SMALLEST = 1200
const LARGEST = 76_800
/** Milliseconds from which on a run can be compared with another. */
const MEASURABLE = 4
/** For what leaves much garbage, whose collection counts. */
const MEASURABLE_DOCUMENT = 30
/** How many times as long a text sixteen times as long may take: in proportion that is 16, in a square 256. */
export const MOST = 96
const STEP = 16
/** As the first look sees it, of twice the text. */
const MOST_OF_TWICE = 2.5
/** To be sure: how often both sizes are measured in turn, and for how long. */
const TURNS = 64
const TURNS_MS = 5000
/** From some size on a string costs several times as much for each byte. What is still quick is looked at beyond it, too: texts so many times as long. */
const BEYOND = 8
const QUICK_MS = 100

async function clockOf(run: () => unknown, repeats = 1): Promise<number> {
  const start = performance.now()
  for (let turn = 0; turn < repeats; turn++) await run()
  return performance.now() - start
}

/** The least time of three runs, or of those up to the first one whose time is enough. */
async function leastOf(run: () => unknown, isEnough: (ms: number) => boolean): Promise<number> {
  let least = await clockOf(run)
  for (let turn = 1; turn < 3 && !isEnough(least); turn++) least = Math.min(least, await clockOf(run))
  return least
}

/**
 * How many times as long a text sixteen times as long takes, not more exactly than `MOST` needs; 1 where nothing takes long enough to tell.
 *
 * The first look, at twice a text, is enough for most. Where it is not, a collection of garbage or a machine that was slower
 * for a while may have fallen into one of the runs.
 */
export async function growthOf(
  read: (text: string) => unknown,
  shape: (size: number) => string,
  measurable: number = MEASURABLE,
): Promise<number> {
  let first: number | undefined
  for (let size = SMALLEST; size <= LARGEST; size *= 2) {
    const text = shape(size)
    const most = first === undefined ? measurable : first * MOST_OF_TWICE
    const time = await leastOf(
      () => read(text),
      (ms) => ms <= most,
    )
    if (first !== undefined)
      return time <= most ? (time / first) ** Math.log2(STEP) : pairedGrowth(read, shape)
    if (time >= measurable) first = time
  }
  return 1
}

async function pairedGrowth(
  read: (text: string) => unknown,
  shape: (size: number) => string,
): Promise<number> {
  const near = await growthTo(LARGEST, read, shape)
  return near.growth <= MOST || near.ms > QUICK_MS
    ? near.growth
    : (await growthTo(LARGEST * BEYOND, read, shape)).growth
}

/** Of a size and a sixteenth of it, as many bytes of each, in turn for as long as it takes: what slows the machine down slows both. */
async function growthTo(
  size: number,
  read: (text: string) => unknown,
  shape: (size: number) => string,
): Promise<{ readonly growth: number; readonly ms: number }> {
  const [small, large] = [shape(size / STEP), shape(size)]
  let [least, ms, growth] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  const until = performance.now() + TURNS_MS
  for (let turn = 0; turn < TURNS && growth > MOST && (turn === 0 || performance.now() < until); turn++) {
    ms = Math.min(ms, await clockOf(() => read(large)))
    if (ms < MEASURABLE) return { growth: 1, ms }
    least = Math.min(least, await clockOf(() => read(small), STEP))
    growth = STEP * (ms / least)
  }
  return { growth, ms }
}

/** Tests that each of these takes at most 96 times as long for sixteen times the text, of every shape. */
export function growsInProportion(all: { readonly [reader: string]: (text: string) => unknown }): void {
  describe.each(Object.keys(all))('%s', (reader) => {
    it.each(Object.keys(TEXTS))('%s: sixteen times as much takes at most 96 times as long', async (shape) => {
      const measurable = reader.startsWith('a document') ? MEASURABLE_DOCUMENT : MEASURABLE
      expect(await growthOf(all[reader]!, TEXTS[shape]!, measurable)).toBeLessThanOrEqual(MOST)
    })
  })
}

/**
 * Measures how work grows: by processor time, warmed up, the least of several runs; sizes double until one run takes long enough to be
 * measured.
 */
import { describe, expect, it } from 'vitest'
import { ownCpuMs } from '../_cpu.ts'

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
/** Milliseconds from which on a run can be compared with another. */
const MEASURABLE = 4
/** For what leaves much garbage, whose collection counts. */
const MEASURABLE_DOCUMENT = 30
const LARGEST = 80_000
/** How often a run is repeated to be sure, turn by turn: processor time is counted in steps of up to 4 ms. */
const REPEATS = [1, 8, 8, 16, 8, 8, 32]
/** Later turns look at two doublings: one may cross a size from which on strings or garbage cost more. */
const DOUBLINGS = 2
/** How many times as long twice the bytes may take. */
export const MOST = 2.5

async function cpuOf(run: () => unknown): Promise<number> {
  const start = ownCpuMs()
  await run()
  return ownCpuMs() - start
}

/** The least time of three runs, or of those up to the first one whose time is enough. */
async function leastOf(run: () => unknown, isEnough: (ms: number) => boolean): Promise<number> {
  let least = await cpuOf(run)
  for (let turn = 1; turn < 3 && !isEnough(least); turn++) least = Math.min(least, await cpuOf(run))
  return least
}

/** How many times as long a doubling takes, of `doublings` the mean, not more exactly than `MOST` needs; 1 where nothing takes long enough to tell. */
export async function growthOf(
  read: (text: string) => unknown,
  shape: (size: number) => string,
  measurable: number = MEASURABLE,
  repeats = 1,
  doublings = 1,
): Promise<number> {
  let first: number | undefined
  let count = 0
  let growth = 1
  const run = async (text: string): Promise<void> => {
    for (let turn = 0; turn < repeats; turn++) await read(text)
  }
  for (let size = SMALLEST; size <= LARGEST; size *= 2) {
    const text = shape(size)
    const most = first === undefined ? measurable : first * MOST ** (count + 1)
    const time = await leastOf(
      () => run(text),
      (ms) => ms <= most,
    )
    if (first === undefined) {
      if (time >= measurable) first = time
      continue
    }
    count++
    growth = (time / first) ** (1 / count)
    if (count === doublings) break
  }
  return growth
}

/** Tests that each of these takes at most 2.5 times as long for twice the text, of every shape. */
export function growsInProportion(all: { readonly [reader: string]: (text: string) => unknown }): void {
  describe.each(Object.keys(all))('%s', (reader) => {
    it.each(Object.keys(TEXTS))('%s: twice as much takes at most 2.5 times as long', async (shape) => {
      // A collection of garbage, or a step of the clock, may fall into one of the runs: longer ones, before it counts.
      let growth = 0
      for (const repeats of REPEATS) {
        const measurable = reader.startsWith('a document') ? MEASURABLE_DOCUMENT : MEASURABLE
        growth = await growthOf(
          all[reader]!,
          TEXTS[shape]!,
          measurable * repeats,
          repeats,
          repeats === 1 ? 1 : DOUBLINGS,
        )
        if (growth <= MOST) break
      }
      expect(growth).toBeLessThanOrEqual(MOST)
    })
  })
}

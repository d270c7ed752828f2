/** The pictures of the documentation show what the repository recorded. */
import { readFileSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import { barPlot } from '../../bench/pictures/bars.ts'
import { linePlot } from '../../bench/pictures/lines.ts'
import { drawPictures } from '../../bench/pictures/pictures.ts'
import { readRecorded } from '../../bench/recorded.ts'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

describe('docs/images', () => {
  test.each(Object.entries(drawPictures()))(
    '%s is what `npm run bench -- --pictures` draws',
    (name, drawn) => {
      expect(read(`docs/images/${name}`)).toBe(drawn)
    },
  )

  test.each([
    ['young.svg', 'docs/performance.md'],
    ['cost-by-tools.svg', 'README.md'],
    ['cost-by-tools.svg', 'docs/performance.md'],
    ['workerd.svg', 'docs/performance.md'],
    ['cold-start.svg', 'docs/performance.md'],
    ['task.svg', 'docs/tasks.md'],
  ])('%s is in %s', (name, page) => {
    expect(read(page)).toMatch(new RegExp(`!\\[[^\\]]{20,}\\]\\((?:docs/)?images/${name}\\)`))
  })
})

describe('bench/results.json', () => {
  const report = read('bench/RESULTS.md')

  it('holds the medians of tools/call that bench/RESULTS.md shows', () => {
    const lines = report.split('### `tools/call`')[1]!.split('As a multiple')[0]!
    const { rows } = readRecorded().calls
    const shown = rowsOf(lines).flatMap(([server, era, ...cells]) =>
      cells.map((cell, at) => [server, era, [1, 10, 100, 500][at], cell.split(' ')[0]]),
    )

    expect(
      rows.map(({ server, era, toolCount, microseconds }) => [server, era, toolCount, number(microseconds)]),
    ).toEqual(shown)
  })

  it('holds the medians and the fastest of the cold starts that bench/RESULTS.md shows', () => {
    const lines = report.split('## Cold start of that worker')[1]!.split('## Memory')[0]!
    const { rows } = readRecorded().coldStarts

    expect(rows.map(({ worker, ms, fastestMs }) => [worker, `${number(ms)} (${number(fastestMs)})`])).toEqual(
      rowsOf(lines).map(([server, , cell]) => [server, cell]),
    )
  })
})

describe('a plot', () => {
  const bars = barPlot({
    title: 'Bars',
    unit: 'ms',
    groups: [
      { heading: 'one', figures: [figure('slow', 30, [20, 45]), figure('fast', 10, [9, 12])] },
      { heading: 'two', figures: [figure('middle', 20, [15, 22])] },
    ],
    notes: [],
  })

  it('of bars sorts each group by the median', () => {
    expect(texts(bars).filter((text) => /^[a-z]+$/.test(text))).toEqual([
      'one',
      'fast',
      'slow',
      'two',
      'middle',
    ])
  })

  it('of bars draws the quartiles, at the scale of the bars, and says them', () => {
    const widths = [...bars.matchAll(/<rect class="bar[^>]* x="([\d.]+)"[^>]* width="([\d.]+)"/g)].map(
      (match) => [Number(match[1]), Number(match[2])],
    )
    const ranges = [...bars.matchAll(/<path class="range" d="M([\d.]+) [^H]*H([\d.]+)/g)].map((match) => [
      Number(match[1]),
      Number(match[2]),
    ])
    const scale = widths[0]![1]! / 10
    const expected = [
      [9, 12],
      [20, 45],
      [15, 22],
    ].map((pair) => pair.map((value) => widths[0]![0]! + value * scale))

    expect(ranges.flat().map((value, index) => Math.abs(value - expected.flat()[index]!) < 0.6)).toEqual(
      Array(6).fill(true),
    )
    expect(bars).toContain('fast 10 ms (9 to 12), slow 30 ms (20 to 45).')
  })

  it('of bars draws from the fastest round to the median where not all have quartiles, and says so', () => {
    const plain = barPlot({
      ...{ title: 'Bars', unit: 'ms', notes: [] },
      groups: [
        {
          figures: [
            { label: 'one', median: 30, fastest: 20 },
            { label: 'other', median: 40, fastest: 30, quartiles: [35, 50] },
          ],
        },
      ],
    })

    expect(plain).toContain('the fastest round and the median. one 30 ms (20 to 30), other 40 ms (30 to 40).')
    expect(texts(plain)).toContain('Thin lines: from the fastest round to the median.')
    expect(plain).not.toContain('quartiles')
  })

  it('of bars says nothing of a spread where none was recorded', () => {
    const plain = barPlot({
      ...{ title: 'Bars', unit: 'ms', notes: [] },
      groups: [{ figures: [{ label: 'only', median: 3 }] }],
    })

    expect(plain).not.toMatch(/quartile|thin lines|class="range"/i)
  })

  it('of lines has no empty decade, the unit on its labels, and a point at each value', () => {
    const lines = linePlot({
      ...{ title: 'Lines', unit: 'µs', xs: [1, 10, 500], xName: 'tools', notes: [] },
      lines: [
        { label: 'ours', values: [35, 36, 37], kind: 'ours' },
        { label: 'other', values: [250, 260, 1224], kind: 'peer' },
      ],
    })

    expect(texts(lines).filter((text) => /^\d+ µs$/.test(text))).toEqual(
      ['20', '50', '100', '200', '500', '1000', '2000'].map((step) => `${step} µs`),
    )
    expect(texts(lines)).toEqual(expect.arrayContaining(['ours 37 µs', 'other 1224 µs']))
    const points = [...lines.matchAll(/<circle class="[^"]*" cx="([\d.]+)" cy="([\d.]+)"/g)]
    const corners = [...lines.matchAll(/points="([^"]+)"/g)].flatMap((match) => match[1]!.split(' '))
    expect(points.map((match) => `${match[1]},${match[2]}`)).toEqual(corners)
    expect(corners).toHaveLength(6)
  })
})

function figure(label: string, median: number, quartiles: readonly [number, number]) {
  return { label, median, quartiles }
}

function texts(svg: string): readonly string[] {
  return [...svg.matchAll(/<text [^>]*>([^<]*)</g)].map((match) => match[1]!).slice(1)
}

/** The cells of a table's rows, without its head. */
function rowsOf(table: string): readonly (readonly string[])[] {
  return table
    .split('\n')
    .filter((line) => line.startsWith('| ') && /\d/.test(line.split('|').at(-2)!))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    .filter(([first]) => first !== '')
}

/** As bench/RESULTS.md writes it. */
function number(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1)
}

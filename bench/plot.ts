/**
 * Draws what was measured as SVG that is legible on light and on dark: bars for a few subjects, lines for a cost that grows. The
 * figures stand beside the shapes, so that nothing depends on colour.
 */

export interface Bar {
  readonly label: string
  readonly value: number
  readonly isOurs?: boolean
}

export interface Line {
  readonly label: string
  /** One value for each x. */
  readonly values: readonly number[]
  readonly isOurs?: boolean
}

const WIDTH = 720
const ROW = 34
const LEFT = 190
const TOP = 56

/** Readers choose light or dark for the page around it; an image is told of it by the media query alone. */
const STYLE = `<style>
  text { font: 14px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 16px }
  .note { font-size: 12px; fill: #59636e }
  .bar { fill: #9aa4ae } .ours { fill: #0a7d5a }
  .line { stroke: #8a949e; fill: none; stroke-width: 2 } .line.ours { stroke: #0a7d5a; stroke-width: 3; fill: none }
  .grid { stroke: #8a949e; stroke-opacity: .3 }
  text.ours { fill: #0a7d5a; font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .note { fill: #9198a1 } .bar { fill: #6e7681 } .ours { fill: #3fb98f }
    .line.ours { stroke: #3fb98f } text.ours { fill: #3fb98f }
  }
</style>`

/** Horizontal bars, in the order given, from zero. */
export function barPlot(title: string, unit: string, note: string, bars: readonly Bar[]): string {
  const most = Math.max(...bars.map(({ value }) => value))
  const scale = (WIDTH - LEFT - 90) / most
  const rows = bars.map(({ label, value, isOurs }, index) => {
    const y = TOP + index * ROW
    const width = Math.max(1, value * scale)
    return [
      text(LEFT - 10, y + 17, label, isOurs ? 'ours' : '', 'end'),
      `<rect class="${isOurs ? 'ours' : 'bar'}" x="${LEFT}" y="${y}" width="${width.toFixed(1)}" height="22" rx="3"/>`,
      text(LEFT + width + 8, y + 17, `${shown(value)} ${unit}`, isOurs ? 'ours' : ''),
    ].join('')
  })
  return svg(title, note, TOP + bars.length * ROW + 26, rows)
}

/** Lines over the values of x; both axes are logarithmic, since tools and costs grow by factors. */
export function linePlot(
  title: string,
  unit: string,
  note: string,
  xs: readonly number[],
  xName: string,
  lines: readonly Line[],
): string {
  const [left, right, height] = [70, 150, 300]
  const all = lines.flatMap(({ values }) => values)
  const [low, high] = [
    10 ** Math.floor(Math.log10(Math.min(...all))),
    10 ** Math.ceil(Math.log10(Math.max(...all))),
  ]
  const x = (value: number): number =>
    left + (Math.log(value / xs[0]!) / Math.log(xs.at(-1)! / xs[0]!)) * (WIDTH - left - right)
  const y = (value: number): number => TOP + height - (Math.log(value / low) / Math.log(high / low)) * height
  const decades = Array.from(
    { length: Math.round(Math.log10(high / low)) + 1 },
    (_, step) => low * 10 ** step,
  )
  const grid = decades.map(
    (value) =>
      `<line class="grid" x1="${left}" x2="${WIDTH - right}" y1="${y(value)}" y2="${y(value)}"/>${text(left - 8, y(value) + 5, shown(value), 'note', 'end')}`,
  )
  const ticks = xs.map((value) => text(x(value), TOP + height + 20, String(value), 'note', 'middle'))
  const places = apart(lines.map(({ values }) => y(values.at(-1)!)))
  const drawn = lines.map(({ label, values, isOurs }, index) => {
    const points = values.map((value, at) => `${x(xs[at]!).toFixed(1)},${y(value).toFixed(1)}`).join(' ')
    return [
      `<polyline class="line${isOurs ? ' ours' : ''}" points="${points}"/>`,
      text(WIDTH - right + 8, places[index]! + 5, `${label} ${shown(values.at(-1)!)}`, isOurs ? 'ours' : ''),
    ].join('')
  })
  const axes = [
    text(left - 8, TOP - 10, unit, 'note', 'end'),
    text(WIDTH - right, TOP + height + 38, xName, 'note', 'end'),
  ]
  return svg(title, note, TOP + height + 66, [...grid, ...ticks, ...axes, ...drawn])
}

/** Where labels stand, moved so that no two of them overlap. */
function apart(wanted: readonly number[]): number[] {
  const places = [...wanted]
  const order = wanted.map((_, index) => index).sort((one, other) => wanted[one]! - wanted[other]!)
  order.forEach((index, rank) => {
    const above = rank === 0 ? Number.NEGATIVE_INFINITY : places[order[rank - 1]!]!
    places[index] = Math.max(wanted[index]!, above + 18)
  })
  return places
}

function svg(title: string, note: string, height: number, body: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}">
${STYLE}
${text(10, 24, title, 'title')}
${body.join('\n')}
${text(10, height - 8, note, 'note')}
</svg>
`
}

function text(x: number, y: number, content: string, name: string, anchor = 'start'): string {
  return `<text class="${name}" x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${escaped(content)}</text>`
}

function shown(value: number): string {
  if (value >= 100) return String(Math.round(value))
  return String(Number(value.toPrecision(2)))
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

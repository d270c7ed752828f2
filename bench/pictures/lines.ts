/** Lines over the values of x, with a point at each value that was measured. Both axes are logarithmic: tools and costs grow by factors. */
import { described, written } from './figure.ts'
import { PAD, RIGHT, round, svg, text, topBelow, widthOf } from './frame.ts'

export interface Line {
  readonly label: string
  /** One value for each x. */
  readonly values: readonly number[]
  readonly kind: 'ours' | 'peer' | 'floor'
}

export interface LinePlot {
  readonly title: string
  readonly unit: string
  readonly xs: readonly number[]
  readonly xName: string
  readonly lines: readonly Line[]
  readonly notes: readonly string[]
}

const HEIGHT = 320
const LABEL = 22

export function linePlot({ title, unit, xs, xName, lines, notes }: LinePlot): string {
  const all = lines.flatMap(({ values }) => values)
  const steps = stepsAround(Math.min(...all), Math.max(...all))
  const [low, high] = [steps[0]!, steps.at(-1)!]
  const left = PAD + Math.max(...steps.map((step) => widthOf(`${step} ${unit}`))) + 8
  const last = (line: Line): string => `${written(line.values.at(-1)!)} ${unit}`
  const right = RIGHT - Math.max(...lines.map((line) => widthOf(`${line.label} ${last(line)}`))) - 26
  const top = topBelow(title) + 4
  const bottom = top + HEIGHT
  const x = (value: number): number =>
    left + (Math.log(value / xs[0]!) / Math.log(xs.at(-1)! / xs[0]!)) * (right - left)
  const y = (value: number): number => bottom - (Math.log(value / low) / Math.log(high / low)) * HEIGHT
  const grid = steps.map(
    (step) =>
      `<line class="grid" x1="${round(left)}" x2="${round(right)}" y1="${round(y(step))}" y2="${round(y(step))}"/>${text(left - 8, y(step) + 5.5, `${step} ${unit}`, 'soft', 'end')}`,
  )
  const ticks = xs.map((value) => text(x(value), bottom + 24, String(value), 'soft', 'middle'))
  const places = apart(
    lines.map(({ values }) => y(values.at(-1)!)),
    [top, bottom - 4],
  )
  const drawn = lines.map((line) => drawnLine(line, xs, x, y))
  const labels = lines.map((line, index) => {
    const place = places[index]!
    const leader = `<path class="line leader" stroke-width="1" d="M${round(right + 7)} ${round(y(line.values.at(-1)!))}L${round(right + 20)} ${round(place)}"/>`
    const name = line.kind === 'ours' ? 'key strong' : 'text'
    return leader + text(right + 24, place + 5.5, `${line.label} ${last(line)}`, name)
  })
  return svg({
    ...{ title, notes, bottom: bottom + 52 },
    description: `Medians for ${xs.join(', ')} ${xName}. ${lines.map(({ label, values }) => `${label}: ${values.map((median) => described({ label: '', median }, unit).trim()).join(', ')}`).join('. ')}.`,
    body: [
      ...grid,
      ...ticks,
      text((left + right) / 2, bottom + 46, xName, 'soft', 'middle'),
      ...drawn,
      ...labels,
    ],
  })
}

function drawnLine(
  { values, kind }: Line,
  xs: readonly number[],
  x: (value: number) => number,
  y: (value: number) => number,
): string {
  const points = values.map((value, at) => [round(x(xs[at]!)), round(y(value))] as const)
  const name = kind === 'floor' ? 'peer floor' : kind
  return [
    `<polyline class="line ${name}" points="${points.map((point) => point.join(',')).join(' ')}"/>`,
    ...points.map(
      ([cx, cy]) =>
        `<circle class="${kind === 'ours' ? 'point-ours' : 'point'}" cx="${cx}" cy="${cy}" r="4"/>`,
    ),
  ].join('')
}

/** 1, 2 and 5 of each decade, from the last one below all values to the first one above: no empty decade. */
function stepsAround(least: number, most: number): readonly number[] {
  const steps: number[] = []
  for (let decade = 10 ** Math.floor(Math.log10(least)); decade <= most * 10; decade *= 10) {
    steps.push(...[1, 2, 5].map((factor) => factor * decade))
  }
  const from = steps.findLastIndex((step) => step <= least)
  return steps.slice(from, steps.findIndex((step) => step >= most) + 1)
}

/** Where labels are, moved so that no two of them overlap and all are between the bounds. */
function apart(wanted: readonly number[], [top, bottom]: readonly [number, number]): readonly number[] {
  const order = wanted.map((_, index) => index).toSorted((one, other) => wanted[one]! - wanted[other]!)
  const places = [...wanted]
  let above = top - LABEL
  for (const index of order) {
    places[index] = Math.max(wanted[index]!, above + LABEL)
    above = places[index]
  }
  let below = bottom + LABEL
  for (const index of order.toReversed()) {
    places[index] = Math.min(places[index]!, below - LABEL)
    below = places[index]
  }
  return places
}

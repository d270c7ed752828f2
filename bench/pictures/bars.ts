/** Horizontal bars from zero to the median, each with a line that shows how far the rounds were from each other. */
import { described, type Figure, type Spread, spreadOf, written } from './figure.ts'
import { PAD, RIGHT, round, svg, text, topBelow, widthOf } from './frame.ts'

export interface BarGroup {
  /** Above the bars, where there is more than one group. */
  readonly heading?: string
  readonly figures: readonly Figure[]
}

export interface BarPlot {
  readonly title: string
  readonly unit: string
  readonly groups: readonly BarGroup[]
  readonly notes: readonly string[]
}

const ROW = 32
const BAR = 20

/** The fastest first, in each group. */
export function barPlot({ title, unit, groups, notes }: BarPlot): string {
  const sorted = groups.map(({ heading, figures }) => ({
    heading,
    figures: figures.toSorted((one, other) => one.median - other.median),
  }))
  const all = sorted.flatMap(({ figures }) => figures)
  const left = PAD + Math.max(...all.map(({ label }) => widthOf(label))) + 8
  const spread = spreadOf(all)
  const most = Math.max(...all.map((figure) => endOf(figure, spread)))
  const room = RIGHT - left - 10 - Math.max(...all.map(({ median }) => widthOf(`${written(median)} ${unit}`)))
  const scale = room / most
  const body: string[] = []
  let y = topBelow(title)
  for (const { heading, figures } of sorted) {
    if (heading !== undefined) {
      body.push(text(PAD, y + 16, heading, 'soft strong'))
      y += 28
    }
    for (const figure of figures) {
      body.push(row(figure, { unit, left, y, scale, spread }))
      y += ROW
    }
    y += 8
  }
  const told = sorted.map(
    ({ heading, figures }) =>
      `${heading === undefined ? '' : `${heading}: `}${figures.map((figure) => described(figure, unit, spread)).join(', ')}.`,
  )
  return svg({
    ...{ title, body, bottom: y - 8 },
    description: `Medians${spread === undefined ? '' : `, in brackets ${spread.name}`}. ${told.join(' ')}`,
    notes: spread === undefined ? notes : [spread.note, ...notes],
  })
}

interface Place {
  readonly unit: string
  readonly left: number
  readonly y: number
  readonly scale: number
  readonly spread: Spread | undefined
}

function row(figure: Figure, { unit, left, y, scale, spread }: Place): string {
  const { label, median, isOurs } = figure
  const name = isOurs ? 'key strong' : 'text'
  const [from, to] = spread?.of(figure) ?? []
  return [
    text(left - 8, y + 15.5, label, name, 'end'),
    `<rect class="bar ${isOurs ? 'solid' : 'other'}" x="${round(left)}" y="${y}" width="${round(Math.max(2, median * scale))}" height="${BAR}" rx="3"/>`,
    from === undefined || to === undefined
      ? ''
      : range(left + from * scale, left + to * scale, y + BAR / 2, BAR / 4),
    text(left + endOf(figure, spread) * scale + 10, y + 15.5, `${written(median)} ${unit}`, name),
  ].join('')
}

/** With a rim in the colour of the card: it lies on bars. */
function range(from: number, to: number, y: number, cap: number): string {
  const path = `M${round(from)} ${y - cap}v${2 * cap}m0 ${-cap}H${round(to)}m0 ${-cap}v${2 * cap}`
  return `<path class="halo" d="${path}"/><path class="range" d="${path}"/>`
}

function endOf(figure: Figure, spread: Spread | undefined): number {
  return Math.max(figure.median, spread?.of(figure)[1] ?? 0)
}

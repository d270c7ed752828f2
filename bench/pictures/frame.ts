/**
 * The frame, text and colours of the documentation's pictures: a card with a title, a description that holds the figures, and notes.
 *
 * A picture is as wide as a phone shows it legibly: at 390 px its smallest text has 12. It has its own background, since a reader's page
 * may be dark where the browser is light.
 */

export const WIDTH = 520
export const PAD = 16
export const RIGHT = WIDTH - PAD

/** Pixels; nothing is smaller than `TEXT`. */
export const TEXT = 16
const TITLE = 19
const LINE = 22

interface Theme {
  readonly card: string
  /** Behind what is outlined. */
  readonly tint: string
  readonly text: string
  readonly soft: string
  readonly key: string
  /** Text on `key`. */
  readonly onKey: string
}

/** Those of a server's landing page (src/http/page.ts). */
const LIGHT: Theme = {
  ...{ card: '#fff', tint: '#f3f6f4', text: '#112222' },
  ...{ soft: '#556655', key: '#006644', onKey: '#fff' },
}
const DARK: Theme = {
  ...{ card: '#151c19', tint: '#0c1210', text: '#eeeeee' },
  ...{ soft: '#99aa99', key: '#66ddaa', onKey: '#0c1210' },
}

/** Colours are written out twice: not every viewer of SVG knows variables. */
function rules({ card, tint, text, soft, key, onKey }: Theme): string {
  return `.card{fill:${card};stroke:${soft}}.text{fill:${text}}.soft{fill:${soft}}.key{fill:${key}}.on-key{fill:${onKey}}
.other{fill:${soft}}.solid{fill:${key};stroke:${key}}.outlined{fill:${tint};stroke:${key}}
.grid,.lane,.leader,.peer{stroke:${soft}}.ours{stroke:${key}}.range,.arrow{stroke:${text}}.head{fill:${text}}.halo{stroke:${card}}.cover{fill:${card}}
.point{fill:${card};stroke:${soft}}.point-ours{fill:${key};stroke:${key}}`
}

const STYLE = `<style>
text{font:${TEXT}px system-ui,sans-serif}.title{font-size:${TITLE}px;font-weight:600}.strong{font-weight:600}
.card{stroke-opacity:.3}.grid{stroke-opacity:.3}.lane{stroke-dasharray:3 4}.other{fill-opacity:.75}.outlined{stroke-width:1.5}
.line,.arrow{fill:none;stroke-width:2}.ours{stroke-width:3}.floor{stroke-dasharray:6 5}.range{stroke-width:2;fill:none}.halo{stroke-width:6;fill:none}.point,.point-ours{stroke-width:2}
${rules(LIGHT)}
@media (prefers-color-scheme:dark){
${rules(DARK)}
}
</style>`

export interface Picture {
  readonly title: string
  /** What a picture tells, for those who do not see it: its figures. */
  readonly description: string
  readonly body: readonly string[]
  /** Where the body ends. */
  readonly bottom: number
  readonly notes: readonly string[]
}

/** Where a body begins below a title. */
export function topBelow(title: string): number {
  return PAD + wrapped(title, TITLE).length * 26 + 14
}

export function svg({ title, description, body, bottom, notes }: Picture): string {
  const lines = notes.flatMap((note) => wrapped(note, TEXT))
  const height = Math.ceil(bottom + 10 + lines.length * LINE + PAD)
  const titleLines = wrapped(title, TITLE)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title desc">
<title id="title">${escaped(title)}</title>
<desc id="desc">${escaped(description)}</desc>
${STYLE}
<rect class="card" x=".5" y=".5" width="${WIDTH - 1}" height="${height - 1}" rx="12"/>
${titleLines.map((line, index) => text(PAD, PAD + 19 + index * 26, line, 'text title')).join('\n')}
${body.join('\n')}
${lines.map((line, index) => text(PAD, bottom + 10 + (index + 0.75) * LINE, line, 'soft')).join('\n')}
</svg>
`
}

type Anchor = 'start' | 'middle' | 'end'

export function text(x: number, y: number, content: string, name: string, anchor: Anchor = 'start'): string {
  const at = anchor === 'start' ? '' : ` text-anchor="${anchor}"`
  return `<text class="${name}" x="${round(x)}" y="${round(y)}"${at}>${escaped(content)}</text>`
}

export function round(value: number): number {
  return Number(value.toFixed(1))
}

/** Generous: which font a reader's system takes is not known. */
export function widthOf(content: string): number {
  return content.length * TEXT * 0.6
}

/** Words on as many lines as they need: a character of a sentence is as wide as half its height, or a little more where it is bold. */
function wrapped(content: string, size: number): readonly string[] {
  const lines: string[] = []
  for (const word of content.split(' ')) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`
    if (lines.length > 0 && longer.length * size * 0.56 <= RIGHT - PAD) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

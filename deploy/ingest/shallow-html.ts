/** HTML that a parser reads in time: without pictures and scripts, and not nested too deeply. */

/** Elements, or quotes and lists of Markdown, within each other. The converter's output grows with the square of their number. */
export const MAX_NESTING = 50

/** Of any element: pages with more than 60 are rare. */
const MAX_ELEMENTS = 100

/** What becomes markup around its content. */
const MARKED = /^(?:b|strong|i|em|blockquote|ul|ol)$/

/** Elements that end by themselves, or hold nothing. Names that begin with `m` are mostly of MathML. */
const ENDLESS =
  /^(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr|html|head|body|p|li|dt|dd|option|optgroup|tr|td|th|thead|tbody|tfoot|colgroup|caption|rp|rt|a|m(?!ain$|ap$|ark$|arquee$|enu$|eter$)\w+)$/
const TAG = /<(?:(\/?)([a-z][a-z\d-]*)|!--)/gi

/** Without its pictures, scripts and comments. Throws `RangeError` for elements that are nested too deeply. */
export function shallow(html: string): string {
  const open = new Map<string, number>()
  const kept: string[] = []
  const depth = { all: 0, marked: 0 }
  let from = 0
  for (let tag = nextTag(html, 0); tag !== null; tag = nextTag(html, TAG.lastIndex)) {
    const [whole, slash, given = ''] = tag
    const name = given.toLowerCase()
    const end =
      whole === '<!--' ? '-->' : /^(?:svg|script|style)$/.test(name) && slash === '' ? `</${name}` : ''
    if (end !== '') {
      const close = new RegExp(end, 'gi')
      close.lastIndex = tag.index
      const found = close.exec(html)
      kept.push(html.slice(from, tag.index))
      from = found === null ? html.length : close.lastIndex
      // The rest of an end tag stays, as `<x`, which turns it into one without content.
      if (found !== null && name !== '') kept.push('</x')
      TAG.lastIndex = from
    } else if (!ENDLESS.test(name)) {
      const count = open.get(name) ?? 0
      const step = slash === '' ? 1 : count > 0 ? -1 : 0
      open.set(name, count + step)
      depth.all += step
      if (MARKED.test(name)) depth.marked += step
      if (depth.all > MAX_ELEMENTS || depth.marked > MAX_NESTING)
        throw new RangeError('The elements are nested too deeply.')
    }
  }
  kept.push(html.slice(from))
  return kept.join('')
}

function nextTag(html: string, from: number): RegExpExecArray | null {
  TAG.lastIndex = from
  return TAG.exec(html)
}

/** JSON on the page: with indentation, and its names, texts and numbers in colours. */
import { code, element } from './dom.ts'
import { indented, pretty } from './json.ts'

/** A name, a string, or another value. */
const PARTS =
  /("[^"\\\n]*(?:\\.[^"\\\n]*)*")(:)?|(?<=[\s[]|^)(?:-?\d[\d.eE+-]*|true|false|null)(?=[,\s\]}]|$)/g
/** The rest of a longer text has no colours: each is an element. */
const MAX_COLOURED = 20_000

export function jsonCode(value: unknown, label: string): HTMLPreElement {
  return coloured(pretty(value), label)
}

/** The same from the text that the value was parsed from, whose numbers have all their digits. */
export function sourceCode(source: string | undefined, value: unknown, label: string): HTMLPreElement {
  return coloured(indented(source ?? '') ?? pretty(value), label)
}

/** Text from a server: as JSON if it is an object or a list, otherwise as it is. */
export function textCode(text: string, label: string): HTMLPreElement {
  const json = indented(text)
  return json === undefined ? code(text, label) : coloured(json, label)
}

function coloured(text: string, label: string): HTMLPreElement {
  const node = code('', label)
  const parts: (Node | string)[] = []
  let at = 0
  for (const { 0: part, 1: quoted, 2: colon, index } of text.matchAll(PARTS)) {
    if (index > MAX_COLOURED) break
    const value = quoted ?? part
    const tone = colon !== undefined ? 'k' : quoted !== undefined ? 's' : 'n'
    parts.push(text.slice(at, index), element('span', { class: tone }, value))
    at = index + value.length
  }
  node.replaceChildren(...parts, text.slice(at))
  return node
}

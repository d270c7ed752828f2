/** What a platform's tool prints: shown without the secrets that it was given, and searched for an error that its exit code does not tell. */
import { Buffer } from 'node:buffer'
import { base64Of } from '../build/secret-search.ts'

const HIDDEN = '[secret]'

/** Shorter values, such as a port, would make the output unreadable. */
const MIN_CHARACTERS = 4
/** Shorter lines of a key, and shorter parts of its base64, are also in other output. */
const MIN_PART_CHARACTERS = 6

export interface Redactor {
  /** The text that may be shown now. Holds back an end that may be the beginning of a secret. */
  push(text: string): string
  /** The text that was held back. */
  end(): string
}

/** By their first characters, the longest first. A regular expression of them would take seconds where a value is a key. */
type Forms = ReadonlyMap<string, readonly string[]>

/**
 * Replaces the values: plain, escaped for JSON or HTML, quoted for a shell, percent-encoded, in base64 and in hex, and each line of a
 * longer one, also with colours in between. The colours stay.
 */
export function createRedactor(values: readonly string[]): Redactor {
  const all = [...new Set(values.flatMap(formsOf))].sort((a, b) => b.length - a.length)
  const longest = all[0]?.length ?? 0
  if (longest === 0) return { push: (text) => text, end: () => '' }
  const forms = new Map<string, string[]>()
  for (const form of all) forms.set(form.charAt(0), [...(forms.get(form.charAt(0)) ?? []), form])
  const mostHeld = 4096 + 2 * longest
  let held = ''
  return {
    push: (text) => {
      const { shown, rest } = hide(held + text, forms, longest)
      // Without colours it is shorter than the longest form: a tool that prints only colours fills no memory.
      held = rest.length > mostHeld ? rest.replaceAll(CODE, '') : rest
      return shown
    },
    end: () => {
      const rest = held
      held = ''
      const plain = rest.replace(UNFINISHED_CODE, '').replaceAll(CODE, '')
      // The beginning of a secret is one, too, if it is more than chance.
      if (plain.length >= MIN_PART_CHARACTERS) return HIDDEN + codesOf(rest)
      return hide(rest, forms, 0).shown
    },
  }
}

/** What may be shown, and the end that may be the beginning of a form, of at most `longest` characters, or of a code. */
function hide(all: string, forms: Forms, longest: number): { readonly shown: string; readonly rest: string } {
  const unfinished = longest === 0 ? -1 : all.search(UNFINISHED_CODE)
  const { plain, places } = withoutCodes(unfinished === -1 ? all : all.slice(0, unfinished))
  const open = openStarts(plain, forms, longest)
  let shown = ''
  let from = 0
  let at = 0
  for (let index = 0; index < plain.length; index++) {
    const found = forms.get(plain.charAt(index))?.find((form) => plain.startsWith(form, index))
    if (found === undefined) continue
    // A longer secret may begin here or before: its first part may be a whole secret.
    if (open.some((start) => start >= at && start <= index)) break
    at = index + found.length
    const [start, end] = [places(index), places(at - 1) + 1]
    shown += all.slice(from, start) + HIDDEN + codesOf(all.slice(start, end))
    from = end
    index = at - 1
  }
  const start = open.find((one) => one >= at)
  const to = start !== undefined ? places(start) : unfinished === -1 ? all.length : unfinished
  return { shown: shown + all.slice(from, to), rest: all.slice(to) }
}

/** Colours and resets of a terminal: CSI and escape sequences of ECMA-48. They may be within a value; a link (OSC) holds text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed.
const CODE = /\u001b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|[ -/]{1,8}[0-~])/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above.
const UNFINISHED_CODE = /\u001b(?:\[[0-?]{0,64})?[ -/]{0,8}$/

function codesOf(text: string): string {
  return text.match(CODE)?.join('') ?? ''
}

/** The text without codes, and where each of its characters was. */
function withoutCodes(text: string): { readonly plain: string; readonly places: (index: number) => number } {
  if (!text.includes('\u001b')) return { plain: text, places: (index) => index }
  const all: number[] = []
  let plain = ''
  let from = 0
  const take = (to: number): void => {
    for (let at = from; at < to; at++) all.push(at)
    plain += text.slice(from, to)
  }
  for (const { index, 0: code } of text.matchAll(CODE)) {
    take(index)
    from = index + code.length
  }
  take(text.length)
  return { plain, places: (index) => all[index]! }
}

/** The same for one whole text. */
export function redact(text: string, values: readonly string[]): string {
  const redactor = createRedactor(values)
  return redactor.push(text) + redactor.end()
}

function formsOf(value: string): string[] {
  const text = value.trim()
  if (text.length < MIN_CHARACTERS) return []
  const lines = /[\r\n]/.test(text) ? text.split(/\s*[\r\n]+\s*/) : []
  const bytes = Buffer.from(text)
  const encoded = [
    ...[bytes.toString('base64'), bytes.toString('base64url')],
    ...[...base64Of(text), ...lines.flatMap(base64Of)].flatMap((one) => [
      one,
      one.replaceAll('+', '-').replaceAll('/', '_'),
    ]),
    ...lines,
  ].filter(({ length }) => length >= MIN_PART_CHARACTERS)
  const escaped = JSON.stringify(text).slice(1, -1)
  const hex = bytes.toString('hex')
  return [
    ...[text, text.replaceAll('\n', '\r\n'), escaped, JSON.stringify(escaped).slice(1, -1)],
    ...[escaped.replaceAll('/', '\\/'), escaped.replaceAll(/[&<>]/g, inUnicode)],
    // JSON in ASCII, as Python writes it, and what shells quote.
    escaped.replaceAll(/[^\0-\x7f]/g, inUnicode),
    ...[`'\\''`, `'"'"'`].map((quote) => text.replaceAll("'", () => quote)),
    text.replaceAll(/["\\$`]/g, '\\$&'),
    ...[text, escaped].flatMap(inHtml),
    ...inUrls(text).flatMap((one) => [one, one.replaceAll(/%../g, (two) => two.toLowerCase())]),
    ...[hex, hex.toUpperCase()],
    ...encoded,
  ]
}

function inUnicode(one: string): string {
  return `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** As text, as an attribute's value, and with both quotes as the libraries write them. */
function inHtml(text: string): string[] {
  const escaped = text.replaceAll('&', '&amp;')
  const angled = escaped.replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const quoted = ['&quot;', '&#34;'].map((quote) => angled.replaceAll('"', quote))
  const all = ['&#39;', '&#x27;', '&#039;', '&apos;'].flatMap((quote) =>
    quoted.map((one) => one.replaceAll("'", quote)),
  )
  return [escaped.replaceAll('"', '&quot;'), angled, ...quoted, ...all]
}

/** By `encodeURIComponent`, strictly (RFC 3986), by Python's `quote`, as a form, and as a whole URL. */
function inUrls(text: string): string[] {
  const percent = encodeURIComponent(text)
  const strict = percent.replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
  return [
    ...[percent, strict].flatMap((one) => [one, one.replaceAll('%20', '+'), one.replaceAll('%2F', '/')]),
    ...[new URLSearchParams([['', text]]).toString().slice(1), encodeURI(text)],
  ]
}

/** Where the ends of `text` begin that are the beginning of a form, in order. */
function openStarts(text: string, forms: Forms, longest: number): number[] {
  const starts: number[] = []
  for (let start = Math.max(0, text.length - longest + 1); start < text.length; start++) {
    const length = text.length - start
    const end = text.slice(start)
    const isOpen = forms.get(text.charAt(start))?.some((form) => form.length > length && form.startsWith(end))
    if (isOpen) starts.push(start)
  }
  return starts
}

/** Colours and links: CSI and OSC of ECMA-48. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed.
const STEERING = /\u001b(?:\[[\d;?]*[A-Za-z]|\][^\u0007\u001b]*(?:\u0007|\u001b\\))/g

/** `✘ [ERROR] …`, `Error: …`, `error: …`: what the tools print before they give up. A word within a sentence does not count. */
const ERROR = /^[^\p{L}\d\n]{0,8}(?:\[error\]|(?:\w+)?error(?:\s\[?[\w-]+\]?)?:)\s*\S/iu

/** Vercel's CLI looks for a newer version of itself in another process, which prints this where npm's registry cannot be reached. */
const OF_UPDATE_CHECK = /Failed to get package info/

/** Without colours and links. */
export function plain(output: string): string {
  return output.replaceAll(STEERING, '')
}

/** The first line that is an error. Undefined if there is none. */
export function errorIn(output: string): string | undefined {
  const lines = plain(output).split('\n')
  return lines.map((line) => line.trim()).find((line) => ERROR.test(line) && !OF_UPDATE_CHECK.test(line))
}

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

/** Replaces the values: plain, escaped for JSON, quoted for a shell, percent-encoded, in base64 and in hex, and each line of a longer one. */
export function createRedactor(values: readonly string[]): Redactor {
  const forms = [...new Set(values.flatMap(formsOf))].sort((a, b) => b.length - a.length)
  if (forms.length === 0) return { push: (text) => text, end: () => '' }
  const pattern = new RegExp(forms.map(literal).join('|'), 'g')
  let held = ''
  return {
    push: (text) => {
      const all = held + text
      const open = openStarts(all, forms)
      let shown = ''
      let at = 0
      for (const { index, 0: found } of all.matchAll(pattern)) {
        // A longer secret may begin here or before: its first part may be a whole secret.
        if (open.some((start) => start >= at && start <= index)) break
        shown += all.slice(at, index) + HIDDEN
        at = index + found.length
      }
      const rest = open.find((start) => start >= at) ?? all.length
      held = all.slice(rest)
      return shown + all.slice(at, rest)
    },
    end: () => {
      const rest = held
      held = ''
      // The beginning of a secret is one, too, if it is more than chance.
      return rest.length >= MIN_PART_CHARACTERS ? HIDDEN : rest.replaceAll(pattern, HIDDEN)
    },
  }
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
  const percent = encodeURIComponent(text)
  const hex = bytes.toString('hex')
  return [
    ...[text, text.replaceAll('\n', '\r\n'), escaped, JSON.stringify(escaped).slice(1, -1)],
    // JSON in ASCII, as Python writes it, and what shells quote.
    escaped.replaceAll(/[^\0-\x7f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`),
    ...[`'\\''`, `'"'"'`].map((quote) => text.replaceAll("'", () => quote)),
    text.replaceAll(/["\\$`]/g, '\\$&'),
    ...[percent, percent.replaceAll('%20', '+'), percent.replaceAll(/%../g, (one) => one.toLowerCase())],
    ...[hex, hex.toUpperCase()],
    ...encoded,
  ]
}

/** Where the ends of `text` begin that are the beginning of a form, in order. */
function openStarts(text: string, forms: readonly string[]): number[] {
  const longest = forms[0]?.length ?? 0
  const starts: number[] = []
  for (let start = Math.max(0, text.length - longest + 1); start < text.length; start++) {
    const end = text.slice(start)
    if (forms.some((form) => form.length > end.length && form.startsWith(end))) starts.push(start)
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

/** `RegExp.escape`, which Node 20 does not have. */
function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

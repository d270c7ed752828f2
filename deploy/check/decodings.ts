/** The strings that a string may encode. */

const MAX_DEPTH = 3
const MAX_TEXTS = 24
/** Shorter runs are ordinary words. */
const BASE64 = /[\w+/-]{6,}/g
const HEX = /[\da-f]{8,}/gi

const ENTITIES: { readonly [name: string]: string } = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const DECODERS: readonly ((text: string) => readonly string[])[] = [
  fromJson,
  fromUrl,
  fromHtml,
  fromBase64,
  fromHex,
]

/** Each decoded form that differs from the string, including nested encodings. */
export function decodingsOf(text: string): string[] {
  const found = new Set<string>()
  let latest = [text]
  for (let depth = 0; depth < MAX_DEPTH && found.size < MAX_TEXTS; depth++) {
    const next = latest.flatMap((form) => DECODERS.flatMap((decode) => decode(form)))
    latest = [...new Set(next)].filter((form) => form !== text && !found.has(form)).slice(0, MAX_TEXTS)
    for (const form of latest) found.add(form)
  }
  return [...found]
}

function fromJson(text: string): string[] {
  return [
    text
      .replaceAll(/\\u\{?([\da-f]{1,6})\}?/gi, (_, digits: string) => character(digits, 16))
      .replaceAll(/\\x([\da-f]{2})/gi, (_, digits: string) => character(digits, 16))
      .replaceAll(/\\(.)/g, '$1'),
  ]
}

function fromUrl(text: string): string[] {
  const decoded = fromPercent(text)
  return [decoded, decoded.replaceAll('+', ' ')]
}

export function fromPercent(text: string): string {
  return text.replaceAll(/(?:%[\da-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
  )
}

function fromHtml(text: string): string[] {
  return [
    text
      .replaceAll(/&#x([\da-f]{1,6});?/gi, (_, digits: string) => character(digits, 16))
      .replaceAll(/&#(\d{1,7});?/g, (_, digits: string) => character(digits, 10))
      .replaceAll(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => ENTITIES[name]!),
  ]
}

/** Tries each offset, since characters before the secret may belong to the same run. */
function fromBase64(text: string): string[] {
  const runs = text.match(BASE64) ?? []
  if (runs.length === 0) return []
  return [0, 1, 2, 3].map((offset) =>
    runs.map((run) => Buffer.from(run.slice(offset), 'base64').toString('utf8')).join(' '),
  )
}

function fromHex(text: string): string[] {
  const runs = text.match(HEX) ?? []
  if (runs.length === 0) return []
  return [0, 1].map((offset) =>
    runs.map((run) => Buffer.from(run.slice(offset), 'hex').toString('utf8')).join(' '),
  )
}

function character(digits: string, radix: number): string {
  const code = Number.parseInt(digits, radix)
  return code <= 0x10ffff ? String.fromCodePoint(code) : ' '
}

/** Looks for secrets in built files, however a bundler has encoded them. */
import { Buffer } from 'node:buffer'
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { unzipSync } from 'fflate'
import type { Secret } from '../project/env-file.ts'
import { CliError, printable } from '../terminal/cli-error.ts'

/** A string in a script in a string of a source map, plus one. Bundlers do not nest deeper. */
const MAX_ESCAPES = 4

/** Base64 in base64, for example a source map in a module that was inlined as text. */
const MAX_BASE64 = 2

/** From this length on, decoded base64 is searched for further encodings. Shorter matches are mostly function names. */
const BASE64 = /[\w+/-]{20,}/g

/** The same, wrapped into lines; the last may be shorter. */
const BASE64_LINES = /(?<![\w+/-])[\w+/-]{10,}(?:[ \t\r]*\n\s*[\w+/-]{10,})*[ \t\r]*\n\s*[\w+/-]+/g

/** Throws `CliError` if any file below `folder` contains one of the values: other people may read a build. */
export function refuseSecrets(folder: string, secrets: readonly Secret[]): void {
  if (secrets.length === 0) return
  for (const file of filesBelow(folder, new Set())) {
    refuseSecretsIn(readFileSync(file), relative(folder, file), secrets)
  }
}

/** Follows links, as an upload tool may, and reads each folder once, since links can form a cycle. */
function* filesBelow(folder: string, seen: Set<string>): Generator<string> {
  const real = realpathSync(folder)
  if (seen.has(real)) return
  seen.add(real)
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const found = statSync(path, { throwIfNoEntry: false })
    if (found?.isDirectory()) yield* filesBelow(path, seen)
    else if (found?.isFile()) yield path
  }
}

/** The same, for the content of one file. */
export function refuseSecretsIn(content: Uint8Array, file: string, secrets: readonly Secret[]): void {
  const found = findSecretIn(content, secrets)
  if (found === undefined) return
  const { name, from } = found
  throw new CliError(
    `the build would contain the value of ${name} from ${from}, in ${printable(file)}: read it from ctx.env at run time, and send it with mayfly deploy --secret ${name}; if it is not secret, write the same line into .env.example beside that file`,
  )
}

/** The first secret found in `content`: plain, escaped, base64, percent-encoded, or several of these combined. */
export function findSecretIn(content: Uint8Array, secrets: readonly Secret[]): Secret | undefined {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  for (const unzipped of unzippedFiles(bytes)) {
    const found = findSecretIn(unzipped, secrets)
    if (found !== undefined) return found
  }
  return findIn(textOf(bytes), secrets.map(toNeedle), MAX_BASE64)?.secret
}

interface Needle {
  readonly secret: Secret
  /** Plain, and percent-encoded as in a query. */
  readonly texts: readonly string[]
  /** For a multi-line value, such as a key: indentation is ignored. */
  readonly unspaced: string | undefined
  /** The parts that no escape changes. Content without them cannot contain the value in any encoding. */
  readonly words: readonly string[]
  readonly base64: readonly string[]
}

function toNeedle(secret: Secret): Needle {
  const text = secret.value.trim().replaceAll('\r\n', '\n')
  return {
    secret,
    texts: text.includes(' ') ? [text, text.replaceAll(' ', '+')] : [text],
    unspaced: text.includes('\n') ? withoutSpace(text) : undefined,
    words: text.match(/[A-Za-z\d]{3,}/g) ?? [],
    base64: base64Of(text),
  }
}

function findIn(text: string, needles: readonly Needle[], depth: number): Needle | undefined {
  const possible = needles.filter(({ words }) => words.every((word) => text.includes(word)))
  const found = possible.length === 0 ? undefined : findInReadings(text, possible)
  if (found !== undefined || depth === 0) return found
  const plain = plainBase64(text)
  return findInBase64([text, plain], needles) ?? findIn(decoded(text, plain), needles, depth - 1)
}

function findInBase64(texts: readonly string[], needles: readonly Needle[]): Needle | undefined {
  const joined = texts.map((text) => withoutSpace(text).replaceAll('-', '+').replaceAll('_', '/'))
  return needles.find(({ base64 }) => base64.some((part) => joined.some((text) => text.includes(part))))
}

/** All base64 in these strings, decoded; it may contain an escaped secret. */
function decoded(...texts: readonly string[]): string {
  const runs = new Set(texts.flatMap((text) => text.match(BASE64) ?? []))
  for (const lines of texts.flatMap((text) => text.match(BASE64_LINES) ?? [])) {
    const run = withoutSpace(lines)
    // A word before the first line may look like base64, but is not part of it.
    for (const start of [0, 1, 2, 3]) runs.add(run.slice(start))
  }
  return Array.from(runs, (run) => Buffer.from(run, 'base64').toString('utf8')).join('\n')
}

/** What may separate lines: in a string, in a script in a string, in a query. */
const BREAK = /(?<!\\)\\+(?:[nrt]|\r?\n|(?:u00|x)0[9aAdD])|%(?:25)*0[9aAdD]/g
const PLUS = /(?:(?<!\\)\\+(?:u00|x)|%(?:25)*)2[bB]/g
const SLASH = /(?<!\\)\\+\/|(?:(?<!\\)\\+(?:u00|x)|%(?:25)*)2[fF]/g

/** Undoes the escapes of base64 characters and of its line ends, however many times they were escaped. */
function plainBase64(text: string): string {
  if (!text.includes('\\') && !text.includes('%')) return text
  return text.replaceAll(BREAK, '\n').replaceAll(PLUS, '+').replaceAll(SLASH, '/')
}

function findInReadings(text: string, needles: readonly Needle[]): Needle | undefined {
  const hasLines = needles.some(({ unspaced }) => unspaced !== undefined)
  for (const reading of readings(text)) {
    const unspacedReading = hasLines ? withoutSpace(reading) : ''
    const found = needles.find(
      ({ texts, unspaced }) =>
        texts.some((one) => reading.includes(one)) ||
        (unspaced !== undefined && unspacedReading.includes(unspaced)),
    )
    if (found !== undefined) return found
  }
  return undefined
}

function withoutSpace(text: string): string {
  return text.replaceAll(/\s+/g, '')
}

/** The part of its base64 form that does not depend on neighbouring bytes, for each of the three possible offsets. */
export function base64Of(text: string): string[] {
  return [0, 1, 2].map((offset) => {
    const padded = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)])
    const characters = Math.floor((padded.length * 8) / 6)
    // Without the characters that also encode bits of neighbouring bytes.
    return padded.toString('base64').slice(offset === 0 ? 0 : offset + 1, characters)
  })
}

/** The text, and the results of unescaping it layer by layer, in either order. */
function* readings(text: string, isPercent = false): Generator<string> {
  let layer = text
  for (let escapes = 0; escapes < MAX_ESCAPES; escapes++) {
    yield layer
    const decoded = isPercent ? layer : percentDecoded(layer)
    if (decoded !== layer) yield* readings(decoded, true)
    const next = unescaped(layer)
    if (next === layer) return
    layer = next
  }
}

const ESCAPE = /\\(?:u\{([\da-f]{1,6})\}|u([\da-f]{4})|x([\da-f]{2})|(\r\n|[\s\S]))/gi
const CONTROLS: { readonly [letter: string]: string } = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  v: '\v',
  '0': '\0',
  // A line continuation in a string.
  '\n': '',
  '\r\n': '',
}

/** Escapes of JavaScript and of JSON. */
function unescaped(text: string): string {
  if (!text.includes('\\')) return text
  return text.replaceAll(ESCAPE, (_match, point?: string, unit?: string, byte?: string, letter = '') => {
    const code = point ?? unit ?? byte
    if (code === undefined) return CONTROLS[letter] ?? letter
    const number = Number.parseInt(code, 16)
    return number > 0x10ffff ? '' : String.fromCodePoint(number)
  })
}

function percentDecoded(text: string): string {
  if (!text.includes('%')) return text
  return text.replaceAll(/(?:%[\da-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
  )
}

function textOf(bytes: Buffer): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe
  return bytes.toString(isUtf16 ? 'utf16le' : 'utf8')
}

function unzippedFiles(bytes: Buffer): Uint8Array[] {
  if (bytes.length < 4 || bytes.readUInt32LE(0) !== 0x04034b50) return []
  try {
    return Object.values(unzipSync(bytes))
  } catch {
    // It only looks like a zip.
    return []
  }
}

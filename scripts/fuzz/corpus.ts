/**
 * The corpus: inputs that reach code that no other input reaches, as JSON Lines, one file per target. Inputs that broke a promise
 * in the past stay in `regressions.jsonl`, whatever they reach.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Input, Target } from './target.ts'

const CORPUS = new URL('../../test/fuzz/corpus/', import.meta.url)
const CRASHES = new URL('../../test/fuzz/crashes/', import.meta.url)

/** A finding of the past: what is sent, and what was wrong. */
interface Regression {
  readonly target: string
  readonly was: string
  readonly input: Input
}

/** The corpus of one target, with the inputs that once broke a promise. */
export function readCorpus({ name }: Target): { kept: Input[]; regressions: Input[] } {
  const regressions = readLines(new URL('regressions.jsonl', CORPUS)) as Regression[]
  return {
    kept: readLines(fileOf(name)) as Input[],
    regressions: regressions.filter(({ target }) => target === name).map(({ input }) => input),
  }
}

export function writeCorpus({ name }: Target, inputs: readonly Input[]): void {
  mkdirSync(CORPUS, { recursive: true })
  writeFileSync(fileOf(name), inputs.map((input) => `${toAscii(input)}\n`).join(''))
}

/** Returns the path of the file. */
export function writeCrash({ name }: Target, input: Input, error: Error, index: number): string {
  mkdirSync(CRASHES, { recursive: true })
  const file = new URL(`${name}-${index}.json`, CRASHES)
  writeFileSync(file, `${toAscii({ target: name, was: error.message, input })}\n`)
  return fileURLToPath(file)
}

function fileOf(name: string): URL {
  return new URL(`${name}.jsonl`, CORPUS)
}

function readLines(file: URL): unknown[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as unknown)
}

/** Control characters and bytes beyond ASCII, escaped: editors and diffs leave them alone. */
function toAscii(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Chunks whose ids depend only on their content, so that unchanged content is recognized. */
import { createHash } from 'node:crypto'
import { isA, textOf } from '../../src/definition/error-text.ts'
import { printable } from '../terminal/cli-error.ts'
import { terminal } from '../terminal/terminal.ts'
import type { SourceDocument } from './sources.ts'
import { createSplit, type Piece } from './split.ts'

export interface Chunk {
  /** The name of the document set, `documentOf` its source, and a hash: at most 61 bytes. */
  readonly id: string
  /** The embedded text: the path, which often names the subject, the headings and the text. */
  readonly input: string
  readonly metadata: ChunkMetadata
}

/** Flat, since some stores accept nothing else. A type alias, so that it is assignable to a record. */
export type ChunkMetadata = {
  readonly text: string
  /** The path of the file, or the URL. */
  readonly source: string
  /** The headings above it, as `Guide > Install`. */
  readonly heading: string
}

export interface ChunkOptions {
  readonly name: string
  readonly chunkSize: number
  /** A different model changes every id. */
  readonly modelId: string
}

export interface Chunked {
  readonly chunks: Chunk[]
  /** The documents that could not be split; a warning names each of them. */
  readonly failed: string[]
}

/** Throws `CliError` if a package is missing. */
export async function toChunks(
  documents: readonly SourceDocument[],
  options: ChunkOptions,
): Promise<Chunked> {
  const split = await createSplit(options.chunkSize, new Set(documents.map(({ kind }) => kind)))
  const seen = new Map<string, number>()
  const failed: string[] = []
  const chunks = documents.flatMap(({ source, kind, text: whole }) =>
    piecesOf(source, failed, (warn) => split(whole, kind, warn))
      .filter(({ text }) => text.trim() !== '')
      .map(({ text, headings }) => {
        const heading = headings.join(' > ')
        const content = JSON.stringify([options.modelId, source, heading, text])
        // Repeated text in one document makes separate chunks.
        const count = seen.get(content) ?? 0
        seen.set(content, count + 1)
        return {
          id: `${options.name}:${documentOf(source)}${digest(`${count}${content}`).slice(0, 32)}`,
          input: [source, heading, text].filter((part) => part !== '').join('\n'),
          metadata: { text, source, heading },
        }
      }),
  )
  return { chunks, failed }
}

/** The part of a chunk's id, after the name, that tells its document. */
export function documentOf(source: string): string {
  return digest(source).slice(0, 8)
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** The parsers are recursive, so a document that is nested too deeply overflows the stack. */
function piecesOf(
  source: string,
  failed: string[],
  split: (warn: (message: string) => void) => Piece[],
): Piece[] {
  const warn = (message: string): void => terminal.warn(`${printable(source)}: ${message}`)
  try {
    return split(warn)
  } catch (error) {
    failed.push(source)
    warn(isA(error, RangeError) ? 'it is nested too deeply to be split' : printable(textOf(error)))
    return []
  }
}

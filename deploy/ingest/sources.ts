/** The documents to ingest: files of a folder, single files, and pages. */

import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { textOf } from '../../src/definition/error-text.ts'
import { CliError, printable } from '../terminal/cli-error.ts'
import { isSystemError } from '../terminal/system-error.ts'
import { terminal } from '../terminal/terminal.ts'
import { fetchPage } from './page.ts'
import { type Place, pathIn } from './place.ts'
import { checkBytes, toText } from './text.ts'

export type DocumentKind = 'markdown' | 'html' | 'text'

export interface SourceDocument {
  /** The path relative to the project, with `/`, or the URL. */
  readonly source: string
  readonly kind: DocumentKind
  readonly text: string
}

export interface Found {
  readonly documents: readonly SourceDocument[]
  /** Sources that could not be read; a warning was printed for each. */
  readonly failed: readonly string[]
}

const KINDS: { readonly [extension: string]: DocumentKind } = {
  '.md': 'markdown',
  '.mdx': 'markdown',
  '.markdown': 'markdown',
  '.html': 'html',
  '.htm': 'html',
  '.txt': 'text',
}

const PAGES_AT_ONCE = 4

/** Throws `CliError` if a file does not exist, or if there are no documents. */
export async function findDocuments(
  { cwd, root }: Place,
  given: readonly string[],
  urlFiles: readonly string[],
): Promise<Found> {
  const isUrl = (one: string): boolean => /^https?:\/\//.test(one)
  const files = given.filter((one) => !isUrl(one)).flatMap((one) => filesOf(cwd, one))
  const urls = [...given.filter(isUrl), ...urlFiles.flatMap((file) => urlsOf(cwd, file))]
  const documents: SourceDocument[] = []
  const failed: string[] = []
  const warn = (source: string, error: unknown): void => {
    failed.push(source)
    terminal.warn(`${printable(source)}: ${printable(textOf(error))}`)
  }
  for (const file of [...new Set(files)].sort()) {
    const document = readDocument(root, file, warn)
    if (document !== undefined) documents.push(document)
  }
  const queue = [...new Set(urls)]
  const work = async (): Promise<void> => {
    for (let url = queue.shift(); url !== undefined; url = queue.shift()) {
      try {
        documents.push(await readPage(url))
      } catch (error) {
        warn(url, error)
      }
    }
  }
  await Promise.all(Array.from({ length: PAGES_AT_ONCE }, work))
  if (documents.length === 0 && failed.length > 0)
    throw new CliError('none of the documents could be read: nothing was changed')
  if (documents.length === 0)
    throw new CliError(
      `no documents in ${printable(given.join(', '))}: ingest reads ${Object.keys(KINDS).join(', ')}`,
    )
  return { documents: documents.sort((one, other) => (one.source < other.source ? -1 : 1)), failed }
}

function filesOf(cwd: string, given: string): string[] {
  const path = resolve(cwd, given)
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined)
    throw new CliError(`${printable(given)} does not exist: pass a folder, a file or a URL`)
  if (stats.isDirectory()) return filesIn(realpathSync(path))
  if (kindOf(path) === undefined)
    throw new CliError(`${printable(given)} is not a document: ingest reads ${Object.keys(KINDS).join(', ')}`)
  return [join(realpathSync(dirname(path)), basename(path))]
}

/** Does not follow links to folders, which could form a cycle. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') return []
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return filesIn(path)
    return entry.isFile() && kindOf(path) !== undefined ? [path] : []
  })
}

function kindOf(path: string): DocumentKind | undefined {
  const extension = extname(path).toLowerCase()
  return Object.hasOwn(KINDS, extension) ? KINDS[extension] : undefined
}

/** Undefined for a file without text, after a warning. Throws the system's error for a file that cannot be read. */
function readDocument(
  root: string,
  path: string,
  warn: (source: string, error: unknown) => void,
): SourceDocument | undefined {
  const source = pathIn(root, path)
  try {
    checkBytes(statSync(path).size)
    return { source, kind: kindOf(path)!, text: toText(readFileSync(path)) }
  } catch (error) {
    if (isSystemError(error)) throw error
    warn(source, error)
    return undefined
  }
}

function urlsOf(cwd: string, file: string): string[] {
  const path = resolve(cwd, file)
  if (!statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new CliError(`the file ${printable(file)} does not exist: pass one with a URL per line`)
  const lines = readFileSync(path, 'utf8')
    .split(/\r?\n/)
    .map((line) => line.trim())
  const urls = lines.filter((line) => line !== '' && !line.startsWith('#'))
  const wrong = urls.find((url) => !URL.canParse(url) || !/^https?:/.test(url))
  if (wrong !== undefined) throw new CliError(`${printable(file)}: "${printable(wrong)}" is not a valid URL`)
  return urls
}

async function readPage(url: string): Promise<SourceDocument> {
  const { type, text } = await fetchPage(url)
  const kind = /html/.test(type)
    ? 'html'
    : /markdown/.test(type)
      ? 'markdown'
      : (kindOf(new URL(url).pathname) ?? 'text')
  return { source: url, kind, text }
}

/** `mayfly ingest`: loads documents into an index of a vector store, and updates the index when they change. */

import { createHash } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { toChunks } from '../ingest/chunks.ts'
import { loadModel } from '../ingest/model.ts'
import { type Place, pathIn, placeOf } from '../ingest/place.ts'
import { findDocuments } from '../ingest/sources.ts'
import { openStore } from '../ingest/store.ts'
import { synchronise } from '../ingest/synchronise.ts'
import { loadEnvFiles } from '../project/env-files.ts'
import { refuseForeign } from '../project/owner.ts'
import { CliError, printable, UsageError } from '../terminal/cli-error.ts'
import { parseCommand } from '../terminal/command-line.ts'
import type { Help } from '../terminal/help.ts'
import { withProgress } from '../terminal/progress.ts'
import { terminal } from '../terminal/terminal.ts'

const HELP: Help = {
  usage: ['mayfly ingest <folder|file|url>... --store <store> --index <name> --model <model>'],
  options: [
    [
      '--store',
      'pgvector, libsql, upstash, pinecone, qdrant, chroma or vectorize; a .json file, for createMemoryVectorStore(snapshot); or a module whose default export is a store',
    ],
    ['--index', 'the index, which is created if it does not exist'],
    ['--model', 'openai/<model>, or a module whose default export is an embedding model'],
    ['--urls', 'a file with one more URL per line; may be repeated'],
    [
      '--name',
      "names this set of documents, 1 to 20 letters, digits, _ and -; default: the folder's name, with a digest of the project's name and of the folders. Removed documents are only looked for under the same name",
    ],
    ['--remove-most', 'allow that more than half of the chunks of this name are removed'],
    ['--chunk-size', 'characters per chunk, exceeded by half at most; default 800'],
    ['--dry-run', 'show what would change, and change nothing'],
    ['--quiet', 'print only warnings and errors'],
  ],
  text: [
    'Reads .md, .mdx, .markdown, .html, .htm and .txt files and pages, splits them by headings and size, embeds new chunks and deletes removed ones. Chunks are identified by their content, so a second run changes only what has changed.',
    [
      ['pgvector', 'DATABASE_URL, and the package postgres'],
      ['libsql', 'LIBSQL_URL, LIBSQL_AUTH_TOKEN, and the package @libsql/client'],
      ['upstash', 'UPSTASH_VECTOR_REST_URL, UPSTASH_VECTOR_REST_TOKEN'],
      ['pinecone', 'PINECONE_API_KEY; PINECONE_CLOUD and PINECONE_REGION to create an index'],
      ['qdrant', 'QDRANT_URL, QDRANT_API_KEY'],
      ['chroma', 'CHROMA_URL, CHROMA_API_KEY'],
      ['vectorize', 'CLOUDFLARE_ACCOUNT_ID, CLOUDFLARE_API_TOKEN'],
      ['openai/…', 'OPENAI_API_KEY'],
    ],
  ],
  examples: [
    'mayfly ingest docs --store pgvector --index docs --model openai/text-embedding-3-small',
    'mayfly ingest docs --store docs-index.json --index docs --model ./embed.ts',
  ],
  page: 'retrieval.md',
}

const DEFAULT_CHUNK_SIZE = 800
const NAME = /^[\w-]{1,20}$/

/** Exit code 0, or 1 if a document cannot be read or split; then nothing is removed. Throws `CliError`. */
export async function ingest(args: string[]): Promise<number> {
  const line = parseCommand('ingest', HELP, args, {
    store: { type: 'string' },
    index: { type: 'string' },
    model: { type: 'string' },
    urls: { type: 'string', multiple: true },
    name: { type: 'string' },
    'chunk-size': { type: 'string' },
    'remove-most': { type: 'boolean' },
    'dry-run': { type: 'boolean' },
    quiet: { type: 'boolean' },
  })
  if (line === undefined) return 0
  const { values, positionals } = line
  if (values.quiet) terminal.beQuiet()
  const { store: storeName, index, model: modelName, urls = [] } = values
  if (positionals.length === 0 && urls.length === 0)
    throw new UsageError('pass a folder, a file or a URL to ingest')
  for (const [option, value] of Object.entries({ store: storeName, index, model: modelName }))
    if (!value) throw new UsageError(`pass --${option}: see mayfly ingest --help`)
  const cwd = process.cwd()
  const place = placeOf(cwd)
  const name = toName(values.name, positionals.length > 0 ? positionals : urls, place)
  const chunkSize = toSize(values['chunk-size'])
  refuseForeign(cwd)
  loadEnvFiles({ cwd, entry: join(cwd, 'ingest') })

  const startedAt = performance.now()
  const { documents, chunks, unsplit, failed, changes } = await withProgress(async (show) => {
    show('reading the documents')
    const { documents, failed: unread } = await findDocuments(place, positionals, urls)
    const model = await loadModel(place, modelName!)
    show('splitting', `${documents.length} documents`)
    const { chunks, failed: unsplit } = await toChunks(documents, { name, chunkSize, modelId: model.id })
    const failed = [...unread, ...unsplit]
    if (chunks.length === 0 && failed.length > 0)
      throw new CliError('none of the documents could be read: nothing was changed')
    if (chunks.length === 0) throw new CliError('these documents contain no text: nothing was changed')
    const store = await openStore(cwd, storeName!)
    const changes = await synchronise(store.store, chunks, {
      indexName: index!,
      prefix: `${name}:`,
      embed: model.embed,
      // A document that could not be read still exists.
      removes: failed.length === 0,
      mayRemoveMost: values['remove-most'] === true,
      isDryRun: values['dry-run'] === true,
      show,
    })
    show('saving the index')
    if (!values['dry-run'] && changes.added + changes.removed > 0) await store.save()
    return { documents, chunks, unsplit, failed, changes }
  })
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  const { added, removed, kept } = changes
  const would = values['dry-run'] ? ' (nothing was changed)' : ''
  process.stdout.write(
    `${counted(documents.length - unsplit.length, 'document')}, ${counted(chunks.length, 'chunk')}: ${added} new, ${removed} removed, ${kept} unchanged in ${seconds} s${would}\n`,
  )
  if (failed.length === 0) {
    if (!changes.isRefused) terminal.next(afterIngest(values['dry-run'] === true, index!))
    return 0
  }
  terminal.warn(
    `nothing was removed, since ${failed.length === 1 ? 'a document' : `${failed.length} documents`} could not be read`,
  )
  return 1
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function afterIngest(isDryRun: boolean, index: string): string {
  return isDryRun ? 'the same without --dry-run' : `let a tool search ${index} with createVectorQueryTool`
}

/** Part of every chunk's id: at most 20 characters, since some stores limit ids to 64 bytes. */
function toName(given: string | undefined, sources: readonly string[], { root, project }: Place): string {
  if (given === undefined) {
    const paths = sources.map((source) => (URL.canParse(source) ? source : pathIn(root, realPath(source))))
    const [first = ''] = paths
    const last = URL.canParse(first) ? new URL(first).hostname : basename(first) || project
    const name = last.replaceAll(/[^\w-]+/g, '-').replace(/^-+$/, '') || 'documents'
    // Folders of other projects, too, may have the same name: without a digest, each run would remove the other's chunks.
    const digest = createHash('sha256')
      .update([project, ...paths].join('\n'))
      .digest('hex')
    return `${name.slice(0, 13)}-${digest.slice(0, 6)}`
  }
  if (NAME.test(given)) return given
  throw new UsageError(`"${printable(given)}" is not a name: pass 1 to 20 letters, digits, _ and -`)
}

/** `.` and `../docs` are the folder that they lead to. A missing one is reported later. */
function realPath(source: string): string {
  const path = resolve(source)
  return existsSync(path) ? realpathSync(path) : path
}

function toSize(given: string | undefined): number {
  if (given === undefined) return DEFAULT_CHUNK_SIZE
  const size = /^\d+$/.test(given) ? Number(given) : Number.NaN
  if (size >= 100 && size <= 20_000) return size
  throw new UsageError(`"${printable(given)}" is not a chunk size: pass a number from 100 to 20000`)
}

/** Ingests this project's documentation with the command itself, into the file that the example imports. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '../..')
export const INDEX = 'examples/retrieval/docs-index.json'

/** What the command prints on stdout. */
export function ingestDocs(...more: string[]): string {
  const args = [
    'ingest',
    'docs',
    '--store',
    INDEX,
    '--index',
    'docs',
    '--model',
    'examples/retrieval/embed.ts',
    ...more,
  ]
  return execFileSync(process.execPath, [join(ROOT, 'deploy/cli.ts'), ...args], {
    cwd: ROOT,
    encoding: 'utf8',
  })
}

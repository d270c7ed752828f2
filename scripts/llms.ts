/**
 * `npm run docs`: writes llms.txt (https://llmstxt.org), the list of the documentation that coding agents read first, from the pages
 * under docs/. It ships in the package, so its links are paths in there.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const FILE = join(ROOT, 'llms.txt')

/** Folders of docs/ by their heading, in order; pages in the order of the README's table, then by name. */
const SECTIONS: readonly (readonly [heading: string, folder: string])[] = [
  ['Docs', 'docs'],
  ['Platforms', 'docs/deploy'],
  ['Migrating', 'docs/migrate'],
]

export interface Page {
  readonly path: string
  readonly title: string
  /** What stands between the title and the next heading, without comments. */
  readonly opening: string
}

/** A page of the documentation; `path` from the root. */
export function readPage(path: string): Page {
  const text = readFileSync(join(ROOT, path), 'utf8').replaceAll(/<!--[\s\S]*?-->/g, '')
  const [, title = '', rest = ''] = /^\s*# ([^\n]+)\n([\s\S]*)$/.exec(text) ?? []
  const [opening = ''] = rest.split(/^## /m)
  return { path, title, opening: opening.trim() }
}

/** Every page, by its path. */
export function pagePaths(): string[] {
  return SECTIONS.flatMap(([, folder]) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`)
      .sort(),
  )
}

/** The first paragraph of a page, as plain text on one line. */
export function summaryOf({ opening }: Page): string {
  const [paragraph = ''] = opening.split('\n\n')
  const plain = paragraph.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll('**', '')
  return plain.replaceAll(/\s+/g, ' ').trim()
}

/** The whole file. */
export function renderLlms(): string {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const [, table = ''] = readme.split('## Documentation')
  const listed = Array.from(table.matchAll(/\]\((docs\/[\w./-]+\.md)/g), ([, path]) => path!)
  const rank = (path: string): number => (listed.includes(path) ? listed.indexOf(path) : listed.length)
  const pages = pagePaths().sort((one, other) => rank(one) - rank(other))
  const sections = SECTIONS.map(([heading, folder]) => {
    const own = pages.filter((path) => path.slice(0, path.lastIndexOf('/')) === folder).map(readPage)
    const lines = own.map((page) => `- [${page.title}](${page.path}): ${summaryOf(page)}`)
    return `## ${heading}\n\n${lines.join('\n')}\n`
  })
  return `# Mayfly (mayfly-mcp)

> ${summaryOf(readPage('README.md'))}

Import \`createTool\` and \`MCPServer\` from \`mayfly-mcp\`; the default export of one file is the server. \`npx mayfly-mcp init\` writes a
project. The pages below are in the package, under node_modules/mayfly-mcp, and each stands alone.

${sections.join('\n')}`
}

/** llms.txt as it is on disk. */
export function writtenLlms(): string {
  return readFileSync(FILE, 'utf8')
}

if (import.meta.main) writeFileSync(FILE, renderLlms())

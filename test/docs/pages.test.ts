/** What people and coding agents read: llms.txt is current, each page stands alone in the package, and is short enough to finish. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pagePaths, readPage, renderLlms, summaryOf, writtenLlms } from '../../scripts/llms.ts'

const ROOT = join(import.meta.dirname, '../..')
const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: string[] }

/** npm adds these to any package. */
const ALWAYS = ['README.md', 'LICENSE', 'package.json']

/** Pages in which things are looked up: nobody reads them from the top. */
const REFERENCES = ['docs/http.md', 'docs/cli.md', 'docs/degradation.md', 'docs/deploy/facts.md']
const MAX_WORDS = 1500
/** Of all pages under docs/. */
const MAX_WORDS_IN_ALL = 55_000

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const wordsOf = (path: string): number => read(path).trim().split(/\s+/).length

/** As GitHub makes them from headings. */
function anchorsOf(path: string): string[] {
  return Array.from(read(path).matchAll(/^#+ (.+)$/gm), ([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

it('the pages together have at most 55,000 words', () => {
  const words = pagePaths().reduce((sum, path) => sum + wordsOf(path), 0)
  expect(words).toBeGreaterThan(10_000)
  expect(words).toBeLessThanOrEqual(MAX_WORDS_IN_ALL)
})

it('llms.txt lists every page as it is: npm run docs', () => {
  expect(writtenLlms()).toBe(renderLlms())
  for (const path of pagePaths()) expect(writtenLlms()).toContain(`](${path}): `)
  expect(files).toContain('llms.txt')
})

describe.each(['README.md', ...pagePaths()])('%s', (path) => {
  it('can be read to its end', () => {
    if (!REFERENCES.includes(path)) expect(wordsOf(path)).toBeLessThanOrEqual(MAX_WORDS)
  })

  it('says in each table what its columns are', () => {
    const headers = Array.from(read(path).matchAll(/^(\|.*\|)\n\|[-:|\s]+\|$/gm), ([, header]) => header!)
    expect(headers.filter((header) => /\|\s*\|/.test(header))).toEqual([])
  })

  it('names tests that exist', () => {
    const named = Array.from(read(path).matchAll(/`((?:unit|property|runtimes)\/[\w./-]+\.test\.ts)`/g))
    expect(named.map(([, file]) => file!).filter((file) => !existsSync(join(ROOT, 'test', file)))).toEqual([])
  })

  it('links to headings that exist', () => {
    const dead = Array.from(read(path).matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)).filter(
      ([, file, anchor]) => !anchorsOf(file === '' ? path : join(dirname(path), file!)).includes(anchor!),
    )
    expect(dead.map(([link]) => link)).toEqual([])
  })
})

describe.each(pagePaths())('%s', (path) => {
  const page = readPage(path)

  it('opens with what it is for, in a sentence', () => {
    expect(page.title).not.toBe('')
    expect(summaryOf(page)).toMatch(/^[A-Z`“][^|#]{40,}[.:]$/)
  })

  it('says what it is imported from, or how it is run', () => {
    expect(read(path)).toMatch(/mayfly-mcp|`mayfly |npx mayfly|fromSdk/)
  })

  it('links to what the package holds', () => {
    const links = Array.from(read(path).matchAll(/\]\((?!https?:|#)([^)#]+)/g), ([, link]) =>
      normalize(join(dirname(path), link!)),
    )
    const missing = links.filter(
      (link) => ![...ALWAYS, ...files].some((held) => link === held || link.startsWith(`${held}/`)),
    )
    expect(missing).toEqual([])
  })
})

it('the pages that messages name exist', () => {
  const sources = ['src', 'adapters', 'deploy'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true })
      .map((name) => `${folder}/${String(name)}`)
      .filter((name) => name.endsWith('.ts')),
  )
  const named = sources.flatMap((path) =>
    Array.from(read(path).matchAll(/(?<![\w./}-])docs\/[\w/-]+\.md/g), ([page]) => ({ path, page })),
  )
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter(({ page }) => !existsSync(join(ROOT, page)))).toEqual([])
})

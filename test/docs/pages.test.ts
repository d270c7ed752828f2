/** What coding agents read: llms.txt is current, and each page under docs/ stands alone in the package. */
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pagePaths, readPage, renderLlms, summaryOf, writtenLlms } from '../../scripts/llms.ts'

const ROOT = join(import.meta.dirname, '../..')
const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: string[] }

/** npm adds these to any package. */
const ALWAYS = ['README.md', 'LICENSE', 'package.json']

it('llms.txt lists every page as it is: npm run docs', () => {
  expect(writtenLlms()).toBe(renderLlms())
  for (const path of pagePaths()) expect(writtenLlms()).toContain(`](${path}): `)
  expect(files).toContain('llms.txt')
})

describe.each(pagePaths())('%s', (path) => {
  const page = readPage(path)

  it('opens with what it is for, in a sentence', () => {
    expect(page.title).not.toBe('')
    expect(summaryOf(page)).toMatch(/^[A-Z`“][^|#]{40,}[.:]$/)
  })

  it('says what it is imported from, or how it is run', () => {
    const text = readFileSync(join(ROOT, path), 'utf8')
    expect(text).toMatch(/mayfly-mcp|`mayfly |npx mayfly|fromSdk/)
  })

  it('links to what the package holds', () => {
    const text = readFileSync(join(ROOT, path), 'utf8')
    const links = Array.from(text.matchAll(/\]\((?!https?:|#)([^)#]+)/g), ([, link]) =>
      normalize(join(dirname(path), link!)),
    )
    const missing = links.filter(
      (link) => ![...ALWAYS, ...files].some((held) => link === held || link.startsWith(`${held}/`)),
    )
    expect(missing).toEqual([])
  })
})

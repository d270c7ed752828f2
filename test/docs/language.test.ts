/** Pages, messages and comments are plain English: none of the constructions that `scripts/language.ts` lists. */
import { globSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { expect, it } from 'vitest'
import { faultsInPage, faultsInSource, type LanguageFault } from '../../scripts/language.ts'

const ROOT = join(import.meta.dirname, '../..')

function report(file: string, faults: readonly LanguageFault[]): string[] {
  return faults.map(({ line, found, instead }) => `${file}:${line} "${found.trim()}": write ${instead}`)
}

function find(pattern: string): string[] {
  return globSync(pattern, { cwd: ROOT }).map((file) => file.replaceAll(sep, '/'))
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}

const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'adapters/README.md']
pages.push(...find('docs/**/*.md'))
const sources = find('{src,adapters,deploy}/**/*.{ts,tsx}')

/** What readers of the current release see. */
function topSection(changelog: string): string {
  return changelog
    .split(/^(?=## )/m)
    .slice(0, 2)
    .join('')
}

it('pages are plain English', () => {
  const found = pages.flatMap((file) => report(file, faultsInPage(read(file))))
  expect([...found, ...report('CHANGELOG.md', faultsInPage(topSection(read('CHANGELOG.md'))))]).toEqual([])
})

it('comments and messages are plain English', () => {
  expect(sources.length).toBeGreaterThan(500)
  expect(sources.flatMap((file) => report(file, faultsInSource(file, read(file))))).toEqual([])
})

it('a phrase is found across lines, in comments, strings and templates, and not in code', () => {
  const found = (text: string) =>
    faultsInSource('x.ts', text).map(({ line, found }) => `${line} ${found.trim()}`)
  expect(found('/**\n * Throws for what is\n * no URL.\n */')).toEqual(['2 is no'])
  expect(found("f(1) // may yet\nthrow new Error('it needs not')")).toEqual(['1 may yet', '2 needs not'])
  expect(found('`it $'.concat('{a} may yet $', '{"all the same"} fail`'))).toEqual([
    '1 may yet',
    '1 all the same',
  ])
  expect(found('const texts = whoever // `texts`')).toEqual([])
  expect(
    faultsInPage('One\n\n```\nwhoever\n```\n`texts`, and all\nthe same').map(({ line }) => line),
  ).toEqual([6])
})

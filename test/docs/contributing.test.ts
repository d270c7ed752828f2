/** CONTRIBUTING.md names what is there: every script, every folder, and the Debian packages that `.ci/run` installs. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }

const { scripts } = manifest
const ROOT = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const page = read('CONTRIBUTING.md')

/** npm runs them, nobody else. */
const NOT_FOR_PEOPLE = ['dependencies', 'prepack']

function foldersOf(parent: string): string[] {
  return readdirSync(join(ROOT, parent), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${parent}/${name}/`)
}

/** The scripts that a text tells somebody, or a machine, to run. */
function namedScripts(text: string): string[] {
  const run = Array.from(text.matchAll(/\bnpm run (?:--silent )?([a-z][\w:-]*)/g), ([, name]) => name!)
  return [...run, ...Array.from(text.matchAll(/\bnpm (test|start)\b/g), ([, name]) => name!)]
}

/** The packages after `apt-get install` and its options. */
function debianPackages(text: string): string[] {
  return /apt-get install(?: -\S+)* ((?:[a-z0-9+-]+ ?)+)/.exec(text)?.[1]?.trim().split(' ') ?? []
}

it('begins with the three commands of the first day', () => {
  expect(/```sh\n([\s\S]*?)\n```/.exec(page)?.[1]?.split('\n')).toEqual(['npm ci', 'npm test', 'npm start'])
})

it('names every script', () => {
  const named = namedScripts(page)
  expect(Object.keys(scripts).filter((name) => ![...named, ...NOT_FOR_PEOPLE].includes(name))).toEqual([])
})

it('names every folder of src and deploy', () => {
  const folders = [...foldersOf('src'), ...foldersOf('deploy')]
  expect(folders.length).toBeGreaterThan(20)
  expect(
    folders.filter((folder) => !page.includes(`| \`${folder}\``) && !page.includes(`, \`${folder}\``)),
  ).toEqual([])
})

it('names tests and files that exist', () => {
  const paths = Array.from(
    page.matchAll(/(?<=[\s`])(?:test|scripts|deploy|docs|bench|\.github)\/[\w./-]*\w/g),
    ([path]) => path,
  )
  expect(paths.length).toBeGreaterThan(40)
  expect(paths.filter((path) => !isThere(path))).toEqual([])
})

it('has the Debian packages of .ci/run and the dev container', () => {
  const packages = /local packages="([^"]+)"/.exec(read('.ci/run'))?.[1]?.split(' ')
  expect(packages).toContain('chromium-headless-shell')
  expect(debianPackages(page)).toEqual(packages)
  expect(debianPackages(read('.devcontainer/devcontainer.json'))).toEqual(packages)
})

describe.each([
  'CONTRIBUTING.md',
  'README.md',
  '.ci/run',
  '.devcontainer/devcontainer.json',
  '.github/workflows/test.yml',
  '.github/workflows/release.yml',
  'scripts/not-run.mjs',
])('%s', (file) => {
  it('names scripts that exist', () => {
    // What the project that `mayfly init` writes has, too.
    const known = [...Object.keys(scripts), ...(file === 'README.md' ? ['dev'] : [])]
    expect(namedScripts(read(file)).filter((name) => !known.includes(name))).toEqual([])
  })
})

function isThere(path: string): boolean {
  return statSync(join(ROOT, path), { throwIfNoEntry: false }) !== undefined
}

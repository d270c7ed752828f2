/** docs/otel.md: the printed versions are those of the examples that the tests run, and each example is listed. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const EXAMPLES = join(ROOT, 'examples/otel')
const page = readFileSync(join(ROOT, 'docs/otel.md'), 'utf8')

const read = (name: string): string => readFileSync(join(EXAMPLES, name), 'utf8')

it('the printed commands install what the examples pin', () => {
  const { dependencies } = JSON.parse(read('package.json')) as {
    dependencies: { readonly [name: string]: string }
  }
  const pinned = Object.entries(dependencies).filter(([name]) => name !== 'zod')
  const printed = Array.from(page.matchAll(/(@opentelemetry\/[\w-]+)@([\d.]+)/g), ([, name, version]) => [
    name,
    version,
  ])
  expect(printed.sort()).toEqual(pinned.sort())
})

it('each package that an example imports is pinned', () => {
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: object }
  const imported = globSync('*.ts', { cwd: EXAMPLES }).flatMap((name) =>
    Array.from(read(name).matchAll(/from '(@[\w-]+\/[\w-]+|[\w-]+)/g), ([, name]) => name!),
  )
  expect([...new Set(imported)].filter((name) => name !== 'mayfly-mcp').sort()).toEqual(
    Object.keys(dependencies).sort(),
  )
})

it('each example is in the page, and in the test that runs it', () => {
  const test = readFileSync(join(ROOT, 'test/runtimes/otel/otel.test.ts'), 'utf8')
  const entries = globSync('*.ts', { cwd: EXAMPLES }).filter((name) => read(name).includes('export default'))
  expect(entries).toHaveLength(6)
  for (const name of entries) {
    expect(page).toContain(`| \`${name}\``)
    expect(test).toContain(`'${name}'`)
  }
})

/**
 * The documentation is true: its code blocks type-check, its links lead somewhere, what is generated is not stale.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { renderDegradation, writtenDegradation } from '../../scripts/degradation.ts'
import { securityPage } from '../../scripts/guards.ts'
import { typeFaults } from '../_type-check.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const FILES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'adapters/README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true })
    .filter((name) => String(name).endsWith('.md'))
    .map((name) => `docs/${name}`),
]

interface CodeBlock {
  readonly fileName: string
  readonly code: string
}

/** The `ts` blocks of a file, each as a module of its own in a folder of this package, so that imports resolve as a user's would. */
function codeBlocks(file: string, folder: string): CodeBlock[] {
  const blocks = readFileSync(join(ROOT, file), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)
  return Array.from(blocks, ([, code], index) => ({
    fileName: join(folder, `${file.replaceAll(/[/.]/g, '-')}-${index}.ts`),
    code: code!,
  }))
}

it('every TypeScript block of the documentation type-checks', () => {
  const folder = mkdtempSync(join(ROOT, 'test/docs/.blocks-'))
  try {
    const blocks = FILES.flatMap((file) => codeBlocks(file, folder))
    for (const { fileName, code } of blocks) writeFileSync(fileName, code)
    // For imports of `cloudflare:workers`.
    const bindings = join(ROOT, 'examples/worker-configuration.d.ts')
    const faults = typeFaults([...blocks.map(({ fileName }) => fileName), bindings], {
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: { noUnusedLocals: false, typeRoots: [join(ROOT, 'node_modules/@types')] },
      exclude: [],
    })

    expect(blocks.length).toBeGreaterThan(10)
    expect(faults).toEqual([])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

it('every relative link of the documentation leads to a file', () => {
  const dead = FILES.flatMap((file) => {
    const targets = Array.from(
      readFileSync(join(ROOT, file), 'utf8').matchAll(/\]\((?!https?:)([^)#]+)/g),
      ([, path]) => path!,
    )
    return targets
      .filter((path) => !existsSync(join(ROOT, dirname(file), path)))
      .map((path) => `${file}: ${path}`)
  })

  expect(dead).toEqual([])
})

it('every test that SECURITY.md names exists', () => {
  const named = [
    ...readFileSync(join(ROOT, 'SECURITY.md'), 'utf8').matchAll(/\]\((test\/[^)]+)\) "([^"]+)"/g),
  ]
  const gone = named.filter(([, file, name]) => !readFileSync(join(ROOT, file!), 'utf8').includes(name!))

  expect(named.length).toBeGreaterThan(30)
  expect(gone.map(([, file, name]) => `${file}: ${name}`)).toEqual([])
})

it('docs/degradation.md says what the matrix says', () => {
  expect(writtenDegradation()).toBe(renderDegradation())
})

it('the table of SECURITY.md says what the guards’ tests run', () => {
  const { written, rendered } = securityPage()
  expect(written).toBe(rendered)
})

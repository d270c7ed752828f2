/**
 * The documentation is true: its code blocks type-check, its links lead somewhere, what is generated is not stale.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { renderDegradation, writtenDegradation } from '../../scripts/degradation.ts'
import { securityPage } from '../../scripts/guards.ts'

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

/** The `ts` blocks of a file, each as a module of its own beside the tests, so that imports resolve as a user's would. */
function codeBlocks(file: string): CodeBlock[] {
  const blocks = readFileSync(join(ROOT, file), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)
  return Array.from(blocks, ([, code], index) => ({
    fileName: join(ROOT, 'test/docs', `${file.replaceAll(/[/.]/g, '-')}-${index}.ts`),
    code: code!,
  }))
}

it('every TypeScript block of the documentation type-checks', () => {
  const blocks = new Map(FILES.flatMap(codeBlocks).map(({ fileName, code }) => [fileName, code]))
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile).config,
    ts.sys,
    ROOT,
  )
  const host = ts.createCompilerHost(options)
  const { readFile, fileExists } = host
  host.readFile = (name) => blocks.get(name) ?? readFile(name)
  host.fileExists = (name) => blocks.has(name) || fileExists(name)
  const getSourceFile = host.getSourceFile.bind(host)
  host.getSourceFile = (name, ...rest) => {
    const code = blocks.get(name)
    return code === undefined
      ? getSourceFile(name, ...rest)
      : ts.createSourceFile(name, code, ts.ScriptTarget.ES2022)
  }
  // For imports of `cloudflare:workers`.
  const bindings = join(ROOT, 'examples/worker-configuration.d.ts')
  const program = ts.createProgram([...blocks.keys(), bindings], { ...options, noUnusedLocals: false }, host)
  const faults = ts
    .getPreEmitDiagnostics(program)
    .map(({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`)

  expect(blocks.size).toBeGreaterThan(10)
  expect(faults).toEqual([])
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

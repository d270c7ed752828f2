/** The examples of docs/testing.md run as they are, as programs of their own. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const page = readFileSync(join(ROOT, 'docs/testing.md'), 'utf8')
const blocks = Array.from(page.matchAll(/^## (.*)\n[\s\S]*?```ts\n([\s\S]*?)```/gm), ([, title, code]) => ({
  title: title!,
  code: code!,
}))

/** Of this repository, so that `mayfly-mcp` is what was built. */
function run(code: string): Promise<{ readonly exitCode: number | null; readonly stderr: string }> {
  const node = join(ROOT, 'node_modules/.bin/node')
  const program = spawn(node, ['--input-type=module-typescript', '--eval', code], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  program.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  return new Promise((resolve, reject) => {
    program.once('error', reject)
    program.once('close', (exitCode) => resolve({ exitCode, stderr }))
  })
}

it('every TypeScript block is found under its heading', () => {
  expect(blocks.length).toBe(page.match(/```ts\n/g)?.length)
  expect(blocks.length).toBeGreaterThan(2)
})

it.each(blocks)('$title: runs, and its assertions hold', async ({ code }) => {
  expect(code).toContain('assert')

  const { exitCode, stderr } = await run(code)

  expect(stderr).toBe('')
  expect(exitCode).toBe(0)
})

it('an example that is wrong would be noticed', async () => {
  const { exitCode, stderr } = await run(
    blocks[0]!.code.replaceAll("'ada'", "'bob'").replace("'bob'", "'ada'"),
  )

  expect(stderr).toContain('AssertionError')
  expect(exitCode).toBe(1)
})

it('every name that mayfly-mcp/testing exports is on the page', () => {
  const source = readFileSync(join(ROOT, 'src/testing.ts'), 'utf8')
  const names = Array.from(source.matchAll(/^export (?:function|const) (\w+)/gm), ([, name]) => name!)

  const passedOn = Array.from(source.matchAll(/^export \{([^}]*)\}/gm), ([, list]) => list!.split(','))
  const others = passedOn.flat().map((name) => name.replace(/^\s*type |\s/g, ''))

  expect(others).toContain('connect')
  expect([...names, ...others].filter((name) => !page.includes(name))).toEqual([])
})

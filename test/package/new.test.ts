/** `npm run new` of a clone: a project that depends on the tarball, as long as the package is not on npm. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createProject } from '../../scripts/new.ts'
import { type PackedPackage, ROOT, unpackPackage } from './_packed.ts'

let packed: PackedPackage
let folder: string
beforeAll(() => {
  packed = unpackPackage()
  folder = mkdtempSync(join(tmpdir(), 'mayfly-new-test-'))
})
afterAll(() => {
  packed.remove()
  rmSync(folder, { recursive: true, force: true })
})

it('the project has the tarball, and its own copy of it', () => {
  const cli = join(packed.installed, 'dist/deploy/cli.js')
  const code = createProject(packed.tarball, ['shop', '--target', 'node'], { cwd: folder, cli })
  const read = (name: string): string => readFileSync(join(folder, 'shop', name), 'utf8')
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> }

  expect(code).toBe(0)
  expect(dependencies['mayfly-mcp']).toMatch(/^file:mayfly-mcp-\d+\.\d+\.\d+\.tgz$/)
  const name = dependencies['mayfly-mcp']!.replace('file:', '')
  expect(existsSync(join(folder, 'shop', name))).toBe(true)
  // The container installs it, too.
  expect(read('Dockerfile')).toMatch(/COPY \. \.\n[\s\S]*RUN [\s\S]*npm ci/)
  for (const ignored of ['.gitignore', '.dockerignore', '.gcloudignore'])
    expect(read(ignored)).not.toContain('tgz')
})

it.each([[[]], [['--target', 'node']], [['shop']], [['./examples/shop', '--target', 'node']]])(
  'without a folder outside of the clone, it says what to pass: %j',
  (args) => {
    const script = join(ROOT, 'scripts/new.ts')
    const { INIT_CWD: _, ...env } = process.env
    const { status, stderr, stdout } = spawnSync(process.execPath, [script, ...args], {
      cwd: ROOT,
      env,
      encoding: 'utf8',
    })
    expect({ status, stderr, stdout }).toEqual({
      status: 2,
      stderr: 'pass a folder outside of this clone: npm run new -- ../shop --target node\n',
      stdout: '',
    })
  },
)

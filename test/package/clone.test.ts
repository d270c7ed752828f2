/** A new clone, before `npm ci`: the scripts that people type first say in one line what is missing. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

let clone: string
beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), 'mayfly-clone-'))
  for (const path of ['package.json', 'scripts', 'deploy', 'src'])
    cpSync(join(ROOT, path), join(clone, path), { recursive: true })
})
afterAll(() => rmSync(clone, { recursive: true, force: true }))

test.each([
  ['start'],
  ['test'],
  ['run', 'build'],
  ['run', 'new', '--', '../shop', '--target', 'node'],
  ['run', 'mayfly', '--', 'dev'],
  ['run', 'lint'],
  ['run', 'types'],
])('npm %s %s → one line', (...args) => {
  const { status, stdout, stderr } = spawnSync('npm', ['--silent', ...args], { cwd: clone, encoding: 'utf8' })
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: '',
    stderr: 'The packages of this clone are not installed: run npm ci, then this again.\n',
  })
})

/** `--help` of every command, as a person reads it: `screens/help*.txt`. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { expectScreen } from './_screen.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

function help(args: readonly string[], env: NodeJS.ProcessEnv = {}): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['deploy/cli.ts', ...args, '--help'], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
  expect([status, stderr]).toEqual([0, ''])
  return stdout
}

const COMMANDS = [...help([]).matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name!)

test('of all commands, by what one wants to do', async () => {
  const text = help([])
  await expectScreen(text, 'help')
  expect(stripVTControlCharacters(help([], { FORCE_COLOR: '1' }))).toBe(text)
})

test.each([
  ...COMMANDS.map((name) => [name, [name]] as const),
  ['mcpb', ['build', '--target', 'mcpb']] as const,
])('%s: aligned, with examples and a page that exists', async (name, args) => {
  const text = help(args)
  await expectScreen(text, `help-${name}`)
  const [, page = ''] = /\nMore: (.*)\n$/.exec(text) ?? []
  expect(existsSync(`${ROOT}${page}`), page).toBe(true)
  expect(text).toMatch(/^Examples\n {2}mayfly /m)
  expect(stripVTControlCharacters(help(args, { FORCE_COLOR: '1' }))).toBe(text)
})

/** docs/bring-your-own.md: what it says of the apps of frameworks is what test/runtimes/byo/node-apps.test.ts runs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { fromNode } from '../../src/from-node.ts'
import manifest from '../byo/apps/package.json' with { type: 'json' }

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const page = read('docs/bring-your-own.md')

it.each([
  ['Koa', 'callback'],
  ['Fastify', 'routing'],
  ['Nest', 'getHttpAdapter'],
])('%s: the error for the app itself says what the page says to pass', (framework, member) => {
  const [, pass = ''] = new RegExp(`^\\| ${framework} \\| \`([^\`]+)\``, 'm').exec(page) ?? []

  expect(pass).not.toBe('')
  expect(() => fromNode({ [member]: () => {} } as never)).toThrow(`This is ${framework}: pass ${pass}`)
})

it('the overrides and the aliases for Cloudflare are those of the apps under test', () => {
  const aliases = (text: string): string[] => text.match(/^"[^"]+" = ".\/absent.js"$/gm) ?? []

  expect(page).toContain(`"iconv-lite": "${manifest.overrides['iconv-lite']}"`)
  expect(aliases(page).length).toBeGreaterThan(3)
  expect(aliases(page)).toEqual(aliases(read('test/byo/apps/wrangler.toml')))
})

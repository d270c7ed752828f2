/** The server that a page begins with runs as printed, without a secret, and does what the page says. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createStoredKey } from '../../src/keys/admin.ts'
import { secretOf } from '../_secrets.ts'

const ROOT = join(import.meta.dirname, '../..')

interface Expected {
  readonly tool: string
  readonly args?: object
  /** What the user fills in, if the tool asks. */
  readonly form?: object
  /** Of the calling client; `env` is the platform's. */
  readonly auth?: string | object
  readonly env?: object
  readonly text: string
}

const { key: ANN_KEY, ...made } = await createStoredKey({ name: 'ann', scopes: ['orders:write'] })
const stored = { ...made, server: 'shop' }

const TOKEN = secretOf('t')

const PAGES: readonly (readonly [page: string, expected: Expected])[] = [
  [
    'README.md',
    { tool: 'weather', args: { city: 'Rome' }, text: '{"city":"Rome","sky":"clear","celsius":21}' },
  ],
  ['docs/tools.md', { tool: 'convert', args: { celsius: 20 }, text: '{"fahrenheit":68}' }],
  ['docs/mounting.md', { tool: 'where', text: 'none' }],
  ['docs/bring-your-own.md', { tool: 'region', env: { REGION: 'eu' }, text: 'eu' }],
  ['docs/asking.md', { tool: 'book', form: { guests: 4 }, text: 'Booked for 4' }],
  [
    'docs/migrate/xmcp.md',
    {
      tool: 'deploy',
      args: { version: '2.1' },
      form: { sure: true },
      auth: ANN_KEY,
      env: { MAYFLY_API_KEYS: JSON.stringify([stored]) },
      text: 'Deployed 2.1 for ann',
    },
  ],
  [
    'docs/migrate/frontmcp.md',
    {
      tool: 'delete_account',
      args: { userId: 'ben' },
      form: { confirmed: true },
      auth: TOKEN,
      env: { ADMIN_TOKEN: TOKEN },
      text: 'Deleted ben',
    },
  ],
  [
    'docs/migrate/hono-mcp.md',
    { tool: 'get_weather', args: { city: 'Rome' }, text: '22 °C in Rome, for ada' },
  ],
  [
    'docs/migrate/vitemcp.md',
    {
      tool: 'delete_file',
      args: { path: 'a.txt' },
      form: { confirmed: true },
      auth: 'ada-token',
      text: 'Deleted a.txt',
    },
  ],
  [
    'docs/sign-in.md',
    {
      tool: 'whoami',
      auth: { token: 'of-ann', clientId: 'editor', scopes: ['notes'], extra: { name: 'Ann' } },
      text: 'Ann',
    },
  ],
  ['docs/events.md', { tool: 'publish', text: 'published' }],
  [
    'docs/auth.md',
    {
      tool: 'refund',
      auth: ANN_KEY,
      env: { MAYFLY_API_KEYS: JSON.stringify([stored]) },
      text: 'Refunded by ann',
    },
  ],
]

it.each(PAGES)('%s', (page, { tool, args = {}, form, auth, env, text }) => {
  const [, sample = ''] = /^```ts\n([\s\S]*?)^```$/m.exec(readFileSync(join(ROOT, page), 'utf8')) ?? []
  const options = JSON.stringify({ auth, env })
  const answers = form === undefined ? '' : `, answers: accept(${JSON.stringify(form)})`
  const program = `${sample.replace('export default', 'const served =')}
import { accept, connect } from 'mayfly-mcp/testing'
await using client = await connect(served, { ...${options}${answers} })
const { content } = await client.callTool({ name: '${tool}', arguments: ${JSON.stringify(args)} })
console.error(content[0].text)`

  const { MAYFLY_SECRET: _, ...environment } = process.env
  const { stderr } = spawnSync(process.execPath, ['--input-type=module-typescript', '--eval', program], {
    cwd: ROOT,
    env: environment,
    encoding: 'utf8',
    timeout: 20_000,
  })

  expect(stderr).toBe(`${text}\n`)
})

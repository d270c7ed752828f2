/** A server that throws while it loads, or exports no server: what `build` says, and what the built server for Node says. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MayflyProcess, type Output, Project } from './_dev-process.ts'

const FETCH = `export default { fetch: () => new Response('hello') }\n`

test.concurrent.for([
  [
    'node',
    `\nexport default { name: 'a' }`,
    'the default export of server.ts (line 2) has no fetch function',
  ],
  ['cloudflare', 'export default () => {}', 'the default export of server.ts (line 1) has no fetch function'],
  [
    'node',
    `\nthrow new RangeError('no key')\n${FETCH}`,
    'server.ts cannot be loaded on Node: RangeError: no key (server.ts:2:7)',
  ],
  [
    'deno',
    `import './key.ts'\n${FETCH}`,
    'server.ts cannot be loaded on Node: Error: a\\u202e key (key.ts:1:7)',
  ],
  ['lambda', `throw 'no key'\n${FETCH}`, 'server.ts cannot be loaded on Node: Error: no key'],
  ['node', `process.exit(3)\n${FETCH}`, 'server.ts cannot be loaded on Node: it ended the process'],
] as const)('build --target %s of %j → %s', { timeout: 120_000 }, async ([target, source, words]) => {
  await using project = new Project()
  project.write('key.ts', `throw new Error('a\\u202e\\n  key')`)
  project.write('server.ts', source)
  const { code, stdout, stderr } = await new MayflyProcess(['build', '--target', target], project.folder)
    .exited
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^mayfly: [^\n]+\n$/)
  expect(stderr).toContain(words)
  expect(existsSync(join(project.folder, 'dist'))).toBe(false)
})

const MCP_SERVER = 'class MCPServer { fetch() {} }\n'

const NOT_SERVERS: readonly (readonly [source: string, words: string[]])[] = [
  [
    `${MCP_SERVER}export default Promise.resolve(new MCPServer())`,
    ['the default export of server.ts (line 2)', 'it is a promise: write await'],
  ],
  [`export default class Shop {}`, ['server.ts (line 1)', 'it is a class: write export default new']],
  [
    `\nconst app = Object.assign(() => {}, { handle() {}, listen() {} })\nexport default app`,
    ['server.ts (line 3)', 'an app of Express', 'export default fromNode(app,'],
  ],
  [
    `${MCP_SERVER}export const shop = new MCPServer()`,
    ['server.ts has no default export', 'export default shop'],
  ],
  [
    `const app = { listen(_port: number) {} }\napp.listen(3000)`,
    ['server.ts has no default export', 'export default fromNode(app,', 'in place of listen'],
  ],
]

const COMMANDS = [
  ['dev', '--port', '0'],
  ['dev', '--port', '0', '--target', 'deno'],
  ['build'],
  ['build', '--target', 'lambda'],
  ['stdio'],
]

test.concurrent.for(
  COMMANDS.flatMap((args) => NOT_SERVERS.map(([source, words]) => [args, source, words] as const)),
)(
  '%j of %j → one line that says what it is and what to write',
  { timeout: 120_000 },
  async ([args, source, words]) => {
    await using project = new Project()
    project.write('server.ts', source)
    const { code, stdout, stderr } = await new MayflyProcess([...args], project.folder).exited
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^mayfly: [^\n]+\n$/)
    for (const word of words) expect(stderr).toContain(word)
  },
)

test.concurrent.for(NOT_SERVERS)(
  'doctor of %j: an error that says so',
  { timeout: 120_000 },
  async ([source, words]) => {
    await using project = new Project()
    project.write('server.ts', source)
    const { code, stdout } = await new MayflyProcess(['doctor'], project.folder).exited
    expect(code).toBe(1)
    const [line = ''] = stdout.split('\n').filter((one) => one.includes('server.ts'))
    expect(line).toMatch(/^ {2}error {3}/)
    for (const word of words) expect(line).toContain(word)
  },
)

test.concurrent.for([
  ['deno', `Deno.env.get('KEY')\n${FETCH}`],
  ['cloudflare', `const cache = caches.default\n${FETCH}void cache`],
  [
    'cloudflare',
    `import { WorkerEntrypoint } from 'cloudflare:workers'\nexport default class extends WorkerEntrypoint {\n  fetch() { return new Response('hello') } }`,
  ],
] as const)(
  'build --target %s of what only loads there is built: %j',
  { timeout: 120_000 },
  async ([target, source]) => {
    await using project = new Project()
    project.write('server.ts', source)
    const { code, stderr } = await new MayflyProcess(['build', '--target', target], project.folder).exited
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  },
)

const BROKEN = `import { readFileSync } from 'node:fs'
const why: string = process.env.BROKEN ?? ''
if (why === 'error') throw new RangeError('no\\n key ' + readFileSync.name)
if (why === 'text') throw 'no key'
if (why === 'unreadable') throw { toString() { throw new Error('x') } }
if (why === 'own') process.on('uncaughtException', (error) => { console.error('own: ' + error.message); process.exit(4) })
if (why === 'later' || why === 'own') setTimeout(() => { throw new Error('later') }, 200)
${FETCH}`

test('a built Node server says in one line what it throws, with the place in the source', {
  timeout: 120_000,
}, async () => {
  await using project = new Project()
  mkdirSync(join(project.folder, 'src'))
  project.write('src/server.ts', BROKEN)
  expect((await new MayflyProcess(['build', '--target', 'node'], project.folder).exited).code).toBe(0)
  const run = async (BROKEN: string): Promise<Pick<Output, 'code' | 'stderr'>> => {
    const child = spawn(process.execPath, ['dist/node/server.mjs'], {
      cwd: project.folder,
      env: { ...process.env, BROKEN, HOST: undefined, PORT: '0', MAYFLY_LOCAL: '1' },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    const [code] = await once(child, 'close')
    return { code: code as number, stderr }
  }
  const failed = 'cannot load the server: '
  expect(await run('error')).toEqual({
    code: 1,
    stderr: `${failed}RangeError: no key readFileSync (src/server.ts:3:28)\n`,
  })
  expect(await run('text')).toEqual({ code: 1, stderr: `${failed}Error: no key\n` })
  expect(await run('unreadable')).toEqual({ code: 1, stderr: `${failed}an error without a text\n` })
  expect(await run('own')).toEqual({ code: 4, stderr: 'own: later\n' })
  const later = await run('later')
  expect(later.code).toBe(1)
  expect(later.stderr).toMatch(/^uncaught Error: later \(src\/server\.ts:7:\d+\)\nError: later\n {4}at /)
  expect(later.stderr.length).toBeLessThan(2000)
  rmSync(join(project.folder, 'dist/node/server.mjs.map'))
  expect(await run('error')).toEqual({ code: 1, stderr: `${failed}RangeError: no key readFileSync\n` })
})

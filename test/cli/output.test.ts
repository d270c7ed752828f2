/** Every command: an output that cannot be written is a failure, and `--help` is the same everywhere. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { CliError } from '../../deploy/terminal/cli-error.ts'
import { terminal } from '../../deploy/terminal/terminal.ts'
import { Project } from './_dev-process.ts'
import { STEERING } from './_terminal.ts'

const CLI = fileURLToPath(new URL('../../deploy/cli.ts', import.meta.url))
const HELP = spawnSync(process.execPath, [CLI, '--help'], { encoding: 'utf8' }).stdout
/** As the help lists them: a new command is tested, too. */
const COMMANDS = [...HELP.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name!)

const SERVER = `
import { MCPServer } from '${createRequire(import.meta.url).resolve('../../src/index.ts')}'
export default new MCPServer({ id: 'shop', name: 'Shop', version: '1.0.0', tools: {} })
`

interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stderr: string
}

/** With a stdout on a full disk, or one that nobody reads any more. */
async function run(
  args: readonly string[],
  stdout: 'full' | 'closed',
  cwd: string = tmpdir(),
): Promise<Ended> {
  const full = stdout === 'full' ? openSync('/dev/full', 'w') : undefined
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd,
    stdio: ['ignore', full ?? 'pipe', 'pipe'],
    env: { ...process.env, HOME: cwd },
  })
  child.stdout?.destroy()
  let stderr = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const [code, signal] = await once(child, 'close')
  return { code, signal, stderr } as Ended
}

test('the help lists every command', () => {
  expect(COMMANDS).toHaveLength(20)
})

const HELPS = [
  ...COMMANDS.map((name) => [name, '--help']),
  ['--help'],
  ['--version'],
  ['build', '--target', 'mcpb', '--help'],
]

test.concurrent.each(HELPS)('%s %s, stdout on a full disk → 1 and "write error"', async (...args) => {
  const { code, stderr } = await run(args, 'full')
  expect(stderr).toBe('mayfly: write error on stdout (ENOSPC): the disk is full\n')
  expect(code).toBe(1)
})

test.concurrent.each(HELPS)('%s %s, stdout closed → 141, quietly', async (...args) => {
  expect(await run(args, 'closed')).toEqual({ code: 141, signal: null, stderr: '' })
})

test.concurrent.each(COMMANDS)('%s --help --nope → its help', (name) => {
  for (const args of [
    ['--help', '--nope'],
    ['--nope', '-h'],
  ]) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, name, ...args], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(new RegExp(`^mayfly ${name} `))
  }
})

test.concurrent.each(COMMANDS)('help %s → the same as --help', (name) => {
  const helped = ['help', '--help'].map((help) =>
    spawnSync(process.execPath, [CLI, help, name], { encoding: 'utf8' }),
  )
  const own = spawnSync(process.execPath, [CLI, name, '--help'], { encoding: 'utf8' })
  for (const { status, stdout } of helped) expect([status, stdout]).toEqual([0, own.stdout])
})

test.concurrent.each([
  ['biuld', 'there is no command "biuld": did you mean build? See mayfly --help'],
  ['help deev', 'there is no command "deev": did you mean dev? See mayfly --help'],
  ['dve', 'there is no command "dve": did you mean dev? See mayfly --help'],
  ['serve', 'there is no command "serve": did you mean dev? See mayfly --help'],
  ['xyzzy', 'there is no command "xyzzy": see mayfly --help'],
  ['--target node', 'the command comes first, as in mayfly dev --target: see mayfly --help'],
  ['--hlep', 'the command comes first, as in mayfly dev --hlep: did you mean --help? See mayfly --help'],
  ['buid', 'there is no command "buid": did you mean build? See mayfly --help'],
  [
    'build --target nod',
    'there is no target "nod": did you mean node? Pass one of cloudflare, deno, supabase, vercel, vercel-edge, lambda, netlify, netlify-edge, bun, node',
  ],
  [
    'keys lst',
    '"lst" is not an action: did you mean list? Pass create, list or revoke, as in mayfly keys list',
  ],
  ['events', 'no action is given: pass list, show or redeliver, as in mayfly events list'],
  ['tasks', 'no action is given: pass list, show, retry or cancel, as in mayfly tasks list'],
  [
    'tasks canel',
    '"canel" is not an action: did you mean cancel? Pass list, show, retry or cancel, as in mayfly tasks list',
  ],
  [
    'secrets sett A',
    '"sett" is not an action: did you mean set? Pass list, set or remove, as in mayfly secrets list',
  ],
  [
    'check http://a.example/mcp --as curser',
    '"curser" is not a known client: did you mean cursor? Pass claude, chatgpt, vscode, cursor or all',
  ],
  [
    'init shop --with aut',
    'there is no template "aut": did you mean auth? Pass one of auth, sign-in, asking, tasks, events, hono, fromSdk',
  ],
  ['dev --traget node', "Unknown option '--traget': did you mean --target? See mayfly dev --help"],
  ['build --ouput x', "Unknown option '--ouput': did you mean --out? See mayfly build --help"],
])('%s → 2 and the command that was meant', (line, words) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...line.split(' ')], {
    encoding: 'utf8',
  })
  expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: '', stderr: `mayfly: ${words}\n` })
})

describe('a report that cannot be written', () => {
  let url: string
  const server = createServer((_request, response) => response.writeHead(404).end())
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  })
  afterAll(() => server.close())

  test.concurrent.each([
    ['check', (at: string) => ['check', at, '--json']],
    ['check --as', (at: string) => ['check', at, '--as', 'cursor']],
    ['inspect', (at: string) => ['inspect', at]],
    ['add --print', (at: string) => ['add', at, '--client', 'cursor', '--print']],
    ['add', (at: string) => ['add', at, '--client', 'cursor']],
    ['init', () => ['init', 'shop', '--target', 'node']],
    ['build', () => ['build', '--target', 'node', '--json']],
    ['build mcpb', () => ['build', '--target', 'mcpb']],
    ['doctor', () => ['doctor', '--target', 'node', '--json']],
    [
      'registry',
      () => [
        'registry',
        '--url',
        'https://shop.example.com/mcp',
        '--print',
        '--name',
        'com.example/shop',
        '--description',
        'Sells things',
      ],
    ],
    ['dev', () => ['dev', '--target', 'node', '--port', '0']],
    ['preview', () => ['preview', '--target', 'node', '--port', '0']],
    ['deploy', () => ['deploy', '--target', 'vercel', '--dry-run']],
  ] as const)('%s → 1 and "write error"', async (_name, argsFor) => {
    await using project = new Project()
    project.write('package.json', '{ "name": "shop", "type": "module" }')
    project.write('server.ts', SERVER)
    const { code, stderr } = await run(argsFor(url), 'full', project.folder)
    expect(stderr).toMatch(/write error on stdout \(ENOSPC\): the disk is full\n$/)
    expect(code).toBe(1)
  })
})

test('what doctor quotes of a server cannot steer a terminal', async () => {
  await using project = new Project()
  project.write('server.ts', `throw new TypeError('a\\u001b[2J\\u202e\\u200b\\u{e0041}')`)
  for (const more of [[], ['--json']]) {
    const { stdout } = spawnSync(process.execPath, [CLI, 'doctor', '--target', 'node', ...more], {
      cwd: project.folder,
      encoding: 'utf8',
    })
    expect(stdout).toContain('cannot be loaded on Node: TypeError: a')
    expect(stdout).not.toMatch(STEERING)
    expect(stdout).not.toMatch(/\u{e0041}/u)
  }
})

describe('a message', () => {
  const written = (act: () => void): string => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    try {
      act()
      return write.mock.calls.map(([text]) => String(text)).join('')
    } finally {
      write.mockRestore()
    }
  }

  test.each(['note', 'warn', 'warnOnce', 'redraw'] as const)('%s is one line, whatever it quotes', (kind) => {
    const text = written(() => terminal[kind](`a\nmayfly: b\r\u001b[2J${kind}`))
    written(() => terminal.redraw(''))
    expect(text.slice(text.startsWith('\r') ? 4 : 0)).toMatch(
      /^(?:mayfly: )?a\\u000amayfly: b\\u000d\\u001b\[2J\w+\n?$/,
    )
  })

  test('an error has the lines that it was given', () => {
    expect(written(() => terminal.fail(new CliError(['a\nb', 'c'])))).toBe('mayfly: a\\u000ab\nc\n')
    expect(written(() => terminal.fail(new Error('a\nb')))).toBe('mayfly: a\\u000ab\n')
  })
})

/** `mayfly add`: what it writes into clients' files, what it leaves alone, and what it refuses. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse as parseToml } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { CLIENTS } from '../../deploy/add/clients.ts'
import { connectSnippets } from '../../src/http/connect-snippets.ts'
import { MayflyProcess, type Output, Project } from './_dev-process.ts'

const URL = 'https://shop.example.com/mcp'
const CLI = fileURLToPath(import.meta.resolve('../../deploy/cli.ts'))

/** A home folder and a project in it. */
class Home extends Project {
  readonly project = join(this.folder, 'work')

  constructor() {
    super()
    mkdirSync(this.project)
  }

  /** Writes a file of the project, or with `~/` of the home folder. */
  put(path: string, text: string): string {
    const file = this.path(path)
    mkdirSync(dirname(file), { recursive: true })
    this.write(file.slice(this.folder.length + 1), text)
    return file
  }

  read(path: string): string {
    return readFileSync(this.path(path), 'utf8')
  }

  path(path: string): string {
    return path.startsWith('~/') ? join(this.folder, path.slice(2)) : join(this.project, path)
  }

  readonly #env = { HOME: this.folder, XDG_CONFIG_HOME: '', CODEX_HOME: '' }

  add(...args: string[]): Promise<Output> {
    return new MayflyProcess(['add', ...args], this.project, undefined, this.#env).exited
  }

  /** In a shell where `command`, such as one of `ulimit`, has been run before. */
  addAfter(command: string, ...args: string[]): SpawnSyncReturns<string> {
    return spawnSync('sh', ['-c', `${command}; exec "$@"`, 'sh', process.execPath, CLI, 'add', ...args], {
      cwd: this.project,
      env: { ...process.env, ...this.#env },
      encoding: 'utf8',
    })
  }
}

describe('a client without a file', () => {
  test.each([
    ['claude-code', '.mcp.json', { mcpServers: { shop: { type: 'http', url: URL } } }],
    ['cursor', '.cursor/mcp.json', { mcpServers: { shop: { url: URL } } }],
    ['vscode', '.vscode/mcp.json', { servers: { shop: { type: 'http', url: URL } } }],
    ['windsurf', '~/.codeium/windsurf/mcp_config.json', { mcpServers: { shop: { serverUrl: URL } } }],
    ['gemini-cli', '.gemini/settings.json', { mcpServers: { shop: { httpUrl: URL } } }],
    ['opencode', 'opencode.json', { mcp: { shop: { type: 'remote', url: URL, enabled: true } } }],
    ...(process.platform === 'linux'
      ? ([['zed', '~/.config/zed/settings.json', { context_servers: { shop: { url: URL } } }]] as const)
      : []),
  ] as const)('%s: %s', async (client, path, wanted) => {
    await using home = new Home()

    const { code, stdout, stderr } = await home.add(URL, '--client', client)

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/: wrote "shop" into .+\n$/)
    expect(JSON.parse(home.read(path))).toEqual(wanted)
  })

  test('codex: its TOML, in the home folder', async () => {
    await using home = new Home()

    const { code } = await home.add(URL, '--client', 'codex')

    expect(code).toBe(0)
    expect(parseToml(home.read('~/.codex/config.toml'))).toEqual({ mcp_servers: { shop: { url: URL } } })
  })

  test('claude-desktop: a public server by its menu, one on this machine through a bridge', async () => {
    await using home = new Home()

    const menu = await home.add(URL, '--client', 'claude-desktop')
    const local = await home.add('http://localhost:3000/mcp', '--client', 'claude-desktop', '--print')

    expect(menu).toMatchObject({ code: 0, stdout: expect.stringContaining('Settings > Connectors') })
    expect(JSON.parse(local.stdout)).toEqual({
      mcpServers: {
        localhost: { command: 'npx', args: ['-y', 'mcp-remote', 'http://localhost:3000/mcp'] },
      },
    })
    expect(readdirSync(home.project)).toEqual([])
  })

  test.each([
    'https://10.1.2.3/mcp',
    'https://nas.local/mcp',
    'https://intranet/mcp',
    'https://[fd00::1]/mcp',
  ])('claude-desktop: %s, which Connectors do not reach, through a bridge', async (url) => {
    await using home = new Home()

    const { stdout } = await home.add(url, '--client', 'claude-desktop', '--name', 'nas', '--print')

    expect(JSON.parse(stdout)).toEqual({
      mcpServers: { nas: { command: 'npx', args: ['-y', 'mcp-remote', url] } },
    })
  })

  test('a query is written as it is, with a note', async () => {
    await using home = new Home()

    const { stderr } = await home.add(`${URL}?key=1`, '--client', 'cursor')

    expect(stderr).toContain('if it contains a secret, do not share the file')
    expect((await home.add(URL, '--client', 'cursor')).stderr).not.toContain('a secret')
  })

  test('claude-code for the user: its own command, since it rewrites that file itself', async () => {
    await using home = new Home()

    const { stdout } = await home.add(
      URL,
      '--client',
      'claude-code',
      '--scope',
      'user',
      '--bearer-env',
      'TOKEN',
    )

    expect(stdout).toBe(
      `claude mcp add --scope user --transport http shop ${URL} --header 'Authorization: Bearer \${TOKEN}'\n`,
    )
    expect(existsSync(home.path('~/.claude.json'))).toBe(false)
  })
})

test('what the page of the server shows is what is written', async () => {
  await using home = new Home()
  const shown = (client: string) =>
    connectSnippets('shop', URL)
      .find((snippet) => snippet.client === client)!
      .blocks.at(-1)!.code
  for (const [id, client] of [
    ['cursor', 'Cursor'],
    ['vscode', 'VS Code'],
    ['windsurf', 'Windsurf'],
    ['claude-code', 'Other clients'],
  ] as const) {
    const { stdout } = await home.add(URL, '--client', id, '--print')
    expect(stdout, id).toBe(`${shown(client)}\n`)
  }
})

describe('a URL in which a client would put the value of a variable', () => {
  const path = `/mcp/$API_TOKEN?x=\${env:API_TOKEN}&y=\${API_TOKEN}&z={env:API_TOKEN}`
  const literal = '/mcp/%24API_TOKEN?x=%24%7Benv:API_TOKEN%7D&y=%24%7BAPI_TOKEN%7D&z=%7Benv:API_TOKEN%7D'

  test.each(Object.keys(CLIENTS))('%s gets it literally', async (client) => {
    await using home = new Home()

    const print = await home.add(`${URL.slice(0, -4)}${path}`, '--client', client, '--print')
    const local = await home.add(`http://localhost:3000${path}`, '--client', client, '--print')

    for (const { code, stdout } of [print, local]) {
      expect(code).toBe(0)
      expect(stdout).toContain(literal)
      expect(stdout).not.toMatch(/\$|\{env/)
    }
  })

  test('also where the client has its own way', async () => {
    await using home = new Home()
    const args = ['--client', 'claude-code', '--scope', 'user']
    const { stdout } = await home.add(`${URL.slice(0, -4)}${path}`, ...args)
    expect(stdout).toContain(literal)
  })

  test.each([`https://\${API_TOKEN}.shop.example/mcp`, 'https://$API_TOKEN.shop.example/mcp'])(
    '%s is refused: a host cannot be written otherwise',
    async (url) => {
      await using home = new Home()
      const { code, stderr } = await home.add(url, '--client', 'cursor')
      expect({ code, lines: stderr.trim().split('\n').length }).toEqual({ code: 2, lines: 1 })
      expect(stderr).toMatch(/the host of the URL/)
      expect(readdirSync(home.project)).toEqual([])
    },
  )
})

describe('headers name their variables, and no secret is written', () => {
  const HEADERS = ['--bearer-env', 'SHOP_TOKEN', '--header-env', 'X-Tenant=SHOP_TENANT']
  test.each([
    ['claude-code', { Authorization: `Bearer \${SHOP_TOKEN}`, 'X-Tenant': `\${SHOP_TENANT}` }],
    ['cursor', { Authorization: `Bearer \${env:SHOP_TOKEN}`, 'X-Tenant': `\${env:SHOP_TENANT}` }],
    ['windsurf', { Authorization: `Bearer \${env:SHOP_TOKEN}`, 'X-Tenant': `\${env:SHOP_TENANT}` }],
    ['gemini-cli', { Authorization: `Bearer \${SHOP_TOKEN}`, 'X-Tenant': `\${SHOP_TENANT}` }],
    ['opencode', { Authorization: 'Bearer {env:SHOP_TOKEN}', 'X-Tenant': '{env:SHOP_TENANT}' }],
  ])('%s', async (client, headers) => {
    await using home = new Home()

    const { stdout } = await home.add(URL, '--client', client, '--print', ...HEADERS)

    const [servers] = Object.values(JSON.parse(stdout) as Record<string, Record<string, object>>)
    expect(servers!.shop).toMatchObject({ headers })
  })

  test('vscode asks for them, beside what it asks for already', async () => {
    await using home = new Home()
    home.put(
      '.vscode/mcp.json',
      '{\n\t"inputs": [\n\t\t{ "id": "SHOP_TENANT", "type": "promptString" }\n\t]\n}\n',
    )

    const { code } = await home.add(URL, '--client', 'vscode', ...HEADERS)

    expect(code).toBe(0)
    expect(JSON.parse(home.read('.vscode/mcp.json'))).toEqual({
      inputs: [
        { id: 'SHOP_TENANT', type: 'promptString' },
        { type: 'promptString', id: 'SHOP_TOKEN', description: 'SHOP_TOKEN', password: true },
      ],
      servers: {
        shop: {
          type: 'http',
          url: URL,
          headers: { Authorization: `Bearer \${input:SHOP_TOKEN}`, 'X-Tenant': `\${input:SHOP_TENANT}` },
        },
      },
    })
  })

  test('codex', async () => {
    await using home = new Home()

    const { stdout, stderr } = await home.add(URL, '--client', 'codex', '--print', ...HEADERS)

    expect(parseToml(stdout)).toEqual({
      mcp_servers: {
        shop: {
          url: URL,
          bearer_token_env_var: 'SHOP_TOKEN',
          env_http_headers: { 'X-Tenant': 'SHOP_TENANT' },
        },
      },
    })
    expect(stderr).toContain('config.toml')
  })

  test('zed and claude-desktop cannot: nothing is written, exit code 1', async () => {
    await using home = new Home()

    const { code, stdout, stderr } = await home.add(URL, '--client', 'zed,claude-desktop', ...HEADERS)

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(
      /^mayfly: Zed cannot read a header .+\nmayfly: Claude Desktop cannot read a header .+\n$/,
    )
  })

  test('a secret in place of a variable is refused and not repeated', async () => {
    await using home = new Home()

    const { code, stderr } = await home.add(URL, '--client', 'cursor', '--bearer-env', 'sk-12345')

    expect(code).toBe(2)
    expect(stderr).toBe('mayfly: --bearer-env takes the name of an environment variable, not the secret\n')
  })
})

describe('a file that is there', () => {
  const COMMENTED = `// Mine.
{
    // The old one.
    "servers": {
        "old": { "type": "http", "url": "https://old.example/mcp" }, // keep

        /* Off. */
        "other": {
            "command": "npx", // with a comment
            "args": ["-y"],
        }, // and after
    },
    "unknown": [1, 2.50, "\\u00e4"],
}
`

  test('keeps comments, commas, indentation, unknown keys, and its other servers', async () => {
    await using home = new Home()
    home.put('.vscode/mcp.json', COMMENTED)

    const { code } = await home.add(URL, '--client', 'vscode')

    expect(code).toBe(0)
    expect(home.read('.vscode/mcp.json')).toBe(
      COMMENTED.replace(
        '}, // and after\n',
        `}, // and after
        "shop": {
            "type": "http",
            "url": "${URL}"
        },
`,
      ),
    )
  })

  test.each([
    [
      'no servers yet',
      '{\n\t"a": 1 // one\n}',
      '{\n\t"a": 1, // one\n\t"mcpServers": {\n\t\t"shop": {\n\t\t\t"url": "URL"\n\t\t}\n\t}\n}',
    ],
    [
      'one line',
      '{"mcpServers":{"a":{"url":"x"}}}',
      '{"mcpServers":{"a":{"url":"x"}, "shop": {"url":"URL"}}}',
    ],
    [
      'no members',
      '{\r\n  "mcpServers": { /* none */ }\r\n}\r\n',
      '{\r\n  "mcpServers": { /* none */\r\n    "shop": {\r\n      "url": "URL"\r\n    }\r\n  }\r\n}\r\n',
    ],
    [
      'a byte order mark',
      '\ufeff{}',
      '\ufeff{\n  "mcpServers": {\n    "shop": {\n      "url": "URL"\n    }\n  }\n}',
    ],
    [
      'a comma within a comment after the last server',
      '{\n  "mcpServers": {\n    "a": {} // one, two\n  }\n}',
      '{\n  "mcpServers": {\n    "a": {}, // one, two\n    "shop": {\n      "url": "URL"\n    }\n  }\n}',
    ],
    [
      'lines that end in CR alone',
      '{\r "mcpServers": {\r  "a": {} // one,\r , // two\r }\r}',
      '{\r "mcpServers": {\r  "a": {} // one,\r , "shop": {"url":"URL"} // two\r }\r}',
    ],
    ['nothing', '\n', '{\n  "mcpServers": {\n    "shop": {\n      "url": "URL"\n    }\n  }\n}\n'],
  ])('with %s', async (_what, before, after) => {
    await using home = new Home()
    home.put('.cursor/mcp.json', before)

    const { code } = await home.add(URL, '--client', 'cursor')

    expect(code).toBe(0)
    expect(home.read('.cursor/mcp.json')).toBe(after.replace('URL', URL))
  })

  test('TOML: a table at the end, nothing else changed', async () => {
    await using home = new Home()
    const before = '# Mine.\nmodel = "o9" # here\n\n[mcp_servers.old]\ncommand = "npx"\n[tui]\ntheme = "x"'
    home.put('~/.codex/config.toml', before)

    const { code } = await home.add(URL, '--client', 'codex')

    expect(code).toBe(0)
    expect(home.read('~/.codex/config.toml')).toBe(`${before}\n\n[mcp_servers.shop]\nurl = "${URL}"\n`)
  })

  test('a link is followed, and modes are kept; nothing is left beside the file', async () => {
    await using home = new Home()
    const real = home.put('~/dotfiles/mcp.json', '{}')
    chmodSync(real, 0o600)
    mkdirSync(home.path('~/.cursor'))
    symlinkSync(real, home.path('~/.cursor/mcp.json'))

    const { code } = await home.add(URL, '--client', 'cursor', '--scope', 'user')

    expect(code).toBe(0)
    expect(readFileSync(real, 'utf8')).toContain(URL)
    expect(statSync(real).mode & 0o777).toBe(0o600)
    expect(readdirSync(dirname(real))).toEqual(['mcp.json'])
    expect(readdirSync(home.path('~/.cursor'))).toEqual(['mcp.json'])
  })

  test('a disk that takes a part only: the file is as it was, and nothing is left beside it', async () => {
    await using home = new Home()
    const before = JSON.stringify({ long: 'x'.repeat(20_000) })
    home.put('.cursor/mcp.json', before)

    const { status, stderr } = home.addAfter('ulimit -f 8', URL, '--client', 'cursor')

    expect(status).toBe(1)
    expect(stderr).toMatch(/^mayfly: cannot write \.cursor\/mcp\.json.*\n$/)
    expect(home.read('.cursor/mcp.json')).toBe(before)
    expect(readdirSync(home.path('.cursor'))).toEqual(['mcp.json'])
  })

  test('the umask cuts the mode of a new file alone', async () => {
    await using home = new Home()
    chmodSync(home.put('.cursor/mcp.json', '{}'), 0o664)

    const { status } = home.addAfter('umask 077', URL, '--client', 'cursor', '--client', 'claude-code')

    const modeOf = (path: string) => statSync(home.path(path)).mode & 0o777
    expect(status).toBe(0)
    expect({ old: modeOf('.cursor/mcp.json'), new: modeOf('.mcp.json') }).toEqual({ old: 0o664, new: 0o600 })
  })

  test.runIf(process.getuid?.() === 0)('root leaves a file to its owner', async () => {
    await using home = new Home()
    chownSync(home.put('.cursor/mcp.json', '{}'), 12_345, 54_321)

    const { code } = await home.add(URL, '--client', 'cursor')

    expect(code).toBe(0)
    expect(statSync(home.path('.cursor/mcp.json'))).toMatchObject({ uid: 12_345, gid: 54_321 })
  })

  test('--dry-run and --print write nothing', async () => {
    await using home = new Home()
    home.put('.cursor/mcp.json', '{}')

    const dry = await home.add(URL, '--client', 'cursor', '--dry-run')
    const print = await home.add(URL, '--client', 'cursor', '--print')

    expect(dry.stderr).toContain('would write .cursor/mcp.json')
    expect(dry.stdout).toBe(print.stdout)
    expect(home.read('.cursor/mcp.json')).toBe('{}')
  })
})

describe('what cannot be changed is left alone, and printed', () => {
  test.each([
    ['{ "mcpServers": ', 'is not JSON (line 1)'],
    ['{\n  "a": 1\n  "b": 2\n}', 'is not JSON (line 3)'],
    ['[]', 'does not hold a JSON object'],
    ['{ "mcpServers": [] }', 'has a "mcpServers" that is not an object'],
    ['{ "mcpServers": {}, "mcpServers": {} }', 'has "mcpServers" twice'],
    [`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, 'is nested more than 500 levels deep'],
    ['{ "a": "\ud800" }'.replace('\ud800', '\u0000'), 'is not JSON (line 1)'],
  ])('%.60j', async (before, why) => {
    await using home = new Home()
    home.put('.cursor/mcp.json', before)

    const { code, stdout, stderr } = await home.add(URL, '--client', 'cursor')

    expect(code).toBe(1)
    expect(stderr).toBe(`mayfly: .cursor/mcp.json ${why}; this belongs there:\n`)
    expect(JSON.parse(stdout)).toEqual({ mcpServers: { shop: { url: URL } } })
    expect(home.read('.cursor/mcp.json')).toBe(before)
  })

  test.each([
    ['model = ', /is not TOML \(line 1\)/],
    ['mcp_servers = { old = { url = "x" } }', /keeps "mcp_servers" in a form that cannot be added to/],
  ])('TOML: %s', async (before, why) => {
    await using home = new Home()
    home.put('~/.codex/config.toml', before)

    const { code, stdout, stderr } = await home.add(URL, '--client', 'codex')

    expect(code).toBe(1)
    expect(stderr).toMatch(why)
    expect(parseToml(stdout)).toEqual({ mcp_servers: { shop: { url: URL } } })
    expect(home.read('~/.codex/config.toml')).toBe(before)
  })

  test('a folder, a link to nothing, a file in another encoding', async () => {
    await using home = new Home()
    mkdirSync(home.path('.cursor/mcp.json'), { recursive: true })
    symlinkSync('nowhere.json', home.path('.mcp.json'))
    home.put('opencode.json', '')
    writeFileSync(home.path('opencode.json'), new Uint8Array([0x7b, 0xff, 0x7d]))

    const { code, stderr } = await home.add(URL, '--client', 'cursor,claude-code,opencode')

    expect(code).toBe(1)
    expect(stderr.split('\n').slice(0, 3)).toEqual([
      'mayfly: .cursor/mcp.json is not a file; this belongs there:',
      'mayfly: .mcp.json is a link to a file that does not exist; this belongs there:',
      'mayfly: opencode.json is not UTF-8 text; this belongs there:',
    ])
  })

  test('one client that fails does not stop the next', async () => {
    await using home = new Home()
    home.put('.cursor/mcp.json', '[]')

    const { code } = await home.add(URL, '--client', 'cursor', '--client', 'claude-code')

    expect(code).toBe(1)
    expect(home.read('.mcp.json')).toContain(URL)
  })
})

test('a read-only file is left alone, also by root, and the entry is printed', async () => {
  await using home = new Home()
  const file = home.put('.cursor/mcp.json', '{}')
  chmodSync(file, 0o444)

  const { code, stdout, stderr } = await home.add(URL, '--client', 'cursor', '--force')

  expect(code).toBe(1)
  expect(stderr).toContain('is read-only: make it writable; this belongs there:')
  expect(stdout).toContain(URL)
  expect(home.read('.cursor/mcp.json')).toBe('{}')
  expect(readdirSync(dirname(file))).toEqual(['mcp.json'])
})

test('36 at once: each says that it wrote, and has', async () => {
  await using home = new Home()
  home.put('.cursor/mcp.json', '{}')
  const names = Array.from({ length: 36 }, (_, at) => `shop-${at}`)

  const ended = await Promise.all(names.map((name) => home.add(URL, '--client', 'cursor', '--name', name)))

  for (const [at, { code, stdout }] of ended.entries())
    expect([code, stdout]).toEqual([0, expect.stringContaining(`wrote "shop-${at}"`)])
  const { mcpServers } = JSON.parse(home.read('.cursor/mcp.json')) as { mcpServers: object }
  expect(Object.keys(mcpServers).sort()).toEqual(names.sort())
  expect(readdirSync(dirname(home.path('.cursor/mcp.json')))).toEqual(['mcp.json'])
})

test('a lock that a killed process left behind is removed', async () => {
  await using home = new Home()
  const lock = home.put('.cursor/mcp.json.mayfly-lock', 'of another process')
  home.put('.cursor/mcp.json', '{}')
  utimesSync(lock, new Date(0), new Date(0))

  const { code } = await home.add(URL, '--client', 'cursor')

  expect(code).toBe(0)
  expect(readdirSync(dirname(lock))).toEqual(['mcp.json'])
})

describe('a name that is taken', () => {
  const OTHER = '{ "mcpServers": { "shop": { "url": "https://other.example/mcp" }, "z": {} } }'

  test('by another URL: refused, and replaced with --force', async () => {
    await using home = new Home()
    home.put('.cursor/mcp.json', OTHER)

    const refused = await home.add(URL, '--client', 'cursor')
    const before = home.read('.cursor/mcp.json')
    const forced = await home.add(URL, '--client', 'cursor', '--force')

    expect(refused).toMatchObject({
      code: 1,
      stderr:
        'mayfly: .cursor/mcp.json already has "shop" for another server: pass another --name, or --force to replace it\n',
    })
    expect(before).toBe(OTHER)
    expect(forced.code).toBe(0)
    expect(JSON.parse(home.read('.cursor/mcp.json'))).toEqual({ mcpServers: { shop: { url: URL }, z: {} } })
  })

  test.each([
    ['null', '{ "mcpServers": { "shop": null } }'],
    [
      'a server that only mentions this URL',
      `{ "mcpServers": { "shop": { "url": "https://x.example", "docs": "${URL}" } } }`,
    ],
  ])('by %s: refused, too', async (_what, before) => {
    await using home = new Home()
    home.put('.cursor/mcp.json', before)

    const refused = await home.add(URL, '--client', 'cursor')

    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^mayfly: [^\n]*already[^\n]*\n$/),
    })
    expect(home.read('.cursor/mcp.json')).toBe(before)
  })

  test('by this URL: kept with what was added to it', async () => {
    await using home = new Home()
    const before = `{ "mcpServers": { "shop": { "url": "${URL}", "disabled": true } } }`
    home.put('.cursor/mcp.json', before)

    const same = await home.add(URL, '--client', 'cursor')
    const headers = await home.add(URL, '--client', 'cursor', '--bearer-env', 'TOKEN')

    expect(same).toMatchObject({ code: 0, stderr: expect.stringContaining('nothing to do') })
    expect(headers).toMatchObject({ code: 1, stderr: expect.stringContaining('with other settings') })
    expect(home.read('.cursor/mcp.json')).toBe(before)
  })

  test('TOML: numbers that JavaScript cannot hold, and very many comments', { timeout: 20_000 }, async () => {
    await using home = new Home()
    const above = `limit = 9223372036854775807\n${'# a\n'.repeat(200_000)}[tui]\ntheme = "x"\n`
    home.put('~/.codex/config.toml', `${above}[mcp_servers.shop]\nurl = "u"\nlimit = 9223372036854775807\n`)

    const refused = await home.add(URL, '--client', 'codex')
    const { code } = await home.add(URL, '--client', 'codex', '--force')

    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('for another server') })
    expect(code).toBe(0)
    expect(home.read('~/.codex/config.toml')).toBe(`${above}\n[mcp_servers.shop]\nurl = "${URL}"\n`)
  })

  const SHOP = '[mcp_servers."shop"]\ncommand = "npx"\n[mcp_servers.shop.env]\nA = "1"\n'
  const B = '# About b.\n[mcp_servers.b]\nurl = "u"\n'
  test.each([
    [`a = 1\n${SHOP}\n${B}`, `a = 1\n\n${B}`],
    [`a = 1\n${B}${SHOP}\n# The end.\n`, `a = 1\n${B}\n# The end.\n`],
  ])('TOML: the table and those in it are replaced, the lines of others stay: %j', async (before, kept) => {
    await using home = new Home()
    home.put('~/.codex/config.toml', before)

    const { code } = await home.add(URL, '--client', 'codex', '--force')

    expect(code).toBe(0)
    expect(home.read('~/.codex/config.toml')).toBe(`${kept}\n[mcp_servers.shop]\nurl = "${URL}"\n`)
  })
})

describe('the command line', () => {
  test.each([
    [[], /which server\?/],
    [[URL], /which client\?/],
    [[URL, '--client', 'emacs'], /there is no client "emacs": pass one of claude-code, cursor/],
    [['ftp://x', '--client', 'cursor'], /must begin with http/],
    [['https://u:p@x.example', '--client', 'cursor'], /must not contain a password/],
    [[URL, '--client', 'cursor', '--name', '__proto__'], /cannot be the name of a server/],
    [[URL, '--client', 'windsurf', '--scope', 'project'], /Windsurf has no file for --scope project/],
    [[URL, '--client', 'cursor', '--header-env', 'X-A'], /is not Name=VARIABLE/],
  ])('%j is refused with exit code 2', async (args, why) => {
    await using home = new Home()
    const { code, stderr } = await home.add(...args)
    expect({ code, lines: stderr.trim().split('\n').length }).toEqual({ code: 2, lines: 1 })
    expect(stderr).toMatch(why)
  })

  test.each([
    ['https://mcp.example.com', 'example'],
    ['https://www.shop.dev/mcp', 'shop'],
    ['http://127.0.0.1:3000/mcp', 'mcp-server'],
    ['http://localhost:3000/mcp', 'localhost'],
  ])('%s is called %s', async (url, name) => {
    await using home = new Home()
    const { stdout } = await home.add(url, '--client', 'cursor', '--print')
    const { mcpServers } = JSON.parse(stdout) as { mcpServers: object }
    expect(Object.keys(mcpServers)).toEqual([name])
  })

  test.each([
    ['http://127.0.0.1:3000/mcp', 'shop'],
    ['http://localhost:3000/mcp', 'shop'],
    ['http://[::1]:3000/mcp', 'shop'],
    ['http://hats.localhost:3000/mcp', 'hats'],
    ['https://mcp.example.com', 'example'],
  ])('in the project of a shop, %s is called %s', async (url, name) => {
    await using home = new Home()
    home.put('package.json', '{ "name": "@acme/Shop" }')
    const { stdout } = await home.add(url, '--client', 'claude-code', '--print')
    expect(Object.keys((JSON.parse(stdout) as { mcpServers: object }).mcpServers)).toEqual([name])
  })

  test('every client says where its form is documented', () => {
    for (const { source, checked } of Object.values(CLIENTS)) {
      expect(source).toMatch(/^https:\/\//)
      expect(checked).toMatch(/^\d{4}-\d\d-\d\d$/)
    }
  })
})

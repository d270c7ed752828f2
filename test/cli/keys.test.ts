/** `mayfly keys`, spawned for real: in a file, in `.env`, and in the stores of a server. */
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { describe, expect, test } from 'vitest'
import { fileKeyStore } from '../../adapters/node.ts'
import { apiKeys, environmentKeyStore, type KeyStore } from '../../src/keys.ts'
import { createServer, modernRequest } from '../unit/_client.ts'
import { MayflyProcess, type Output, Project } from './_dev-process.ts'
import { STEERING } from './_terminal.ts'

const KEY = /^mk_[0-9A-Za-z]{12}_[0-9A-Za-z]{36}\n$/

function run(project: Project, args: string[], env: NodeJS.ProcessEnv = {}): Promise<Output> {
  return new MayflyProcess(['keys', ...args], project.folder, undefined, env).exited
}

/** The status with which a server answers a key, and what it knows of the caller. */
async function statusOf(
  key: string,
  store: KeyStore | ((env: object) => KeyStore),
  env: object = {},
): Promise<number> {
  const server = createServer({ auth: apiKeys({ store }), onError() {} })
  const headers = { authorization: `Bearer ${key.trim()}` }
  return (await server.fetch(modernRequest('server/discover', {}, { headers }), env)).status
}

function withServer(project: Project, store: string, imports: string): void {
  project.linkPackage()
  project.write(
    'server.ts',
    `import { MCPServer } from 'mayfly-mcp'
import { apiKeys, createMemoryKeyStore, environmentKeyStore } from 'mayfly-mcp/keys'
${imports}
const stores = [createMemoryKeyStore, environmentKeyStore]
export default new MCPServer({ id: 'test', name: 'a', version: '1', log: false, auth: apiKeys({ store: ${store} }), instructions: String(stores.length) })`,
  )
}

describe('mayfly keys', { timeout: 120_000 }, () => {
  test.concurrent.each([
    [[], /no action is given: pass create, list or revoke/],
    [['make'], /"make" is not an action: pass create, list or revoke/],
    [['create'], /what is its name\?/],
    [['create', '', '--file', 'k', '--server', 'test'], /"name" of up to 100 characters/],
    [['create', 'a\u001b[31m', '--file', 'k', '--server', 'test'], /"name" of up to 100 characters/],
    [['create', 'ci', '--scopes', 'a b', '--file', 'k', '--server', 'test'], /"scopes"/],
    [['create', 'ci', '--expires', '90'], /not a time for --expires/],
    [['create', 'ci', '--expires', '0d'], /not a time for --expires/],
    [['create', 'ci', '--expires', '2020-01-01'], /not a time for --expires/],
    [['create', 'ci', '--expires', '2999-02-29'], /not a time for --expires/],
    [['create', 'ci', '--expires', '2999-02-31'], /not a time for --expires/],
    [['create', 'ci', '--all'], /--all is only for mayfly keys list/],
    [['list', '--scopes', 'a'], /--scopes is only for mayfly keys create/],
    [['list', 'a.ts', 'b.ts'], /only one entry/],
    [['list', 'a.ts', '--file', 'k'], /--file takes no entry/],
    [['list', '--file', 'k', '--kv', 'KEYS'], /--file or --kv, not both/],
    [['list', '--local'], /--local is only for --kv/],
    [['create', 'ci', '--file', 'k'], /which server is the key for\? .*--file … --server <id>/],
    [['create', 'ci', '--kv', 'K', '--server', ''], /which server is the key for\?/],
    [['list', '--server', 'shop'], /--server is only for --file and --kv/],
    [['list', '--stage', 'a b'], /--stage must be a name of 1 to 20/],
    [['list', '--file', 'k', '--stage', 'staging'], /--stage needs --server/],
    [['list', '--file', ''], /--file is empty/],
    [['revoke'], /which key\?/],
    [['revoke', ''], /which key\?/],
    [['revoke', 'mk_4fKq9ZsT1bX'], /not the id of a key/],
    [['list', '--key', 'x'], /Unknown option '--key'/],
  ] as const)('%j → exit code 2 and one line', async (args, message) => {
    await using project = new Project()
    const { code, stdout, stderr } = await run(project, [...args])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
    expect(stderr.trim()).not.toContain('\n')
    expect(stderr).not.toMatch(STEERING)
  })

  test('in a file: made, listed and revoked; the key is on stdout once, and nowhere else [keys.shown-once]', async () => {
    await using project = new Project()
    const file = join(project.folder, 'keys.json')
    const options = ['--scopes', 'orders:read,orders:write', '--expires', '90d', '--owner', 'ann']
    const made = await run(project, ['create', 'ci', '--file', 'keys.json', '--server', 'test', ...options])
    expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(KEY)])
    const key = made.stdout.trim()
    const id = key.slice(0, 15)
    expect(made.stderr).toContain(`made ${id} for "ci"`)
    const secret = key.slice(16)
    expect(made.stderr + readFileSync(file, 'utf8')).not.toContain(secret.slice(0, 8))
    expect(await statusOf(key, fileKeyStore(file))).toBe(200)

    const listed = await run(project, ['list', '--file', 'keys.json'])
    expect(listed.stdout).toMatch(
      new RegExp(`${id} +ci \\(ann\\) +active +orders:read orders:write +20\\d\\d-\\d\\d-\\d\\d `),
    )
    const json = JSON.parse((await run(project, ['list', '--file', 'keys.json', '--json'])).stdout)
    expect(json.keys).toEqual([
      expect.objectContaining({
        id: id.slice(3),
        name: 'ci',
        owner: 'ann',
        scopes: ['orders:read', 'orders:write'],
      }),
    ])
    expect(json.keys[0].expiresAt - json.keys[0].createdAt).toBeGreaterThan(89 * 86_400_000)
    expect(JSON.stringify(json)).not.toContain('hash')

    expect(await run(project, ['revoke', id, '--file', 'keys.json'])).toMatchObject({
      code: 0,
      stdout: 'revoked\n',
    })
    expect(await statusOf(key, fileKeyStore(file))).toBe(401)
    expect((await run(project, ['list', '--file', 'keys.json'])).stdout).toBe('no keys\n')
    expect((await run(project, ['list', '--file', 'keys.json', '--all'])).stdout).toMatch(/ revoked /)
    const unknown = await run(project, ['revoke', 'mk_000000000000', '--file', 'keys.json', '--json'])
    expect([unknown.code, unknown.stdout]).toEqual([1, '{"revoked":false}\n'])
  })

  test('revoke takes a name that one active key has; otherwise it says what to type', async () => {
    await using project = new Project()
    const make = async (name: string): Promise<string> =>
      (await run(project, ['create', name, '--file', 'keys.json', '--server', 'test'])).stdout.trim()
    const revoke = (name: string): Promise<Output> => run(project, ['revoke', name, '--file', 'keys.json'])
    const [bob, ann, other] = [await make('bob'), await make('ann'), await make('ann')]

    expect(await revoke('bob')).toMatchObject({ code: 0, stdout: 'revoked\n' })
    expect(await statusOf(bob, fileKeyStore(join(project.folder, 'keys.json')))).toBe(401)
    expect(await revoke('ann')).toEqual({
      code: 1,
      stdout: '',
      stderr: `mayfly: 2 keys have the name "ann": pass the id of one of them, ${[ann, other].map((key) => key.slice(0, 15)).join(', ')}\n`,
    })
    for (const name of ['bob', 'an', 'Ann', '__proto__'])
      expect(await revoke(name)).toEqual({
        code: 1,
        stdout: '',
        stderr: 'mayfly: no active key has this id or name: mayfly keys list shows them\n',
      })
    for (const key of [ann, other])
      expect(await statusOf(key, fileKeyStore(join(project.folder, 'keys.json')))).toBe(200)
  })

  test('--json and --quiet: one object with the key, and nothing else', async () => {
    await using project = new Project()
    const { stdout, stderr } = await run(project, [
      'create',
      'ci',
      '--file',
      'k.json',
      '--server',
      'test',
      '--json',
      '--quiet',
    ])
    const made = JSON.parse(stdout)
    expect(`${made.key}\n`).toMatch(KEY)
    expect([made.name, made.id, made.hash, stderr]).toEqual(['ci', made.key.slice(3, 15), undefined, ''])
  })

  test('in a broken file → exit code 1, one line, and the file stays', async () => {
    await using project = new Project()
    project.write('keys.json', '{"keys":[]}')
    const { code, stdout, stderr } = await run(project, [
      'create',
      'ci',
      '--file',
      'keys.json',
      '--server',
      'test',
    ])
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      expect.stringMatching(/Line 1 of .*keys\.json is not an API key or a revocation: .*"id"/),
    ])
    expect(readFileSync(join(project.folder, 'keys.json'), 'utf8')).toBe('{"keys":[]}')
  })

  test('for environmentKeyStore: .env is written, other lines stay, and a server reads it [keys.environment]', async () => {
    await using project = new Project()
    withServer(project, 'environmentKeyStore', '')
    const env = join(project.folder, '.env')
    const valueIn = () => {
      const [, value] = /^MAYFLY_API_KEYS='(.*)'$/m.exec(readFileSync(env, 'utf8')) ?? []
      return { MAYFLY_API_KEYS: value }
    }
    const first = await run(project, ['create', "Ann's laptop"])
    expect([first.code, first.stdout]).toEqual([0, expect.stringMatching(KEY)])
    expect(first.stderr).toContain('mayfly deploy --secret MAYFLY_API_KEYS')
    if (process.platform !== 'win32') expect(statSync(env).mode & 0o777).toBe(0o600)
    writeFileSync(env, `# mine\r\nA=1\n${readFileSync(env, 'utf8')}B='2'`)
    const second = await run(project, ['create', 'ci', '--quiet'])
    expect(second.stderr).toBe('')
    expect(readFileSync(env, 'utf8')).toMatch(/^# mine\r\nA=1\nMAYFLY_API_KEYS='.*'\nB='2'$/)
    for (const { stdout } of [first, second]) {
      expect(readFileSync(env, 'utf8')).not.toContain(stdout.slice(16, 30))
      expect(await statusOf(stdout, environmentKeyStore, valueIn())).toBe(200)
    }
    expect((await run(project, ['list'])).stdout).toMatch(/Ann's laptop[^\n]*\n[^\n]* ci /)
    expect((await run(project, ['revoke', first.stdout.trim()])).stdout).toBe('revoked\n')
    expect(await statusOf(first.stdout, environmentKeyStore, valueIn())).toBe(401)
    expect(await statusOf(second.stdout, environmentKeyStore, valueIn())).toBe(200)

    const set = await run(project, ['create', 'x'], { MAYFLY_API_KEYS: '[]' })
    expect([set.code, set.stderr]).toEqual([1, expect.stringContaining('is set in the environment')])
    writeFileSync(env, 'MAYFLY_API_KEYS=broken\n')
    const broken = await run(project, ['create', 'x'])
    expect([broken.code, broken.stderr]).toEqual([1, expect.stringContaining('is not a JSON list of keys')])
    expect(readFileSync(env, 'utf8')).toBe('MAYFLY_API_KEYS=broken\n')
  })

  test('for .env with values that span lines: only its own value changes, and a link stays one', async () => {
    await using project = new Project()
    withServer(project, 'environmentKeyStore', '')
    const env = join(project.folder, '.env')
    const valueIn = (text: string) => ({ MAYFLY_API_KEYS: parseEnv(text).MAYFLY_API_KEYS })
    const others = `# it's mine\nA="1\nMAYFLY_API_KEYS=[]\nC=3"\n export B='x\n\nMAYFLY_API_KEYS=[]\n' # b\nD=\`\nE=1\n\`\n`
    for (const own of [
      '',
      `MAYFLY_API_KEYS='[\n]'\n`,
      `MAYFLY_API_KEYS='[]'\nF=1\nexport MAYFLY_API_KEYS="[\n]" # own\n`,
    ]) {
      project.write('kept.env', `${own}${others}G=1`)
      rmSync(env, { force: true })
      symlinkSync('kept.env', env)
      const before = parseEnv(readFileSync(env, 'utf8'))
      const { code, stdout } = await run(project, ['create', 'ci'])
      expect([code, stdout]).toEqual([0, expect.stringMatching(KEY)])
      const text = readFileSync(join(project.folder, 'kept.env'), 'utf8')
      expect(readFileSync(env, 'utf8')).toBe(text)
      expect(lstatSync(env).isSymbolicLink()).toBe(true)
      expect(await statusOf(stdout, environmentKeyStore, valueIn(text))).toBe(200)
      expect({ ...parseEnv(text), MAYFLY_API_KEYS: '' }).toEqual({ ...before, MAYFLY_API_KEYS: '' })
      expect(text).toContain(others)
      expect((await run(project, ['list'])).stdout).toMatch(/ ci /)
    }
    // A quote that is not closed is a part of its line for one reader, and reaches further for another.
    const open = `MAYFLY_API_KEYS=[] # it's\nA='\nB='1'\n`
    writeFileSync(env, open)
    const before = parseEnv(open)
    await run(project, ['create', 'ci'])
    const { MAYFLY_API_KEYS: _, ...left } = parseEnv(readFileSync(env, 'utf8'))
    const { MAYFLY_API_KEYS: __, ...kept } = before
    expect(left).toEqual(kept)
  })

  test('of one server and stage: others list, revoke and accept none of them [keys.audience]', async () => {
    await using project = new Project()
    withServer(project, 'environmentKeyStore', '')
    const { stdout: production } = await run(project, ['create', 'ci'])
    const staged = await run(project, ['create', 'ci', '--stage', 'staging', '--json'])
    const { key: staging, stage, server } = JSON.parse(staged.stdout)
    expect([server, stage]).toEqual(['test', 'staging'])
    expect(staged.stderr).toContain('for "ci" of test (staging)')
    // Whichever file is deployed: keys are for their stage only.
    const valuesIn = (file: string): unknown[] => {
      const { MAYFLY_API_KEYS = '[]' } = parseEnv(readFileSync(join(project.folder, file), 'utf8'))
      return JSON.parse(MAYFLY_API_KEYS) as unknown[]
    }
    const variables = () => ({
      MAYFLY_API_KEYS: JSON.stringify([...valuesIn('.env'), ...valuesIn('.env.staging')]),
    })
    const both = async (env: object) => [
      await statusOf(production, environmentKeyStore, { ...variables(), ...env }),
      await statusOf(staging, environmentKeyStore, { ...variables(), ...env }),
    ]
    expect(await both({})).toEqual([200, 401])
    expect(await both({ MAYFLY_STAGE: 'staging' })).toEqual([401, 200])
    expect((await run(project, ['list'])).stdout).not.toContain(staging.slice(0, 15))
    expect((await run(project, ['list'], { MAYFLY_STAGE: 'staging' })).stdout).toMatch(
      new RegExp(`^${staging.slice(0, 15)} .* test \\(staging\\)$`, 'm'),
    )
    expect((await run(project, ['revoke', staging.slice(0, 15)])).code).toBe(1)
    expect((await run(project, ['revoke', staging.slice(0, 15), '--stage', 'staging'])).stdout).toBe(
      'revoked\n',
    )
    expect(await both({ MAYFLY_STAGE: 'staging' })).toEqual([401, 401])

    const file = ['--file', 'keys.jsonl', '--server']
    const made = await run(project, ['create', 'ci', ...file, 'shop', '--stage', 'staging'])
    const id = made.stdout.slice(0, 15)
    expect((await run(project, ['list', ...file, 'shop'])).stdout).toBe('no keys\n')
    for (const args of [
      [...file, 'shop', '--stage', 'staging'],
      ['--file', 'keys.jsonl'],
    ])
      expect((await run(project, ['list', ...args])).stdout).toContain(`${id} `)
    expect((await run(project, ['revoke', id, ...file, 'bank'])).code).toBe(1)
    expect((await run(project, ['revoke', id, '--file', 'keys.jsonl'])).stdout).toBe('revoked\n')
  })

  test('two entries with one id → doctor names both, and the command refuses to write [keys.one-id]', async () => {
    await using project = new Project()
    withServer(project, 'environmentKeyStore', '')
    const { stdout } = await run(project, ['create', 'ann'])
    const env = join(project.folder, '.env')
    const [row] = JSON.parse(parseEnv(readFileSync(env, 'utf8')).MAYFLY_API_KEYS!)
    writeFileSync(env, `MAYFLY_API_KEYS='${JSON.stringify([row, { ...row, name: 'eve' }])}'\n`)
    const named = `"ann" and "eve" have one id, ${stdout.slice(0, 15)}`
    const doctor = await new MayflyProcess(['doctor', 'server.ts'], project.folder).exited
    expect(`${doctor.stdout}${doctor.stderr}`).toContain(named)
    const refused = await run(project, ['create', 'ci'])
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([1, '', expect.stringContaining(named)])
  })

  test('one bad entry → the others are listed and revoked, it stays as it is and is warned of', async () => {
    await using project = new Project()
    withServer(project, 'environmentKeyStore', '')
    const [leaked, kept] = [await run(project, ['create', 'leaked']), await run(project, ['create', 'kept'])]
    const env = join(project.folder, '.env')
    const rowsIn = () => JSON.parse(parseEnv(readFileSync(env, 'utf8')).MAYFLY_API_KEYS!)
    const [row, other] = rowsIn()
    const twin = { ...row, id: '0'.repeat(12) }
    const bad: readonly (readonly [entries: readonly unknown[], said: string])[] = [
      [[{ ...row, id: '1'.repeat(12), name: "it's a typo", hash: 'x' }], 'it\'s a typo" needs a "hash"'],
      // It is not known which key it was meant to be.
      [[{ ...row, name: 'same id', scopes: 'all', note: 1 }], '"same id" has "scopes"'],
      [[twin, { ...twin, name: 'eve' }], 'have one id'],
      [[null, 7, []], 'Entry 3'],
    ]
    for (const [entries, said] of bad) {
      writeFileSync(
        env,
        `MAYFLY_API_KEYS='${JSON.stringify([row, ...entries, other]).replaceAll("'", '\\u0027')}'\n`,
      )
      const listed = await run(project, ['list'])
      expect([listed.code, listed.stdout]).toEqual([0, expect.stringMatching(/ leaked .* kept /s)])
      // By its name, which reads the list first.
      const revoked = await run(project, ['revoke', 'leaked'])
      expect([revoked.code, revoked.stdout]).toEqual([0, 'revoked\n'])
      for (const { stderr } of [listed, revoked]) expect(stderr.split(said)).toHaveLength(2)
      expect(rowsIn()).toEqual([...entries, other])
      const variables = parseEnv(readFileSync(env, 'utf8'))
      expect(await statusOf(leaked.stdout, environmentKeyStore, variables)).toBe(401)
      expect(await statusOf(kept.stdout, environmentKeyStore, variables)).toBe(200)
      const created = await run(project, ['create', 'more'])
      expect([created.code, created.stderr]).toEqual([1, expect.stringContaining(said)])
      expect(rowsIn()).toEqual([...entries, other])
    }
  })

  test.skipIf(process.getuid?.() !== 0)(
    "as root: the server's user can read what is written, with the mode that was there",
    async () => {
      await using project = new Project()
      withServer(project, 'environmentKeyStore', '')
      chownSync(project.folder, 12_345, 12_346)
      const ownerOf = (name: string) => {
        const { uid, gid, mode } = statSync(join(project.folder, name))
        return [uid, gid, (mode & 0o777).toString(8)]
      }
      expect((await run(project, ['create', 'ci'])).code).toBe(0)
      expect(ownerOf('.env')).toEqual([12_345, 12_346, '600'])
      expect((await run(project, ['create', 'ci', '--file', 'a/b/k.jsonl', '--server', 'test'])).code).toBe(0)
      for (const [name, mode] of [
        ['a', '755'],
        ['a/b', '755'],
        ['a/b/k.jsonl', '600'],
      ] as const)
        expect([name, ownerOf(name)]).toEqual([name, [12_345, 12_346, mode]])
      for (const name of ['.env', 'a/b/k.jsonl']) {
        chownSync(join(project.folder, name), 23_456, 23_457)
        chmodSync(join(project.folder, name), 0o640)
      }
      const { stdout } = await run(project, ['create', 'b'])
      await run(project, ['revoke', stdout.trim()])
      await run(project, ['create', 'b', '--file', 'a/b/k.jsonl', '--server', 'test'])
      for (const name of ['.env', 'a/b/k.jsonl']) expect(ownerOf(name)).toEqual([23_456, 23_457, '640'])
    },
  )

  test("in the server's own store, which never gets the key [keys.shown-once]", async () => {
    await using project = new Project()
    const path = JSON.stringify(join(project.folder, 'kept/keys.json'))
    const seen = join(project.folder, 'seen.json')
    const store = `{ ...fileKeyStore(${path}), create: (key: never) => {
      writeFileSync(${JSON.stringify(seen)}, JSON.stringify([key, process.argv, process.env]))
      return fileKeyStore(${path}).create(key)
    } }`
    const imports = `import { writeFileSync } from 'node:fs'\nimport { fileKeyStore } from 'mayfly-mcp/node'`
    withServer(project, `() => (${store})`, imports)
    const { code, stdout } = await run(project, ['create', 'ci'])
    expect([code, stdout]).toEqual([0, expect.stringMatching(KEY)])
    expect(readFileSync(seen, 'utf8')).not.toContain(stdout.slice(16, 30))
    expect(await statusOf(stdout, fileKeyStore(join(project.folder, 'kept/keys.json')))).toBe(200)
    expect((await run(project, ['list', 'server.ts'])).stdout).toMatch(/ ci /)
    expect(existsSync(join(project.folder, '.env'))).toBe(false)
  })

  test('for a server of an official SDK, too', async () => {
    await using project = new Project()
    withServer(project, 'environmentKeyStore', '')
    project.write(
      'server.ts',
      `import { fromSdk } from 'mayfly-mcp/sdk'
import { apiKeys, environmentKeyStore } from 'mayfly-mcp/keys'
export default fromSdk(() => ({}) as never, { auth: apiKeys({ store: environmentKeyStore, server: 'test' }) })`,
    )
    const { code, stdout } = await run(project, ['create', 'ci'])
    expect([code, stdout]).toEqual([0, expect.stringMatching(KEY)])
    expect(readFileSync(join(project.folder, '.env'), 'utf8')).toContain('MAYFLY_API_KEYS=')
  })

  test('in a store that cannot be reached from here → exit code 1, and one line says what to do', async () => {
    await using project = new Project()
    const refusals: [string, string, RegExp][] = [
      ['createMemoryKeyStore()', '', /in the memory of the server: use another store/],
      [
        '(env: { KEYS: never }) => kvKeyStore(env.KEYS)',
        `import { kvKeyStore } from 'mayfly-mcp/cloudflare'`,
        /kvKeyStore needs the binding .*pass the binding of its KV namespace as --kv/,
      ],
    ]
    mkdirSync(join(project.folder, 'sub'))
    withServer(project, 'environmentKeyStore', '')
    const source = readFileSync(join(project.folder, 'server.ts'), 'utf8')
    for (const [store, imports, message] of refusals) {
      project.write(
        'server.ts',
        `${imports}\n${source.replace('store: environmentKeyStore', `store: ${store}`)}`,
      )
      const { code, stdout, stderr } = await run(project, ['create', 'ci'])
      expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(message)])
      expect(stderr.trim()).not.toContain('\n')
    }
    project.write('server.ts', source.replace('auth: apiKeys({ store: environmentKeyStore }),', ''))
    expect((await run(project, ['list'])).stderr).toContain('its "auth" has no keys: use apiKeys({ store })')
  })
})

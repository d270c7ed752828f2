/** `mayfly build`, spawned for real. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { targets } from '../../deploy/targets/all.ts'
import { sizeWarnings } from '../../deploy/targets/build-into.ts'
import { MayflyProcess, type Output, Project } from './_dev-process.ts'

const TIMEOUT_MS = 180_000
const SECRET = 'b6f1e0c4a9d84f2e8c7b5a3910de47aa'

const SERVER = `export default { fetch: () => new Response('hello') }`

/** Bytes that a platform takes, and how its page in docs/deploy says so. */
const SIZES: { readonly [target: string]: readonly [bytes: readonly number[], page: string, said: RegExp] } =
  {
    cloudflare: [[64 * 1024 * 1024], 'cloudflare', /64 MiB uncompressed/],
    supabase: [[20_000_000], 'supabase', /20 MB of code/],
    vercel: [[250_000_000], 'vercel', /250 MB on Node/],
    'vercel-edge': [[1_000_000, 2_000_000], 'vercel', /1 MB gzipped on the Hobby plan, 2 MB on Pro/],
    lambda: [[250 * 1024 * 1024], 'lambda', /250 MB unzipped/],
  }

function build(project: Project, ...args: string[]): Promise<Output> {
  return new MayflyProcess(['build', ...args], project.folder).exited
}

describe.for([...targets.keys()])('--target %s', { timeout: TIMEOUT_MS }, (target) => {
  test('writes what the platform takes into dist/, says how large it is, and leaves nothing else behind', async () => {
    await using project = new Project()
    project.write('server.ts', SERVER)

    const { code, stdout, stderr } = await build(project, '--target', target)

    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(stdout).toMatch(new RegExp(`^built dist/${target}/\\S+: [\\d.,]+ KB, [\\d.,]+ KB gzipped\\n$`))
    const main = /^built (\S+):/.exec(stdout)?.[1] ?? ''
    expect(existsSync(join(project.folder, main))).toBe(true)
    // Wrangler keeps a folder of its own.
    const left = readdirSync(project.folder).filter((name) => name !== '.wrangler')
    expect(left.sort()).toEqual(['dist', 'server.ts'])
  })

  test('--json says the same to a script; a second build replaces the first', async () => {
    await using project = new Project()
    project.write('server.ts', SERVER)
    await build(project, '--target', target, '--out', 'out')
    project.write('out/old.txt', 'old')

    const { stdout } = await build(project, 'server.ts', '--target', target, '--out', 'out', '--json')

    const { main, size, ...rest } = JSON.parse(stdout) as {
      main: string
      size: { raw: number; gzip: number }
    }
    expect(rest).toMatchObject({ target, out: 'out', limits: expect.any(Array) })
    const [bytes, page, said] = SIZES[target] ?? [[], 'README', /./]
    const { limits } = rest as unknown as { limits: { bytes: number }[] }
    if (bytes.length > 0) expect(limits.map((limit) => limit.bytes)).toEqual(bytes)
    expect(readFileSync(join(import.meta.dirname, `../../docs/deploy/${page}.md`), 'utf8')).toMatch(said)
    expect(existsSync(join(project.folder, 'out', main))).toBe(true)
    expect(size.raw).toBeGreaterThan(0)
    expect(size.gzip).toBeGreaterThan(0)
    expect(existsSync(join(project.folder, 'out/old.txt'))).toBe(false)
  })

  test('a build that fails or is refused leaves the earlier one as it is, and nothing else', async () => {
    await using project = new Project()
    project.write('server.ts', SERVER)
    await build(project, '--target', target)
    const before = filesOf(join(project.folder, 'dist'))
    expect(before.size).toBeGreaterThan(1)

    project.write('server.ts', 'export default {\n  fetch( }')
    expect((await build(project, '--target', target)).code).toBe(1)
    expect(filesOf(join(project.folder, 'dist'))).toEqual(before)

    project.write('server.ts', `export default { fetch: () => new Response('${SECRET}') }`)
    project.write('.env', `MAYFLY_SECRET=${SECRET}\n`)
    expect((await build(project, '--target', target)).code).toBe(1)
    expect(filesOf(join(project.folder, 'dist'))).toEqual(before)
  })

  test('refuses to embed a value of .env, and does not print it', async () => {
    await using project = new Project()
    project.write('.env', `MAYFLY_SECRET=${SECRET}\n`)
    project.write('server.ts', `export default { fetch: () => new Response('${SECRET}') }`)

    const { code, stdout, stderr } = await build(project, '--target', target)

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^mayfly: [^\n]*MAYFLY_SECRET from \.env[^\n]*\n$/)
    expect(stderr).not.toContain(SECRET)
    // Not even in what the platform's own tool keeps for itself.
    for (const [name, content] of filesOf(project.folder)) {
      if (name !== '.env' && name !== 'server.ts') expect(content, name).not.toContain(SECRET)
    }
    expect(existsSync(join(project.folder, 'dist'))).toBe(false)
  })

  test('an entry that does not build → its place, exit code 1', async () => {
    await using project = new Project()
    project.write('server.ts', 'export default {\n  fetch( }')
    const { code, stdout, stderr } = await build(project, '--target', target)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('server.ts:2:')
  })

  test('no default export → one line', async () => {
    await using project = new Project()
    project.write('server.ts', 'export const server = 1')
    const { code, stderr } = await build(project, '--target', target)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^mayfly: server\.ts has no default export[^\n]*\n$/)
  })
})

/** Every file below a folder, by path. */
function filesOf(folder: string): Map<string, string> {
  return new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [path.slice(folder.length + 1), readFileSync(path, 'latin1')]),
  )
}

test.for([
  ['build', 'mcpb', 'cloudflare'],
  ['build', 'cloudflare', 'mcpb'],
  ['build', 'node', 'bun'],
  ['deploy', 'node', 'bun'],
] as const)(
  '%s --target %s --target %s → one line, and nothing is written',
  { timeout: TIMEOUT_MS },
  async ([command, ...names]) => {
    await using project = new Project()
    project.write('server.ts', SERVER)

    const args = names.flatMap((name) => ['--target', name])
    const { code, stdout, stderr } = await new MayflyProcess([command, ...args], project.folder).exited

    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: `mayfly: only one target is allowed: got ${names.join(', ')}; run the command once for each\n`,
    })
    expect(readdirSync(project.folder)).toEqual(['server.ts'])
  },
)

test('the same target twice is one', { timeout: TIMEOUT_MS }, async () => {
  await using project = new Project()
  project.write('server.ts', SERVER)
  const { code, stdout } = await build(project, '--target', 'node', '--target=node')
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^built dist\/node\//) })
})

describe('where it writes', { timeout: TIMEOUT_MS }, () => {
  test.for(['.', '..', 'src', 'other'])('--out %s → refused: it holds a project', async (out) => {
    await using project = new Project()
    for (const folder of ['src', 'other']) mkdirSync(join(project.folder, folder))
    project.write('src/server.ts', SERVER)
    project.write('other/package.json', '{}')

    const { code, stderr } = await build(project, '--target', 'node', '--out', out)

    expect(code).toBe(1)
    expect(stderr).toContain('holds a project')
    expect(readFileSync(join(project.folder, 'src/server.ts'), 'utf8')).toBe(SERVER)
    expect(existsSync(join(project.folder, 'other/package.json'))).toBe(true)
  })
})

describe('a server with sessions', { timeout: TIMEOUT_MS }, () => {
  test.for([
    ['lambda', 'createSessions(server)', ['mayfly: sessions need one long-lived process, which AWS Lambda']],
    ['lambda', 'server', []],
    ['node', 'createSessions(server)', []],
  ] as const)('on %s: %s → %j', async ([target, exported, lines]) => {
    await using project = new Project()
    project.linkPackage()
    project.write(
      'server.ts',
      `import { MCPServer } from 'mayfly-mcp'
import { createSessions, serve } from 'mayfly-mcp/node'
const server = new MCPServer({ id: 'a', name: 'a', version: '1' })
export default ${exported}`,
    )
    const { code, stderr } = await build(project, '--target', target)
    expect(code).toBe(0)
    expect(stderr.split('\n').slice(0, -1)).toEqual(lines.map((line) => expect.stringContaining(line)))
  })
})

describe('sizes', () => {
  const source = 'https://platform.example/limits'
  const limits = [{ name: 'a plan', of: 'gzip', bytes: 1000, source, checked: '2026-11-01' }] as const
  const title = { title: 'A platform' } as Parameters<typeof sizeWarnings>[1]
  const artefact = (gzip: number) => ({ main: 'a.js', size: { raw: 9000, gzip }, limits })

  test.for([
    [799, []],
    [
      800,
      [
        expect.stringContaining(
          'is near the limit of A platform (a plan: 1 KB, according to https://platform.example/limits on 2026-11-01)',
        ),
      ],
    ],
    [1001, [expect.stringContaining('is over the limit of A platform')]],
  ] as const)('%i of 1000 bytes → %j', ([gzip, lines]) => {
    expect(sizeWarnings(artefact(gzip), title)).toEqual(lines)
  })
})

/** Which platform a command takes where no `--target` is given, and which variables a server gets on this machine. */
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { targets } from '../../deploy/targets/all.ts'
import { MayflyProcess, type Output, Project } from './_dev-process.ts'

const SHOWS_ENV = `const { MAYFLY_SECRET, SHARED, LOCAL } = process.env
export default { fetch: () => Response.json({ jsonrpc: '2.0', id: 1, result: { MAYFLY_SECRET, SHARED, LOCAL } }) }`

function arrange(files: { readonly [path: string]: string }): Project {
  const project = new Project()
  project.linkPackage()
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project.folder, path)), { recursive: true })
    project.write(path, text)
  }
  return project
}

const SERVER = `import { MCPServer } from 'mayfly-mcp'
export default new MCPServer({ id: 'a', name: 'a', version: '1' })`

const declared = (...names: unknown[]): string => JSON.stringify({ name: 'a', mayfly: { targets: names } })

/** What `mayfly doctor` in that folder is about: the target, or the line on stderr. */
async function targetOf(files: { readonly [path: string]: string }, within = '.'): Promise<string> {
  const { code, stdout, stderr } = await runIn(files, 'doctor', within)
  if (stdout === '') return `${code} ${stderr}`
  return (JSON.parse(stdout) as { target: string }).target
}

async function runIn(
  files: { readonly [path: string]: string },
  command: 'doctor' | 'build',
  within = '.',
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  await using project = arrange({ 'server.ts': SERVER, ...files })
  const entry = within === '.' ? [] : ['../server.ts']
  const args = [command, ...entry, ...(command === 'doctor' ? ['--json'] : [])]
  return await new MayflyProcess(args, join(project.folder, within)).exited
}

describe('without --target', () => {
  test.for([...targets.keys()])('package.json names %s → that', async (name) => {
    expect(await targetOf({ 'package.json': declared(name), 'wrangler.toml': '' })).toBe(name)
  })

  test.for([
    ['wrangler.toml', 'cloudflare'],
    ['wrangler.json', 'cloudflare'],
    ['wrangler.jsonc', 'cloudflare'],
    ['deno.json', 'deno'],
    ['supabase/config.toml', 'supabase'],
    ['vercel.json', 'vercel'],
    ['netlify.toml', 'netlify'],
    ['samconfig.toml', 'lambda'],
    ['bun.lock', 'bun'],
    ['package.json', 'node'],
  ] as const)('%s alone → %s', async ([file, name]) => {
    expect(await targetOf({ [file]: '{}' })).toBe(name)
  })

  test('declared at the root beats a lockfile in the folder at hand', async () => {
    const files = {
      'package.json': `\ufeff${declared('deno')}`,
      'src/package.json': '{}',
      'src/bun.lock': '',
    }
    expect(await targetOf(files, 'src')).toBe('deno')
  })

  test('one that is named twice → that', async () => {
    expect(await targetOf({ 'package.json': declared('bun', 'bun') })).toBe('bun')
  })

  test("a lockfile beside a platform's own file → the platform", async () => {
    expect(await targetOf({ 'bun.lock': '', 'vercel.json': '{}' })).toBe('vercel')
  })

  test('in a subfolder → as at the root', async () => {
    expect(await targetOf({ 'package.json': declared('deno'), 'src/notes.txt': '' }, 'src')).toBe('deno')
  })

  test.for([
    [{ 'package.json': declared('bun', 'vercel') }, ['bun', 'vercel']],
    [{ 'vercel.json': '{}', 'netlify.toml': '' }, ['vercel', 'netlify']],
  ] as const)('%j → doctor examines both, and a build wants one of them', async ([files, names]) => {
    const reports = JSON.parse((await runIn(files, 'doctor')).stdout) as { target: string }[]
    expect(reports.map(({ target }) => target)).toEqual(names)

    const { code, stdout, stderr } = await runIn(files, 'build')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^[^\n]+\n$/)
    expect(stderr).toContain(`mayfly: this project is for ${names.join(', ')}: pass`)
  })

  test.for<[string, { readonly [path: string]: string }, string]>([
    [
      'one that is none',
      { 'package.json': declared('heroku') },
      '1 mayfly: "mayfly": { "targets": … } in package.json holds "heroku"',
    ],
    [
      'a name alone',
      { 'package.json': '{"mayfly":"bun"}' },
      '1 mayfly: "mayfly": { "targets": … } in package.json holds nothing',
    ],
    [
      'no list',
      { 'package.json': '{"mayfly":{"targets":"bun"}}' },
      '1 mayfly: "mayfly": { "targets": … } in package.json holds "bun"',
    ],
    [
      'an empty list',
      { 'package.json': declared() },
      '1 mayfly: "mayfly": { "targets": … } in package.json holds []',
    ],
  ])('%s → one line', async ([_what, files, line]) => {
    const said = await targetOf(files)
    expect(said).toMatch(/^[^\n]+\n$/)
    expect(said).toContain(line)
  })
})

describe('variables of the project', () => {
  const FILES = {
    'server.ts': SHOWS_ENV,
    '.env': 'MAYFLY_SECRET=of-the-environment-file\nSHARED=env\nLOCAL=env\nEMPTY=',
    '.env.local': 'LOCAL=local\nSHARED=local',
    '.dev.vars': 'SHARED=vars',
  }
  const EXPECTED = { MAYFLY_SECRET: 'of-the-shell', SHARED: 'vars', LOCAL: 'local' }

  test.for(['node', 'bun', 'deno', 'vercel', 'netlify'])(
    'mayfly dev --target %s: .dev.vars, .env.local, .env, and never over the shell’s',
    { timeout: 180_000 },
    async (target) => {
      await using project = arrange(FILES)
      const args = ['dev', '--target', target, '--port', '0']
      await using mayfly = new MayflyProcess(args, project.folder, undefined, {
        MAYFLY_SECRET: 'of-the-shell',
      })
      await mayfly.ready()

      expect(await ask(mayfly)).toEqual(EXPECTED)
      await mayfly.says('mayfly: read .dev.vars, .env.local, .env\n')
    },
  )

  test.for(['', 'wrangler.toml'])(
    'mayfly dev --target cloudflare, too (%s)',
    { timeout: 180_000 },
    async (config) => {
      const server = `export default { fetch: (_request: Request, env: Record<string, unknown>) => {
  const { MAYFLY_SECRET, SHARED, LOCAL } = env
  return Response.json({ jsonrpc: '2.0', id: 1, result: { MAYFLY_SECRET, SHARED, LOCAL } })
} }`
      const named =
        config === '' ? {} : { [config]: 'name = "a"\nmain = "server.ts"\ncompatibility_date = "2026-10-01"' }
      await using project = arrange({ ...FILES, 'server.ts': server, ...named })
      const args = ['dev', '--target', 'cloudflare', '--port', '0']
      await using mayfly = new MayflyProcess(args, project.folder)
      await mayfly.ready()

      expect(await ask(mayfly)).toEqual({ ...EXPECTED, MAYFLY_SECRET: 'of-the-environment-file' })
    },
  )

  test('mayfly preview reads them, too', { timeout: 180_000 }, async () => {
    await using project = arrange(FILES)
    await using mayfly = new MayflyProcess(['preview', '--target', 'node', '--port', '0'], project.folder)
    await mayfly.ready()

    expect(await ask(mayfly)).toEqual({ ...EXPECTED, MAYFLY_SECRET: 'of-the-environment-file' })
  })

  test('mayfly stdio reads them beside the entry, wherever it is started', async () => {
    const server = `import { createTool, MCPServer } from 'mayfly-mcp'
if (process.env.SHARED !== 'env') throw new Error('not read')
export default new MCPServer({ id: 'a', name: 'a', version: '1' })`
    await using project = arrange({
      'shop/server.ts': server,
      'shop/package.json': '{}',
      'shop/.env': 'SHARED=env',
    })
    const { code, stderr } = (await new MayflyProcess(['stdio', 'shop/server.ts'], project.folder)
      .exited) as Output

    expect({ code, stderr }).toEqual({ code: 0, stderr: 'mayfly: read .env\n' })
  })
})

async function ask({ stdout }: MayflyProcess): Promise<unknown> {
  const url = /^ready (\S+)\n$/.exec(stdout)?.[1] ?? stdout
  const { result } = (await (await fetch(url, { method: 'POST', body: '{}' })).json()) as { result: unknown }
  return result
}

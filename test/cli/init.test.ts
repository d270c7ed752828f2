/** `mayfly init`: what it writes and what it refuses. That what it writes works is shown in `test/runtimes/init.test.ts`. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { MayflyProcess, type Output, Project } from './_dev-process.ts'

const CLI = fileURLToPath(new URL('../../deploy/cli.ts', import.meta.url))

function init(project: Project, ...args: string[]): Promise<Output> {
  return new MayflyProcess(['init', ...args], project.folder).exited
}

describe('mayfly init', () => {
  test('only its user can read the secrets that it makes', async () => {
    await using project = new Project()
    await init(project, 'shop', '--target', 'node', '--target', 'cloudflare', '--with', 'auth')
    const modeOf = (name: string) => statSync(join(project.folder, 'shop', name)).mode & 0o777
    expect(modeOf('.env')).toBe(0o600)
    expect(modeOf('.env.example')).toBe(0o666 & ~process.umask())
  })

  test('writes a project for several platforms, names every file, and says what comes next', async () => {
    await using project = new Project()

    const { code, stdout, stderr } = await init(
      project,
      'My Shop',
      '--target',
      'cloudflare',
      '--target',
      'supabase',
    )

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const folder = join(project.folder, 'My Shop')
    const wrote = Array.from(stdout.matchAll(/^wrote (.+)$/gm), ([, path]) => path!)
    expect(wrote).toEqual(
      expect.arrayContaining([
        'My Shop/src/server.ts',
        'My Shop/wrangler.toml',
        'My Shop/supabase/config.toml',
      ]),
    )
    for (const path of wrote) expect(existsSync(join(project.folder, path)), path).toBe(true)
    expect(stdout).toContain('npm install')
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, object>
    expect(manifest).toMatchObject({
      name: 'my-shop',
      scripts: { dev: 'mayfly dev --target cloudflare', 'dev:supabase': 'mayfly dev --target supabase' },
      devDependencies: { wrangler: expect.any(String), supabase: expect.any(String) },
    })
    expect(readFileSync(join(folder, '.gitignore'), 'utf8').split('\n')).toEqual(
      expect.arrayContaining(['node_modules/', '.env', '.dev.vars', '.wrangler/']),
    )
    expect(readFileSync(join(folder, 'wrangler.toml'), 'utf8')).toContain('name = "my-shop"')
  })

  test('AGENTS.md tells a coding agent the project in about twenty lines, and names files that are there', async () => {
    await using project = new Project()

    await init(project, 'shop', '--target', 'node', '--with', 'auth', '--with', 'hono')

    const text = readFileSync(join(project.folder, 'shop/AGENTS.md'), 'utf8')
    const { scripts } = JSON.parse(readFileSync(join(project.folder, 'shop/package.json'), 'utf8')) as {
      scripts: Record<string, string>
    }
    expect(text.trim().split('\n').length).toBeLessThanOrEqual(25)
    const paths = Array.from(text.matchAll(/`?((?:src|test)\/[\w.]+)/g), ([, path]) => path!)
    expect(paths).toEqual(['src/mcp.ts', 'src/server.ts', 'test/server.test.ts'])
    for (const path of paths) expect(existsSync(join(project.folder, 'shop', path)), path).toBe(true)
    const commands = Array.from(text.matchAll(/^npm (?:run )?(\w+)/gm), ([, name]) => name!)
    for (const name of commands) expect(scripts, name).toHaveProperty(name)
    expect(commands.length).toBeGreaterThan(3)
    const root = fileURLToPath(new URL('../../', import.meta.url))
    for (const [, path] of text.matchAll(/node_modules\/mayfly-mcp\/([\w./]+\w)/g))
      expect(existsSync(join(root, path!)), path).toBe(true)
  })

  test.for([[], ['--with', 'hono']])(
    'a new server with events and a schedule answers `mayfly events` once its secret is set: %j',
    { timeout: 120_000 },
    async (more) => {
      await using project = new Project()
      await init(project, 'notes', '--target', 'vercel', '--with', 'events', ...more)
      const folder = join(project.folder, 'notes')
      const root = fileURLToPath(new URL('../../', import.meta.url))
      mkdirSync(join(folder, 'node_modules'))
      symlinkSync(root, join(folder, 'node_modules/mayfly-mcp'))
      for (const name of ['zod', 'postgres', 'hono', '@hono'])
        symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
      const secret = 'a-secret-for-operators-of-40-characters!'
      const list = async (served: NodeJS.ProcessEnv) => {
        const args = ['dev', '--target', 'vercel', '--port', '0', '--no-playground']
        await using server = new MayflyProcess(args, folder, undefined, served)
        await server.ready()
        const url = server.stdout.trim().replace(/^ready (.*)\/mcp$/, '$1/events')
        const env = { MAYFLY_EVENTS_SECRET: secret }
        return await new MayflyProcess(['events', 'list', '--url', url], folder, undefined, env).exited
      }
      expect(await list({ MAYFLY_EVENTS_SECRET: '' })).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining('MAYFLY_EVENTS_SECRET'),
      })
      expect(await list({ MAYFLY_EVENTS_SECRET: secret })).toMatchObject({ code: 0, stderr: '' })
    },
  )

  test('doctor finds nothing wrong with a new Worker that has events in a Hono app', async () => {
    await using project = new Project()
    const args = ['notes', '--target', 'cloudflare', '--with', 'events', '--with', 'hono']
    await init(project, ...args)
    const folder = join(project.folder, 'notes')
    mkdirSync(join(folder, 'node_modules'))
    const root = fileURLToPath(new URL('../../', import.meta.url))
    symlinkSync(root, join(folder, 'node_modules/mayfly-mcp'))
    for (const name of ['hono', 'wrangler', 'zod'])
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))

    const { stdout } = await new MayflyProcess(['doctor', '--json'], folder).exited

    const { findings } = JSON.parse(stdout) as { findings: { level: string; message: string }[] }
    expect(findings.filter(({ level }) => level !== 'ok')).toEqual([])
    expect(findings).toContainEqual({
      level: 'ok',
      message: 'events have a store and a runner',
    })
  })

  test.for([
    [['node', 'bun'], 'npm start reads this file', 'mayfly deploy'],
    [['node', 'cloudflare'], 'mayfly deploy --secret API_TOKEN', 'npm start'],
  ] as const)('.env of a project for %s says: %s', async ([targets, said, unsaid]) => {
    await using project = new Project()

    await init(project, 'shop', '--with', 'auth', ...targets.flatMap((target) => ['--target', target]))

    for (const name of ['.env', '.env.example']) {
      const text = readFileSync(join(project.folder, 'shop', name), 'utf8')
      expect(text).toContain(said)
      expect(text).not.toContain(unsaid)
    }
  })

  test('a folder that holds something is left alone', async () => {
    await using project = new Project()
    project.write('notes.txt', 'mine')

    const { code, stderr } = await init(project, '.', '--target', 'node', '--name', 'shop')

    expect(code).toBe(1)
    expect(stderr).toMatch(/^mayfly: .* is not empty: it contains notes\.txt; pass another folder\n$/)
    expect(readdirSync(project.folder)).toEqual(['notes.txt'])
  })

  test('an existing project is left alone, and told how to add a server', async () => {
    await using project = new Project()
    project.write('package.json', '{}')

    const { code, stderr } = await init(project, '.', '--target', 'node', '--name', 'shop')

    expect(code).toBe(1)
    expect(stderr).toContain(
      'or add a server to this project: npm install mayfly-mcp zod, then write src/server.ts',
    )
    expect(readdirSync(project.folder)).toEqual(['package.json'])
  })

  test('a name with accents keeps its letters, and no package is a dependency twice', async () => {
    await using project = new Project()
    await init(project, 'Büro Café', '--target', 'node', '--target', 'vercel', '--target', 'netlify')
    const manifest = JSON.parse(readFileSync(join(project.folder, 'Büro Café/package.json'), 'utf8'))
    expect(manifest.name).toBe('buro-cafe')
    expect(manifest.dependencies).toHaveProperty('@hono/node-server')
    expect(manifest.devDependencies).not.toHaveProperty('@hono/node-server')
  })

  test('a folder that holds a new git repository is taken', async () => {
    await using project = new Project()
    mkdirSync(join(project.folder, 'shop/.git'), { recursive: true })
    expect((await init(project, 'shop', '--target', 'node')).code).toBe(0)
  })

  test.for([
    [['shop'], 'pass a folder and --target'],
    [['--target', 'node'], 'pass a folder and --target'],
    [['shop', '--target', 'mainframe'], 'there is no target "mainframe"'],
    [['shop', '--target', 'node', '--name', 'My Shop'], '"My Shop" cannot be a name on every platform'],
    [['1', '--target', 'node'], 'cannot be a name on every platform'],
    [
      ['a', '--target', 'node', '--target', 'lambda', '--name', 'shop-secrets'],
      'the stack shop-secrets has the name of what belongs to the server shop (its secrets, or its role for GitHub): pass another --name',
    ],
    [
      ['shop-github', '--target', 'lambda'],
      'the stack shop-github has the name of what belongs to the server shop',
    ],
    [['a', 'b', '--target', 'node'], 'one folder at a time'],
  ] as const)('%j → one line, exit code 2, nothing written', async ([args, line]) => {
    await using project = new Project()
    const { code, stdout, stderr } = await init(project, ...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^mayfly: [^\n]+\n$/)
    expect(stderr).toContain(line)
    expect(readdirSync(project.folder)).toEqual([])
  })

  test('on a terminal it asks for what is missing', async () => {
    await using project = new Project()
    // script(1) gives it a terminal; each line answers one question, the empty one takes what is suggested.
    execFileSync('script', ['-qec', `${process.execPath} ${CLI} init`, '/dev/null'], {
      cwd: project.folder,
      input: 'Corner Shop\n\nnode, deno\n',
      stdio: ['pipe', 'ignore', 'ignore'],
      timeout: 180_000,
    })
    const manifest = readFileSync(join(project.folder, 'Corner Shop/package.json'), 'utf8')
    expect(JSON.parse(manifest)).toMatchObject({
      name: 'corner-shop',
      scripts: { dev: 'mayfly dev --target node', 'dev:deno': 'mayfly dev --target deno' },
    })
  })
})

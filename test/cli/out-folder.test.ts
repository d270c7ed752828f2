/** Where `mayfly build` writes, what it replaces, and what is left when it is stopped halfway. All of it in temporary folders. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { openOutFolder } from '../../deploy/build/out-folder.ts'
import { refusePlace } from '../../deploy/project/out-place.ts'
import { CliError } from '../../deploy/terminal/cli-error.ts'
import { areAlive, MayflyProcess, type Output, Project, stopAll, until } from './_dev-process.ts'

afterAll(stopAll)

const TIMEOUT_MS = 180_000
const SERVER = `export default { fetch: () => new Response('hello') }`

function build(project: Project, args: string[], env: NodeJS.ProcessEnv = {}): Promise<Output> {
  return new MayflyProcess(['build', ...args], project.folder, undefined, env).exited
}

/** What is in a folder: names in order. */
const namesIn = (folder: string): string[] => readdirSync(folder).sort()

describe('refused, with nothing changed', { timeout: TIMEOUT_MS }, () => {
  async function arrange(): Promise<Project> {
    const project = new Project()
    for (const folder of [
      'src/inner',
      'lib',
      'data',
      '.git',
      'node_modules',
      'home',
      'full',
      'repository/.git',
    ]) {
      mkdirSync(join(project.folder, folder), { recursive: true })
    }
    project.write('src/server.ts', `import '../lib/part.ts'\n${SERVER}`)
    project.write('lib/part.ts', 'globalThis')
    project.write('data/precious.txt', 'precious')
    project.write('.git/HEAD', 'precious')
    project.write('node_modules/precious.txt', 'precious')
    project.write('home/precious.txt', 'precious')
    project.write('file', 'precious')
    symlinkSync('src', join(project.folder, 'link'))
    symlinkSync('data', join(project.folder, 'other-link'))
    symlinkSync('nowhere', join(project.folder, 'dangling'))
    return project
  }

  test.for([
    ['src', 'holds a project'],
    ['src/', 'holds a project'],
    ['lib', 'holds a project'],
    ['src/inner', 'is inside the sources'],
    ['src/new/er', 'is inside the sources'],
    ['lib/new', 'is inside the sources'],
    ['data', 'contains files that mayfly build did not write'],
    ['link', 'holds a project'],
    ['link/', 'holds a project'],
    ['other-link', 'is a link'],
    ['dangling', 'is a link'],
    ['dangling/new', 'cannot write'],
    ['link/new', 'is inside the sources'],
    ['file', 'is not a folder'],
    ['file/new', 'ENOTDIR'],
    ['.git', 'is inside .git'],
    ['.git/new', 'is inside .git'],
    ['node_modules', 'is inside node_modules'],
    ['node_modules/new', 'is inside node_modules'],
    ['repository', 'holds a project'],
    ['home', 'home folder'],
    ['', 'home folder'],
  ] as const)('--out %j: %s', async ([out, reason]) => {
    await using project = await arrange()
    const list = (): string =>
      execFileSync('find', ['.', '-printf', '%y %p %l\\n'], { cwd: project.folder, encoding: 'utf8' })
    const before = list()

    const { code, stdout, stderr } = await build(project, ['--target', 'node', '--out', out], {
      HOME: join(project.folder, 'home'),
    })

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^mayfly: cannot (build into|write) [^\n]+\n$/)
    expect(stderr).toContain(reason)
    expect(list()).toBe(before)
    expect(readFileSync(join(project.folder, 'data/precious.txt'), 'utf8')).toBe('precious')
  })

  test('the root, a home and whatever holds them are refused before anything is looked at', () => {
    const place = { cwd: '/shop', sources: ['/shop/src/server.ts'], homes: ['/home/me'] }
    for (const out of ['/', '/home', '/home/me', '/shop', '/shop/src']) {
      expect(() => refusePlace(out, { ...place, out }), out).toThrow(CliError)
    }
    for (const out of ['/shop/dist', '/home/me/shop', '/home/you', '/shop/node']) {
      expect(() => refusePlace(out, { ...place, out }), out).not.toThrow()
    }
    const { homes: _homes, ...own } = place
    for (const out of [homedir(), dirname(homedir())]) {
      expect(() => refusePlace(out, { ...own, out }), out).toThrow(CliError)
    }
  })

  test('control characters of a path are shown as such', async () => {
    await using project = await arrange()
    const { stderr } = await build(project, ['--target', 'node', '--out', 'src/\u001b[2J\nmayfly: done'])
    expect(stderr).toMatch(/^mayfly: cannot build into [^\n]+\n$/)
    expect(stderr).not.toContain('\u001b')
  })
})

describe('replaced as a whole', { timeout: TIMEOUT_MS }, () => {
  test.for(['dist/node', 'new', 'deep/er/new', 'empty', 'folder of links/new', "it's „so“ #1 ?&%20"])(
    'into %s, twice',
    async (out) => {
      await using project = new Project()
      project.write('server.ts', SERVER)
      mkdirSync(join(project.folder, 'empty'))
      mkdirSync(join(project.folder, 'elsewhere'))
      symlinkSync('elsewhere', join(project.folder, 'folder of links'))
      const folder = join(project.folder, out)
      const before = namesIn(project.folder)

      expect((await build(project, ['--target', 'node', '--out', out])).stderr).toBe('')
      const first = namesIn(folder)
      writeFileSync(join(folder, 'old.txt'), 'old')
      symlinkSync(project.folder, join(folder, 'link'))
      const { code, stderr } = await build(project, ['--target', 'node', '--out', out])

      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(namesIn(folder)).toEqual(first)
      expect(readFileSync(join(project.folder, 'server.ts'), 'utf8')).toBe(SERVER)
      // Nothing is left beside it.
      expect(namesIn(dirname(folder)).filter((name) => name.startsWith('.mayfly'))).toEqual([])
      expect(namesIn(project.folder).filter((name) => name !== out.split('/')[0])).toEqual(
        before.filter((name) => name !== out.split('/')[0]),
      )
    },
  )

  test('its permissions stay', async () => {
    await using project = new Project()
    project.write('server.ts', SERVER)
    mkdirSync(join(project.folder, 'out'))
    chmodSync(join(project.folder, 'out'), 0o750)
    await build(project, ['--target', 'node', '--out', 'out'])
    expect(statSync(join(project.folder, 'out')).mode & 0o777).toBe(0o750)
  })

  test('three builds at once into one folder: each succeeds, and what is there is one of them', async () => {
    await using project = new Project()
    project.write('server.ts', SERVER)
    const outputs = await Promise.all(
      [1, 2, 3].map(() => build(project, ['--target', 'lambda', '--out', 'out'])),
    )
    for (const { code, stderr } of outputs) expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(namesIn(project.folder)).toEqual(['out', 'server.ts'])
    expect(namesIn(join(project.folder, 'out'))).toEqual([
      '.mayfly-build',
      'function.zip',
      'secrets.yaml',
      'template.yaml',
    ])
  })

  test('a project that is reached through a link', async () => {
    await using project = new Project()
    project.write('server.ts', SERVER)
    await using other = new Project()
    symlinkSync(project.folder, join(other.folder, 'shop'))
    const { code } = await new MayflyProcess(
      [
        'build',
        join(other.folder, 'shop/server.ts'),
        '--target',
        'node',
        '--out',
        join(other.folder, 'shop/out'),
      ],
      join(other.folder, 'shop'),
    ).exited
    expect(code).toBe(0)
    expect(namesIn(project.folder)).toEqual(['out', 'server.ts'])
  })
})

/** Stands in for a tool that takes its time: it says that it builds, and never ends by itself. */
function writeSlowTool(project: Project): void {
  mkdirSync(join(project.folder, 'node_modules/wrangler'), { recursive: true })
  project.write('node_modules/wrangler/package.json', '{ "name": "wrangler", "bin": "cli.js" }')
  project.write(
    'node_modules/wrangler/cli.js',
    `const { writeFileSync } = require('node:fs')
const args = process.argv.slice(2)
writeFileSync(args[args.indexOf('--outdir') + 1] + '/server.js', 'half')
writeFileSync('started', '')
process.on('SIGTERM', () => {})
setInterval(() => {}, 1000)
`,
  )
}

describe('stopped halfway', { timeout: TIMEOUT_MS }, () => {
  /** `built`: what the earlier build left in its folder. */
  async function stopHalfway(
    signal: NodeJS.Signals,
  ): Promise<{ project: Project; code: number | null; built: string[] }> {
    const project = new Project()
    project.write('server.ts', SERVER)
    await build(project, ['--target', 'node', '--out', 'out'])
    const built = namesIn(join(project.folder, 'out'))
    expect(built).toEqual(expect.arrayContaining(['.mayfly-build', 'server.mjs', 'server.mjs.map']))
    writeSlowTool(project)
    const mayfly = new MayflyProcess(['build', '--target', 'cloudflare', '--out', 'out'], project.folder)
    await until(() => existsSync(join(project.folder, 'started')))
    const children = mayfly.descendants()
    expect(children.length).toBeGreaterThan(0)
    const { code } = await mayfly.signal(signal)
    await until(() => !areAlive(children))
    return { project, code, built }
  }

  test.for([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)(
    '%s → exit code %i, the earlier build in its place, no process and no file left',
    async ([signal, expected]) => {
      const { project, code, built } = await stopHalfway(signal)
      await using _ = project
      expect(code).toBe(expected)
      expect(namesIn(join(project.folder, 'out'))).toEqual(built)
      expect(namesIn(project.folder)).toEqual(['node_modules', 'out', 'server.ts', 'started'])
    },
  )

  test('SIGKILL → no process left, and the next build removes what was', async () => {
    const { project, built } = await stopHalfway('SIGKILL')
    await using _ = project
    expect(namesIn(join(project.folder, 'out'))).toEqual(built)
    expect(namesIn(project.folder)).toHaveLength(5)

    await build(project, ['--target', 'node', '--out', 'out'])

    expect(namesIn(project.folder)).toEqual(['node_modules', 'out', 'server.ts', 'started'])
  })

  test('killed between taking the earlier build away and putting the new one there → the next one brings it back', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mayfly-test-'))
    try {
      const out = join(folder, 'out')
      const place = { out, cwd: join(folder, 'shop'), sources: [], homes: [] }
      const first = openOutFolder(place)
      writeFileSync(join(first.staging, 'server.mjs'), 'first')
      first.commit()
      // Killed while the earlier build is beside its place; then as if the new one had not come there.
      const script = `import { openOutFolder } from ${JSON.stringify(join(import.meta.dirname, '../../deploy/build/out-folder.ts'))}
openOutFolder(${JSON.stringify(place)}, () => process.kill(process.pid, 'SIGKILL')).commit()`
      await once(spawn(process.execPath, ['--input-type=module', '-e', script]), 'exit')
      expect(namesIn(folder)).toHaveLength(2)
      rmSync(out, { recursive: true })

      const second = openOutFolder(place)
      second.discard()

      expect(namesIn(folder)).toEqual(['out'])
      expect(readFileSync(join(out, 'server.mjs'), 'utf8')).toBe('first')
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe('what the system refuses', { timeout: TIMEOUT_MS }, () => {
  test('a full disk → one line, nothing left', async () => {
    await using project = new Project()
    project.write('server.ts', SERVER)
    const place = { out: join(project.folder, 'out'), cwd: project.folder, sources: [], homes: [] }
    const { buildInto } = await import('../../deploy/targets/build-into.ts')
    const target = {
      build: () => Promise.reject(Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'write' })),
    }
    const full = buildInto(
      target,
      { cwd: place.cwd, entry: join(place.cwd, 'server.ts'), name: 'shop' },
      place.out,
    )
    await expect(full).rejects.toThrow('the build cannot be written (ENOSPC): the disk is full')
    expect(namesIn(project.folder)).toEqual(['server.ts'])
  })
})

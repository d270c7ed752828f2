/** Files above a project: those of another user are not used, and no file sets what decides which code runs. */
import { chmodSync, chownSync, existsSync, lchownSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { isReserved } from '../../deploy/project/env-file.ts'
import { refuseForeign } from '../../deploy/project/owner.ts'
import { projectFolders } from '../../deploy/project/project.ts'
import { readModules } from '../architecture/_modules.ts'
import { MayflyProcess, Project, stopAll } from './_dev-process.ts'

afterAll(stopAll)

const OTHER_USER = 54321
const MAYFLY = JSON.stringify(createRequire(import.meta.url).resolve('../../src/index.ts'))
const SERVER = `
import { writeFileSync } from 'node:fs'
import { MCPServer } from ${MAYFLY}
writeFileSync('seen.json', JSON.stringify(process.env))
export default new MCPServer({ id: 'shop', name: 'Shop', version: '1.0.0', tools: {} })
`
/** Leaves a file, so that it is known to have run. */
const EVIL = `import { writeFileSync } from 'node:fs'\nwriteFileSync(new URL('ran', import.meta.url), '')\n`
const THEIRS = `import { writeFileSync } from 'node:fs'\nwriteFileSync('ran', '')\n`

/** A shared folder with a project in it. */
class Shared extends Project {
  readonly inner = join(this.folder, 'work')

  constructor() {
    super()
    mkdirSync(this.inner)
    this.write('work/server.ts', SERVER)
    this.write('evil.mjs', EVIL)
  }

  /** Writes a file above the project, and gives it to another user. */
  plant(path: string, text: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true })
    this.write(path, text)
    for (let at = path; at !== '.'; at = dirname(at)) chownSync(join(this.folder, at), OTHER_USER, OTHER_USER)
  }

  give(): void {
    chownSync(this.folder, OTHER_USER, OTHER_USER)
  }

  doctor(): Promise<{ code: number | null; stdout: string; stderr: string }> {
    return new MayflyProcess(['doctor', '--target', 'node'], this.inner).exited
  }
}

describe.skipIf(process.geteuid?.() !== 0)('another user’s', () => {
  test('.netlify/state.json above the project does not name the site', async () => {
    await using shared = new Shared()
    shared.write('work/package.json', '{ "name": "shop" }')
    shared.plant('.netlify/state.json', '{ "siteId": "11111111-1111-4111-8111-111111111111" }')
    const args = ['deploy', '--target', 'netlify', '--dry-run', '--secret', 'API_KEY']
    const env = { API_KEY: 'abcdefghij', NETLIFY_SITE_ID: undefined }
    const run = (...more: string[]) =>
      new MayflyProcess([...args, ...more], shared.inner, undefined, env).exited
    const { code, stdout, stderr } = await run()
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/state\.json belongs to another user: name your site with -- --site/)
    expect(await run('--', '--site', 'mine')).toMatchObject({ code: 0 })
  })

  test('folder ends the search for files, whether it looks like a package or a repository', async () => {
    await using shared = new Shared()
    shared.write('package.json', '{}')
    mkdirSync(join(shared.folder, '.git'))
    const project = { cwd: shared.inner, entry: join(shared.inner, 'server.ts') }
    expect(projectFolders(project)).toEqual([shared.inner, shared.folder])
    shared.give()
    expect(projectFolders(project)).toEqual([shared.inner])
  })

  test('folder above a project of that user is used: the project is trusted, too', async () => {
    await using shared = new Shared()
    shared.write('package.json', '{}')
    shared.give()
    chownSync(shared.inner, OTHER_USER, OTHER_USER)
    expect(projectFolders({ cwd: shared.inner, entry: join(shared.inner, 'server.ts') })).toContain(
      shared.folder,
    )
  })

  test('.env in a folder of mine is not read, and a line says so', async () => {
    await using shared = new Shared()
    shared.plant('package.json', '{}')
    shared.write('work/package.json', '{}')
    shared.plant('work/.env', 'API_KEY=of-another-user')
    chownSync(shared.inner, 0, 0)
    const { code, stderr } = await shared.doctor()
    expect(code).toBe(0)
    expect(stderr).toBe('mayfly: .env belongs to another user: it is not read\n')
  })

  test('.env behind a link is not read', async () => {
    await using shared = new Shared()
    shared.plant('their.env', 'API_KEY=of-another-user')
    symlinkSync('../their.env', join(shared.inner, '.env'))
    expect((await shared.doctor()).stderr).toContain('.env belongs to another user')
  })

  test.each([
    ['node_modules/esbuild/package.json', '{ "main": "x.js" }', 'node_modules'],
    ['tsconfig.json', '{ "compilerOptions": { "paths": { "*": ["./evil.mjs"] } } }', 'tsconfig.json'],
    ['jsconfig.json', '{ "compilerOptions": { "paths": { "*": ["./evil.mjs"] } } }', 'jsconfig.json'],
    ['package.json', '{ "name": "esbuild", "exports": "./evil.mjs" }', 'package.json'],
    ['deno.json', '{ "imports": { "node:module": "./evil.mjs" } }', 'deno.json'],
  ])('%s above a project → refused, in every command that builds', async (path, text, name) => {
    await using shared = new Shared()
    shared.plant(path, text)
    const commands = [
      'doctor',
      'build',
      'stdio',
      'dev --port 0',
      'registry --url https://shop.example.com/mcp',
    ]
    for (const command of commands) {
      const [first = '', ...more] = command.split(' ')
      const target = ['stdio', 'registry'].includes(first) ? [] : ['--target', 'node']
      const { code, stderr } = await new MayflyProcess([first, 'server.ts', ...target, ...more], shared.inner)
        .exited
      expect([command, code]).toEqual([command, 1])
      expect(stderr).toContain(`${join(shared.folder, name)} belongs to another user`)
    }
    expect(existsSync(join(shared.folder, 'ran'))).toBe(false)
  })

  const URL_ARGS = ['--url', 'https://shop.example.com/mcp']
  const ADD = ['add', 'https://shop.example.com/mcp', '--client', 'cursor', '--scope', 'project']
  const REGISTRY = ['registry', 'server.ts', ...URL_ARGS]
  const INGEST = ['ingest', 'page.md', '--store', 'store.json', '--index', 'docs', '--model', 'model.mjs']
  test.each([
    ['a link in the place of the file', ADD, '.cursor/mcp.json', 'mine.json'],
    ['a link in the place of its folder', ADD, '.cursor', '.'],
    ['a link in the place of the file', REGISTRY, 'server.json', 'mine.json'],
    ['a link to the folder of the file', [...REGISTRY, '--out', 'sub/mcp.json'], 'sub', '.'],
    ['a link to a link of theirs', [...REGISTRY, '--out', 'own.json'], 'server.json', 'mine.json'],
    ['a link in the place of the file', INGEST, 'store.json', 'mine.json'],
  ])('%s → not written: %j', async (_what, args, link, target) => {
    await using shared = new Shared()
    shared.write('work/page.md', '# A page')
    shared.write('work/model.mjs', 'export default async (texts) => texts.map(() => [1])')
    mkdirSync(join(shared.folder, 'mine'))
    shared.write('mine/mine.json', '{}')
    shared.write('mine/mcp.json', '{}')
    mkdirSync(dirname(join(shared.inner, link)), { recursive: true })
    symlinkSync(join(shared.folder, 'mine', target), join(shared.inner, link))
    lchownSync(join(shared.inner, link), OTHER_USER, OTHER_USER)
    symlinkSync(link, join(shared.inner, 'own.json'))

    const { code, stderr } = await new MayflyProcess(args, shared.inner).exited

    expect([code, stderr]).toEqual([1, expect.stringContaining('is behind a link of another user')])
    for (const name of ['mine.json', 'mcp.json'])
      expect(readFileSync(join(shared.folder, 'mine', name), 'utf8')).toBe('{}')
  })

  test.each([[ADD], [REGISTRY]])(
    'file in a folder that everyone may write to → not written: %j',
    async (args) => {
      await using shared = new Shared()
      const path = args[0] === 'add' ? '.cursor/mcp.json' : 'server.json'
      shared.plant(`work/${path}`, '{}')
      for (const folder of [shared.inner, dirname(join(shared.inner, path))]) chownSync(folder, 0, 0)
      chmodSync(dirname(join(shared.inner, path)), 0o1777)

      const { code, stderr } = await new MayflyProcess(args, shared.inner).exited

      expect([code, stderr]).toEqual([1, expect.stringContaining('belongs to another user')])
      expect(readFileSync(join(shared.inner, path), 'utf8')).toBe('{}')
    },
  )

  test('packages in a project of mine are used', async () => {
    await using shared = new Shared()
    shared.plant('node_modules/x/package.json', '{}')
    chownSync(shared.folder, 0, 0)
    expect(() => refuseForeign(shared.folder)).not.toThrow()
    expect(() => refuseForeign(shared.inner)).toThrow('node_modules belongs to another user')
    chmodSync(shared.folder, 0o1777)
    expect(() => refuseForeign(shared.folder)).toThrow('node_modules belongs to another user')
  })

  test('what is above the target of a linked entry → refused', async () => {
    await using shared = new Shared()
    await using own = new Project()
    shared.plant('node_modules/x/package.json', '{}')
    symlinkSync(join(shared.inner, 'server.ts'), join(own.folder, 'server.ts'))
    const args = ['doctor', 'server.ts', '--target', 'node']
    const { code, stderr } = await new MayflyProcess(args, own.folder).exited
    expect([code, stderr]).toEqual([1, expect.stringContaining('node_modules belongs to another user')])
  })

  test.each([
    ['server.ts', 'export default {}', ['doctor', '--target', 'node']],
    ['wrangler.toml', '[build]\ncommand = "touch ran"', ['build', '--target', 'cloudflare']],
  ])('%s in a folder that everyone may write to → refused', async (name, text, args) => {
    await using project = new Project()
    project.write('server.ts', SERVER)
    project.write(name, text)
    chownSync(join(project.folder, name), OTHER_USER, OTHER_USER)
    chmodSync(project.folder, 0o1777)
    const { code, stderr } = await new MayflyProcess(args, project.folder).exited
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${name} belongs to another user`)])
  })

  test.each([
    ['a linked folder', (project: Shared) => symlinkSync('../theirs', join(project.inner, 'lib'))],
    [
      'a linked package',
      (project: Shared) => {
        mkdirSync(join(project.inner, 'node_modules'))
        symlinkSync('../../theirs', join(project.inner, 'node_modules/lib'))
      },
    ],
    [
      'a file in a folder of mine',
      (project: Shared) => {
        mkdirSync(join(project.inner, 'lib'))
        project.write('work/lib/index.js', THEIRS)
        chownSync(join(project.inner, 'lib/index.js'), OTHER_USER, OTHER_USER)
      },
    ],
  ])(
    'code of another user behind an import (%s) → refused before it runs, in every command',
    async (what, link) => {
      await using shared = new Shared()
      shared.plant('theirs/index.js', THEIRS)
      shared.plant('theirs/package.json', '{ "name": "lib", "main": "index.js" }')
      chownSync(shared.folder, 0, 0)
      link(shared)
      const specifier = what === 'a linked package' ? 'lib' : './lib/index.js'
      shared.write('work/server.ts', `import ${JSON.stringify(specifier)}\n${SERVER}`)
      for (const command of [
        ...['doctor', 'build', 'dev --port 0'].flatMap((one) => [
          `${one} --target node`,
          `${one} --target deno`,
        ]),
        ...[
          'build --target cloudflare',
          'dev --port 0 --target cloudflare',
          'stdio',
          'preview --port 0 --target node',
        ],
      ]) {
        const { code, stdout, stderr } = await new MayflyProcess(command.split(' '), shared.inner).exited
        expect([command, code, `${stdout}${stderr}`]).toEqual([
          command,
          1,
          expect.stringMatching(/(?:theirs|lib)\S* belongs to another user/),
        ])
        expect([command, existsSync(join(shared.inner, 'ran'))]).toEqual([command, false])
      }
    },
  )

  test('tsconfig.json above my own does not matter', async () => {
    await using shared = new Shared()
    shared.plant('tsconfig.json', '{}')
    shared.write('work/tsconfig.json', '{}')
    expect((await shared.doctor()).code).toBe(0)
  })
})

test('whatever bundles code checks whose it is', () => {
  const bundlers = readModules('deploy').filter(({ source }) => /esbuild\.build\(/.test(source.text))
  expect(bundlers.length).toBeGreaterThan(3)
  for (const { file, source } of bundlers)
    expect([file, source.text.includes('refuseForeignInputs(metafile')]).toEqual([
      file,
      // What it bundles is only searched for names.
      file !== 'deploy/build/bundler.ts',
    ])
})

const RESERVED = [
  ...[
    'NODE_OPTIONS',
    'NODE_PATH',
    'NODE_EXTRA_CA_CERTS',
    'LD_PRELOAD',
    'DYLD_INSERT_LIBRARIES',
    'PATH',
    'Path',
  ],
  ...['BASH_ENV', 'npm_config_script_shell', 'NPM_CONFIG_PREFIX', 'GIT_SSH_COMMAND', 'ESBUILD_BINARY_PATH'],
  ...[
    'BUN_INSPECT_PRELOAD',
    'DENO_CERT',
    'DENO_TLS_CA_STORE',
    'PYTHONUSERBASE',
    '_JAVA_OPTIONS',
    'DOCKER_HOST',
  ],
  ...['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE', 'AWS_CA_BUNDLE'],
  ...['AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE', 'DOCKER_CONFIG', 'REQUESTS_CA_BUNDLE', 'GIT_SSL_NO_VERIFY'],
  ...['DENO_DIR', 'BUN_CONFIG_REGISTRY', 'PNPM_HOME', 'NAPI_RS_NATIVE_LIBRARY_PATH', 'SSH_ASKPASS'],
  ...['CLOUDFLARED_PATH', 'CLOUDFLARE_API_BASE_URL', 'WRANGLER_AUTH_DOMAIN', 'WRANGLER_DOCKER_BIN'],
]

test('what no file may set, and what looks alike', () => {
  expect(RESERVED.filter((name) => !isReserved(name))).toEqual([])
  const free = [
    'NODE_ENV',
    'NODE_URL',
    'GIT_SHA',
    'GITHUB_TOKEN',
    'PATH_PREFIX',
    'API_KEY',
    'ENV',
    'LDAP_URL',
    ...[
      'AWS_REGION',
      'AWS_PROFILE',
      'AWS_ACCESS_KEY_ID',
      'AWS_ENDPOINT_URL',
      'HTTPS_PROXY',
      'DENO_DEPLOY_TOKEN',
    ],
    ...['BUN_PORT', 'DOCKER_IMAGE', 'CLOUDFLARE_API_TOKEN', 'WRANGLER_LOG', 'WRANGLER_SEND_METRICS'],
    'WRANGLER_HYPERDRIVE_LOCAL_CONNECTION_STRING_DB',
  ]
  expect(free.filter(isReserved)).toEqual([])
})

describe('a variable that decides which code runs, in a .env of mine', () => {
  const lines = (folder: string) =>
    RESERVED.filter((name) => name !== 'NODE_OPTIONS')
      .map((name) => `${name}=from-a-file`)
      .concat(`NODE_OPTIONS=--import=${join(folder, 'evil.mjs')}`, 'OWN=1')
      .join('\n')

  test.each([['doctor'], ['dev --port 0'], ['preview --port 0'], ['stdio']])(
    '%s → one warning for each, and nothing of it in the server’s environment',
    async (command) => {
      await using shared = new Shared()
      shared.write('work/.env', lines(shared.folder))
      const [first = '', ...more] = command.split(' ')
      const target = first === 'stdio' ? [] : ['--target', 'node']
      const mayfly = new MayflyProcess([first, 'server.ts', ...target, ...more], shared.inner, undefined, {
        NODE_OPTIONS: undefined,
      })
      if (first === 'dev' || first === 'preview') {
        await mayfly.ready()
        await mayfly.signal('SIGTERM')
      }
      const { stderr } = await mayfly.exited
      for (const name of RESERVED)
        expect(
          stderr.split(`.env sets ${name}, which is only taken from the environment: it is ignored\n`),
        ).toHaveLength(2)
      const seen = JSON.parse(readFileSync(join(shared.inner, 'seen.json'), 'utf8')) as Record<string, string>
      expect(Object.entries(seen).filter(([, value]) => value === 'from-a-file')).toEqual([])
      expect(seen.OWN).toBe('1')
      expect(existsSync(join(shared.folder, 'ran'))).toBe(false)
    },
  )

  test.each([['dev --port 0'], ['build']])(
    'wrangler %s, which reads the file by itself → refused',
    async (command) => {
      await using shared = new Shared()
      shared.write('work/.env', 'NODE_OPTIONS=--import=./evil.mjs')
      const { code, stderr } = await new MayflyProcess(
        [...command.split(' '), '--target', 'cloudflare'],
        shared.inner,
      ).exited
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining('.env sets NODE_OPTIONS, and wrangler reads the file by itself'),
      ])
    },
  )

  test('deploy --secret takes it from the environment alone', async () => {
    await using shared = new Shared()
    shared.write('work/.env', 'NODE_OPTIONS=--import=./evil.mjs')
    const args = ['deploy', '--target', 'vercel', '--dry-run', '--secret', 'NODE_OPTIONS']
    const { code, stderr } = await new MayflyProcess(args, shared.inner, undefined, { NODE_OPTIONS: '' })
      .exited
    expect([code, stderr]).toEqual([
      1,
      'mayfly: NODE_OPTIONS has no value, and is not taken from a file: set it in the environment\n',
    ])
  })
})

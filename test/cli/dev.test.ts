/** `mayfly dev`, spawned for real on each target. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { resolveTool } from '../../deploy/project/project-tool.ts'
import { testPort } from '../_port.ts'
import { areAlive, MayflyProcess, type Output, Project, stopAll, until } from './_dev-process.ts'

afterAll(stopAll)

const TIMEOUT_MS = 180_000
const root = fileURLToPath(new URL('../..', import.meta.url))

/** Answers any request with what it is and where it runs, and prints to stdout, which must not get through. */
const server = (version: string): string => `
  export default {
    async fetch(request: Request, env: Record<string, unknown>): Promise<Response> {
      console.log('a line of the server')
      const result = { version: '${version}', runtime: navigator.userAgent, hosts: env.MAYFLY_ALLOWED_HOSTS }
      return Response.json({ jsonrpc: '2.0', id: 1, result })
    },
  }
`

interface Answer {
  version: string
  runtime: string
  hosts: string
}

const post = (port: number): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}/mcp`, { method: 'POST', body: '{}' })

const answerOf = async (response: Response): Promise<Answer> =>
  ((await response.json()) as { result: Answer }).result

const ask = (port: number): Promise<Answer> => post(port).then(answerOf)

const isServing = (port: number, version: string): Promise<boolean> =>
  ask(port).then(
    (answer) => answer.version === version,
    () => false,
  )

function expectOneLine({ code, stdout, stderr }: Output, ...words: string[]): void {
  expect(stderr).toMatch(/^mayfly: [^\n]+\n$/)
  for (const word of words) expect(stderr).toContain(word)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
}

function isEsbuild(pid: number): boolean {
  return execFileSync('ps', ['-o', 'comm=', '-p', `${pid}`], { encoding: 'utf8' }).trim() === 'esbuild'
}

/** Folders of `mayfly dev` itself, and of wrangler for one run. */
function leftIn({ folder }: Project): string[] {
  return ['node_modules/.mayfly', '.wrangler/tmp'].flatMap((parent) => {
    const path = join(folder, parent)
    return existsSync(path) ? readdirSync(path).map((name) => join(path, name)) : []
  })
}

describe.for(['node', 'cloudflare'])('%s', { timeout: TIMEOUT_MS, concurrent: true }, (target) => {
  async function run(project: Project, entry = 'server.ts'): Promise<Output> {
    const port = String(await testPort())
    return new MayflyProcess(['dev', entry, '--target', target, '--port', port], project.folder).exited
  }

  test('the ready line is the only one on stdout, and SIGINT leaves no process behind', async () => {
    await using project = new Project()
    project.write('server.ts', server('1'))
    const port = await testPort()
    await using mayfly = new MayflyProcess(
      ['dev', 'server.ts', '--target', target, '--port', String(port)],
      project.folder,
    )
    await mayfly.ready()
    const answer = await ask(port)
    const started = mayfly.descendants()
    const { code, stdout, stderr } = await mayfly.signal('SIGINT')

    expect(stdout).toBe(`ready http://127.0.0.1:${port}/mcp\n`)
    expect(stderr).toContain(`npx mayfly add http://127.0.0.1:${port}/mcp --client cursor\n`)
    expect(stderr).toContain('a line of the server')
    expect(answer.hosts).toBe('localhost,127.0.0.1,[::1]')
    expect(answer.runtime).toMatch(target === 'node' ? /^Node/ : /^Cloudflare/)
    expect(code).toBe(0)
    expect(started.length).toBeGreaterThan(0)
    await until(() => !areAlive(started))
  })

  test('SIGTERM before the server is ready → exit code 0, no process left', async () => {
    await using project = new Project()
    project.write('server.ts', 'export default { fetch: () => new Promise(() => {}) }')
    const port = String(await testPort())
    await using mayfly = new MayflyProcess(['dev', '--target', target, '--port', port], project.folder)
    await until(() => mayfly.descendants().length > 1)
    const started = mayfly.descendants()
    const { code, stdout } = await mayfly.signal('SIGTERM')

    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    await until(() => !areAlive(started))
  })

  test('a change is served; one that does not build is reported and the server goes on', async () => {
    await using project = new Project()
    project.write('server.ts', `export { default } from './other.ts'`)
    project.write('other.ts', server('1'))
    const port = await testPort()
    await using mayfly = new MayflyProcess(
      ['dev', '--target', target, '--port', String(port)],
      project.folder,
    )
    await mayfly.ready()
    expect((await ask(port)).version).toBe('1')

    project.write('other.ts', server('2'))
    await until(() => isServing(port, '2'))

    project.write('other.ts', 'export default {{{')
    await mayfly.says('other.ts:1:')
    // Node answers with the previous build; wrangler holds the request until the next one, or sends it to a Worker that it ends.
    const meanwhile = post(port)

    project.write('other.ts', server('3'))
    await until(() => isServing(port, '3'))
    const held = await meanwhile
    if (held.status === 503) expect(await held.text()).toContain('restarted mid-request')
    else expect(['2', '3']).toContain((await answerOf(held)).version)
    expect(mayfly.stdout.match(/ready/g)).toHaveLength(1)
  })

  test('whoever reads its output has gone → it ends, no process left', async () => {
    await using project = new Project()
    project.write('server.ts', server('1'))
    const port = await testPort()
    await using mayfly = new MayflyProcess(
      ['dev', '--target', target, '--port', String(port)],
      project.folder,
    )
    await mayfly.ready()
    const started = mayfly.descendants()
    mayfly.child.stdout?.destroy()
    mayfly.child.stderr?.destroy()
    // What is printed about the change cannot be written any more.
    project.write('server.ts', server('2'))

    expect((await mayfly.exited).code).toBe(0)
    await until(() => !areAlive(started))
  })

  test('SIGKILL → no process left, the port is free, and the next start removes what was left', async () => {
    await using project = new Project()
    project.write('server.ts', server('1'))
    const port = String(await testPort())
    const args = ['dev', '--target', target, '--port', port]
    mkdirSync(join(project.folder, 'tmp'))
    const env = { TMPDIR: join(project.folder, 'tmp') }
    await using first = new MayflyProcess(args, project.folder, undefined, env)
    await first.ready()
    const started = first.descendants()
    const left = leftIn(project)
    await first.signal('SIGKILL')
    await until(() => !areAlive(started))
    // What a platform's own tool leaves there when it is ended in the middle is not ours to remove.
    await until(() => !readdirSync(env.TMPDIR).some((name) => name.startsWith('mayfly-')))

    await using second = new MayflyProcess(args, project.folder, undefined, env)
    await second.ready()
    for (const name of left) expect(leftIn(project)).not.toContain(name)
    await second.signal('SIGINT')
    expect(leftIn(project)).toEqual([])
  })

  test('SIGKILL, and esbuild does not notice → it is ended all the same', async () => {
    await using project = new Project()
    project.write('server.ts', server('1'))
    await using mayfly = new MayflyProcess(
      ['dev', '--target', target, '--port', `${await testPort()}`],
      project.folder,
    )
    await mayfly.ready()
    const started = mayfly.descendants()
    // Stopped, it can hear of nothing, as one that waits for an answer to its ping.
    const stopped = started.filter(isEsbuild)
    for (const pid of stopped) process.kill(pid, 'SIGSTOP')
    mayfly.child.kill('SIGKILL')
    await until(() => !areAlive(started))
    expect(stopped.length).toBeGreaterThan(0)
  })

  test('two at once in one folder do not meet', async () => {
    await using project = new Project()
    project.write('server.ts', server('1'))
    const ports = [await testPort(), await testPort()]
    await using first = new MayflyProcess(
      ['dev', '--target', target, '--port', `${ports[0]}`],
      project.folder,
    )
    await using second = new MayflyProcess(
      ['dev', '--target', target, '--port', `${ports[1]}`],
      project.folder,
    )
    await Promise.all([first.ready(), second.ready()])
    await first.signal('SIGINT')

    expect((await ask(ports[1] ?? 0)).version).toBe('1')
  })

  test('a busy port → one line', async () => {
    await using project = new Project()
    project.write('server.ts', server('1'))
    const port = await testPort()
    const other = createServer().listen(port, '127.0.0.1')
    const mayfly = new MayflyProcess(['dev', '--target', target, '--port', String(port)], project.folder)
    const output = await mayfly.exited
    other.close()

    expectOneLine(output, `port ${port} is in use`)
  })

  test('--port 0 → a port for each process, although it draws the same one every time', async () => {
    await using project = new Project()
    project.write('server.ts', server('1'))
    const drawn = target === 'node' ? 0.25 : 0.5
    const env = { NODE_OPTIONS: `--import=data:text/javascript,Math.random=()=>${drawn}` }
    await using mayfly = new MayflyProcess(
      ['dev', '--target', target, '--port', '0'],
      project.folder,
      undefined,
      env,
    )
    await mayfly.ready()

    const { port } = new URL(mayfly.stdout.replace('ready ', ''))
    expect((await ask(Number(port))).version).toBe('1')
  })

  test.for([
    [[], 'go to the folder of your project, or write a new one with npx mayfly-mcp init shop --target node'],
    [
      ['package.json'],
      'pass the file that exports the server, or write a new project with npx mayfly-mcp init',
    ],
    [
      ['package.json', 'app.js', 'server.js'],
      'pass server.js, if it exports the server, as in mayfly dev server.js',
    ],
  ] as const)('no entry, in a folder with %j → one line that says what to type', async ([files, message]) => {
    await using project = new Project()
    for (const file of files) project.write(file, file === 'package.json' ? '{}' : '')
    expectOneLine(
      await new MayflyProcess(['dev', '--target', target], project.folder).exited,
      `there is no src/server.ts, server.ts, src/index.ts: ${message}`,
    )
  })

  test('an entry that does not exist → one line', async () => {
    await using project = new Project()
    expectOneLine(await run(project, 'nowhere.ts'), 'there is no file nowhere.ts')
  })

  test('an entry without a default export → one line', async () => {
    await using project = new Project()
    project.write('server.ts', 'export const server = 1')
    expectOneLine(await run(project), 'server.ts has no default export')
  })

  test.for(['{}', '42', 'null'])('a default export %s → one line: no fetch function', async (value) => {
    await using project = new Project()
    project.write('server.ts', `export default ${value}`)
    expectOneLine(await run(project), 'server.ts (line 1) has no fetch function')
  })

  test('a syntax error → one line with its place', async () => {
    await using project = new Project()
    project.write('server.ts', 'export default {\n  fetch( }')
    expectOneLine(await run(project), 'server.ts:2:')
  })

  test('an import that cannot be found → exit code 1, its name on stderr', async () => {
    await using project = new Project()
    project.write('server.ts', `import 'not-installed'\n${server('1')}`)
    const { code, stdout, stderr } = await run(project)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('not-installed')
  })

  test('an entry that throws → one line, without a stack', async () => {
    await using project = new Project()
    project.write('server.ts', `${server('1')}\nthrow new TypeError('tools.x needs a description')`)
    expectOneLine(await run(project), 'server.ts cannot be loaded: TypeError: tools.x needs a description')
  })

  // wrangler's own configuration may set it: there, it is a warning.
  test.runIf(target === 'node')(
    'a token of a team that is not set → one line that names its entry',
    async () => {
      await using project = new Project()
      project.write(
        'server.ts',
        `import { MCPServer } from '${join(import.meta.dirname, '../../dist/src/index.js')}'
import { staticTokens } from '${join(import.meta.dirname, '../../dist/src/auth.js')}'
const auth = staticTokens(({ UNSET_TOKEN }: { UNSET_TOKEN: string }) => [{ token: UNSET_TOKEN, clientId: 'ci' }])
export default new MCPServer({ id: 'a', name: 'A', version: '1.0.0', auth })`,
      )
      expectOneLine(
        await run(project),
        'server.ts: auth: The static token of "ci" must have at least 16 characters: is the variable that it comes from set?',
      )
    },
  )

  test('a server that does not answer JSON-RPC at /mcp → says so', async () => {
    await using project = new Project()
    project.write('server.ts', `export default { fetch: () => new Response('', { status: 404 }) }`)
    const { code, stdout, stderr } = await run(project)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('/mcp returned status 404 instead of JSON-RPC')
  })

  test.skipIf(!existsSync(`${root}/examples/showcase/server.ts`))('the showcase is served', async () => {
    const port = String(await testPort())
    const args = ['dev', 'examples/showcase/server.ts', '--target', target, '--port', port]
    await using mayfly = new MayflyProcess(args, root)
    await mayfly.ready()
    expect(mayfly.stdout).toBe(`ready http://127.0.0.1:${port}/mcp\n`)
  })

  test.skipIf(!existsSync(`${root}/dist/deploy/cli.js`))('the built CLI serves too', async () => {
    await using project = new Project()
    project.write('server.ts', server('1'))
    const args = ['dev', '--target', target, '--port', String(await testPort())]
    await using mayfly = new MayflyProcess(args, project.folder, `${root}/dist/deploy/cli.js`)
    await mayfly.ready()
    expect(mayfly.stdout).toMatch(/^ready /)
  })
})

describe('node only', { timeout: TIMEOUT_MS }, () => {
  test('a server that crashes is started again by the next change', async () => {
    await using project = new Project()
    project.write('server.ts', `${server('1')}\nprocess.on('SIGUSR2', () => process.exit(3))`)
    const port = await testPort()
    await using mayfly = new MayflyProcess(
      ['dev', '--target', 'node', '--port', String(port)],
      project.folder,
    )
    await mayfly.ready()
    for (const pid of mayfly.descendants()) process.kill(pid, 'SIGUSR2')
    await mayfly.says('mayfly: the server ended with exit code')

    project.write('server.ts', server('2'))
    await until(() => isServing(port, '2'))
  })
})

test('lambda: a large response to a slow client leaves no listeners behind', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using project = new Project()
  project.write(
    'server.ts',
    `${server('1')}\nexport const big = 'x'.repeat(6_000_000)`.replace(
      'const result',
      "if ((await request.text()) === '{}') return new Response(big)\n      const result",
    ),
  )
  const port = await testPort()
  await using mayfly = new MayflyProcess(
    ['dev', '--target', 'lambda', '--port', String(port), '--no-playground'],
    project.folder,
  )
  await mayfly.ready()
  const response = await post(port)
  await pause(500)
  expect((await response.text()).length).toBe(6_000_000)
  mayfly.signal('SIGINT')
  expect((await mayfly.exited).stderr).not.toContain('MaxListeners')
})

test.each([0, 100, 200, 300, 400, 600, 800])(
  'Ctrl+C, which also reaches esbuild, %i ms after it starts → exit code 0, without a stack',
  { timeout: TIMEOUT_MS },
  async (ms) => {
    await using project = new Project()
    project.write('server.ts', server('1'))
    const port = String(await testPort())
    await using mayfly = new MayflyProcess(['dev', '--target', 'node', '--port', port], project.folder)
    await until(() => mayfly.descendants().some(isEsbuild))
    await pause(ms)
    for (const pid of mayfly.descendants()) process.kill(pid, 'SIGINT')
    const { code, stderr } = await mayfly.signal('SIGINT')
    expect(stderr).not.toContain('    at ')
    expect(code).toBe(0)
  },
)

test('SIGINT while the watch waits for an esbuild that is gone → exit code 0, no process left', async () => {
  await using project = new Project()
  project.write('server.ts', server('1'))
  mkdirSync(join(project.folder, 'node_modules/esbuild'), { recursive: true })
  project.write('node_modules/esbuild/package.json', '{ "main": "main.mjs" }')
  project.write(
    'node_modules/esbuild/main.mjs',
    `export * from ${JSON.stringify(pathToFileURL(resolveTool('esbuild', root)))}
     export const context = async () => ({ watch: async () => console.error('watching'), dispose: async () => {} })`,
  )
  const port = String(await testPort())
  await using mayfly = new MayflyProcess(['dev', '--target', 'node', '--port', port], project.folder)
  await mayfly.says('watching')
  const started = mayfly.descendants()
  expect((await mayfly.signal('SIGINT')).code).toBe(0)
  await until(() => !areAlive(started))
})

test('Ctrl+C during a build, noticed by esbuild first → exit code 130, without a stack', async () => {
  await using project = new Project()
  project.write('server.ts', server('1'))
  await using mayfly = new MayflyProcess(['build', '--target', 'node'], project.folder)
  await until(() => mayfly.descendants().some(isEsbuild))
  for (const pid of mayfly.descendants()) process.kill(pid, 'SIGINT')
  await pause(20)
  const { code, stderr } = await mayfly.signal('SIGINT')
  expect({ code, stderr }).toEqual({ code: 130, stderr: '' })
})

describe('cloudflare only', { timeout: TIMEOUT_MS }, () => {
  test('a wrangler that does not know the options → one line that says what to install', async () => {
    await using project = new Project()
    project.write('server.ts', server('1'))
    mkdirSync(join(project.folder, 'node_modules/wrangler'), { recursive: true })
    project.write('node_modules/wrangler/package.json', '{ "version": "4.86.0", "bin": "cli.cjs" }')
    project.write('node_modules/wrangler/cli.cjs', 'process.exit(1)')
    const output = await new MayflyProcess(['dev', '--target', 'cloudflare', '--port', '0'], project.folder)
      .exited
    expectOneLine(output, 'wrangler 4.86.0 is too old: run npm install --save-dev wrangler@4')
  })

  test('a wrangler configuration makes it the default target, and a route does not change the host', async () => {
    await using project = new Project()
    project.write(
      'wrangler.jsonc',
      '{ "name": "shop", "compatibility_date": "2026-06-01", "routes": ["a.example/*"] }',
    )
    const shown = `{ version: request.headers.get('host'), runtime: navigator.userAgent }`
    project.write(
      'server.ts',
      `export default { fetch: (request: Request) => Response.json({ jsonrpc: '2.0', id: 1, result: ${shown} }) }`,
    )
    const port = await testPort()
    await using mayfly = new MayflyProcess(['dev', '--port', String(port)], project.folder)
    await mayfly.ready()

    expect(await ask(port)).toEqual({ version: `127.0.0.1:${port}`, runtime: 'Cloudflare-Workers' })
  })

  test('.dev.vars is read without a wrangler configuration', async () => {
    await using project = new Project()
    project.write('.dev.vars', 'MAYFLY_SECRET=from-the-file')
    project.write(
      'server.ts',
      `export default { fetch: (request: Request, env: object) => Response.json({ jsonrpc: '2.0', id: 1, result: env }) }`,
    )
    const port = await testPort()
    await using mayfly = new MayflyProcess(
      ['dev', '--target', 'cloudflare', '--port', `${port}`],
      project.folder,
    )
    await mayfly.ready()

    expect(await ask(port)).toMatchObject({ MAYFLY_SECRET: 'from-the-file' })
  })
})

describe('arguments', { timeout: TIMEOUT_MS }, () => {
  test.for([
    ['dev --target mainframe', 'there is no target "mainframe"'],
    ['dev --port many', '"many" is not a port'],
    ['dev --port 70000', '"70000" is not a port'],
    ['dev --colour', "Unknown option '--colour'"],
    ['dev a.ts b.ts', 'only one entry is allowed'],
    ['dev', 'there is no src/server.ts, server.ts, src/index.ts'],
    ['serve', 'there is no command "serve"'],
  ] as const)('mayfly %s → one line', async ([args, line]) => {
    await using project = new Project()
    const { code, stdout, stderr } = await new MayflyProcess(args.split(' '), project.folder).exited
    expect(stderr).toMatch(/^mayfly: [^\n]+\n$/)
    expect(stderr).toContain(line)
    expect({ code, stdout }).toEqual({ code: args === 'dev' ? 1 : 2, stdout: '' })
  })

  test.for(['--help', 'dev --help'])('mayfly %s → what it can do, exit code 0', async (args) => {
    const { code, stdout } = await new MayflyProcess(args.split(' '), root).exited
    expect(code).toBe(0)
    expect(stdout).toContain('mayfly')
  })

  test('mayfly --version → the version of the package', async () => {
    const { stdout } = await new MayflyProcess(['--version'], root).exited
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\S*\n$/)
  })
})

test('a tool that is not installed → how to install it', () => {
  expect(() => resolveTool('no-such-tool/package.json', root)).toThrow(
    'no-such-tool is not installed: run npm install --save-dev no-such-tool',
  )
})

/** `mayfly dev` while its server is replaced, and as it ends: under npm, and where nobody reaps what has ended. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { testPort } from '../_port.ts'
import { areAlive, MayflyProcess, Project, stopAll, until } from './_dev-process.ts'

afterAll(stopAll)

const CLI = fileURLToPath(new URL('../../deploy/cli.ts', import.meta.url))
const TIMEOUT_MS = 180_000

const server = (version: string): string => `
  export default {
    async fetch(request: Request): Promise<Response> {
      if (request.url.endsWith('/end')) process.exit(3)
      return Response.json({ jsonrpc: '2.0', id: 1, result: { version: '${version}' } })
    },
  }
`

const hanging = `
  import { appendFileSync } from 'node:fs'
  console.log('hangs')
  appendFileSync('loads.txt', '.')
  await new Promise((resolve) => setTimeout(resolve, 3_600_000))
  ${server('2')}
`

/** Over a connection of its own. */
async function versionAt(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: { connection: 'close' },
    body: '{}',
  })
  return ((await response.json()) as { result: { version: string } }).result.version
}

const devArgs = (target: string, port: number): string[] => ['dev', '--target', target, '--port', `${port}`]

describe.for(['node', 'deno', 'bun'])('%s', { timeout: TIMEOUT_MS }, (target) => {
  test('no connection is refused while the server is replaced, again and again', async () => {
    await using project = new Project()
    project.write('server.ts', server('1'))
    const port = await testPort()
    await using mayfly = new MayflyProcess(devArgs(target, port), project.folder)
    await mayfly.ready()
    for (const version of ['2', '3']) {
      project.write('server.ts', server(version))
      // Any refusal is thrown.
      await until(async () => (await versionAt(port)) === version)
    }
  })

  test('a replacement that ends as it starts is reported, and the last server goes on', async () => {
    await using project = new Project()
    project.write('server.ts', server('1'))
    const port = await testPort()
    await using mayfly = new MayflyProcess(devArgs(target, port), project.folder)
    await mayfly.ready()
    project.write('server.ts', `${server('2')}\nprocess.exit(3)`)
    await mayfly.says(/mayfly: .*exit code 3/)
    expect(await versionAt(port)).toBe('1')
  })

  test('a server that ends by itself is reported, and started again by the next change', async () => {
    await using project = new Project()
    project.write('server.ts', server('1'))
    const port = await testPort()
    await using mayfly = new MayflyProcess(devArgs(target, port), project.folder)
    await mayfly.ready()
    await expect(fetch(`http://127.0.0.1:${port}/end`)).rejects.toThrow()
    await mayfly.says(/mayfly: .*exit code 3.*save a file/)
    await expect(versionAt(port)).rejects.toThrow()
    project.write('server.ts', server('2'))
    await until(() =>
      versionAt(port).then(
        (version) => version === '2',
        () => false,
      ),
    )
  })

  test('SIGTERM to npm run dev → no process left', async () => {
    await using project = new Project()
    project.write('server.ts', server('1'))
    const port = await testPort()
    const dev = [process.execPath, CLI, ...devArgs(target, port)].join(' ')
    project.write('package.json', JSON.stringify({ type: 'module', scripts: { dev } }))
    // A group of its own, so that a test that fails leaves nothing running; stderr is not that of the tests, which a process left behind
    // would hold open.
    const npm = spawn('npm', ['run', 'dev'], {
      cwd: project.folder,
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    })
    let started: number[] = []
    try {
      let stdout = ''
      npm.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout += text
      })
      // A silent npm prints no header before it.
      await until(() => /^ready /m.test(stdout))
      started = below(npm.pid!)
      expect(started.length).toBeGreaterThan(2)
      npm.kill('SIGTERM')
      await until(() => !areAlive([npm.pid!, ...started]))
    } finally {
      for (const pid of [npm.pid!, ...started]) if (areAlive([pid])) process.kill(pid, 'SIGKILL')
    }
  })
})

const MISTAKES: readonly (readonly [name: string, source: string, words: RegExp])[] = [
  ['a syntax error', 'export default {', /mayfly: server\.ts:\d+:\d+: .*end of file\n/],
  ['an import that is missing', `import 'nope'\n${server('2')}`, /mayfly: server\.ts:1:8: .*"nope".*\n/],
  ['an import that throws', `import './broken.ts'\n${server('2')}`, /mayfly: .*no database.*\n/],
  ['no server', 'export default Promise.resolve({})', /mayfly: .*it is a promise.*\n/],
  ['no default export', 'export const a = 1', /mayfly: server\.ts has no default export: .*\n/],
]

describe('a mistake', { timeout: TIMEOUT_MS }, () => {
  test.for(['node', 'lambda'])(
    '%s: is named, and the last good server goes on, which is said',
    async (target) => {
      await using project = new Project()
      project.write('broken.ts', `throw new Error('no database')`)
      project.write('server.ts', server('1'))
      const port = await testPort()
      await using mayfly = new MayflyProcess(devArgs(target, port), project.folder)
      await mayfly.ready()
      for (const [name, source, words] of MISTAKES) {
        project.write('server.ts', source)
        const said = await mayfly.says(
          new RegExp(`${words.source}mayfly: the server from before this change goes on\n`),
        )
        expect(said, name).not.toMatch(/^\s+at /m)
        expect(await versionAt(port), name).toBe('1')
      }
      project.write('server.ts', server('3'))
      await until(async () => (await versionAt(port)) === '3')
    },
  )

  test('cloudflare: what ends wrangler is named, and the next change starts it again', async () => {
    await using project = new Project()
    project.write('server.ts', server('1'))
    const port = await testPort()
    await using mayfly = new MayflyProcess(devArgs('cloudflare', port), project.folder)
    await mayfly.ready()
    project.write('server.ts', `${server('2')}\nthrow new Error('no database')`)
    await mayfly.says(
      /mayfly: server\.ts cannot be loaded on Node: Error: no database \(.*; save a file to start it again\n/,
    )
    project.write('server.ts', `${server('2')}\nthrow new Error('no cache')`)
    await mayfly.says(/mayfly: server\.ts cannot be loaded: Error: no cache\n/)
    project.write('server.ts', server('3'))
    await until(() =>
      versionAt(port).then(
        (version) => version === '3',
        () => false,
      ),
    )
    // Wrangler watches again, and nothing else does.
    project.write('server.ts', server('4'))
    await until(() =>
      versionAt(port).then(
        (version) => version === '4',
        () => false,
      ),
    )
    const { code, stderr } = await mayfly.signal('SIGTERM')
    expect(code).toBe(0)
    expect(stderr.match(/^mayfly: reloaded$/gm)).toHaveLength(1)
  })
})

describe('a change', { timeout: TIMEOUT_MS }, () => {
  test('a replacement that never takes connections is given up for the next change', async () => {
    await using project = new Project()
    project.write('server.ts', server('1'))
    const port = await testPort()
    await using mayfly = new MayflyProcess(devArgs('node', port), project.folder)
    await mayfly.ready()
    project.write('server.ts', hanging)
    const loads = join(project.folder, 'loads.txt')
    // It is loaded to ask what it is, for 15 seconds, and then to be served.
    await until(() => existsSync(loads) && readFileSync(loads, 'utf8') === '..')
    await mayfly.says('server.ts does not load within 15 seconds')
    project.write('server.ts', server('3'))
    await until(async () => (await versionAt(port)) === '3')
    await mayfly.says('hangs')
    expect((await mayfly.signal('SIGINT')).stderr).not.toContain('does not accept connections')
  })

  test('Ctrl-C while a replacement does not load ends it before anything is said of it', async () => {
    await using project = new Project()
    project.write('server.ts', server('1'))
    const port = await testPort()
    await using mayfly = new MayflyProcess(devArgs('node', port), project.folder)
    await mayfly.ready()
    project.write('server.ts', hanging)
    await until(() => existsSync(join(project.folder, 'loads.txt')))
    const { code, stderr } = await mayfly.signal('SIGINT')
    expect(code).toBe(0)
    // That it does not load would be said after 15 seconds.
    expect(stderr).not.toMatch(/does not load|Error|reloaded/)
  })

  test('in a linked package reloads the server', async () => {
    await using project = new Project()
    const entry = server('1').replace("'1'", 'version')
    for (const folder of ['app/node_modules', 'lib'])
      mkdirSync(join(project.folder, folder), { recursive: true })
    symlinkSync('../../lib', join(project.folder, 'app/node_modules/lib'))
    project.write('lib/package.json', '{ "name": "lib", "type": "module", "exports": "./lib.ts" }')
    project.write('lib/lib.ts', `export const version = '1'`)
    project.write('app/server.ts', `import { version } from 'lib'\n${entry}`)
    const port = await testPort()
    await using mayfly = new MayflyProcess(devArgs('node', port), join(project.folder, 'app'))
    await mayfly.ready()
    project.write('lib/lib.ts', `export const version = '2'`)
    await until(async () => (await versionAt(port)) === '2')
  })
})

describe.for([
  ['node', 'server.mjs'],
  ['bun', 'server.js'],
] as const)('a built %s server', { timeout: TIMEOUT_MS }, ([target, file]) => {
  // Only Linux tells who the shell's parent is.
  const signals = process.platform === 'linux' ? (['SIGTERM', 'SIGKILL'] as const) : (['SIGTERM'] as const)
  test.for(signals)('%s to npm start → no process left', async (signal) => {
    await using project = new Project()
    project.write('server.ts', server('1'))
    const build = new MayflyProcess(['build', '--target', target], project.folder)
    expect((await build.exited).code).toBe(0)
    const start = `${target} dist/${target}/${file}`
    project.write('package.json', JSON.stringify({ type: 'module', scripts: { start } }))
    const bin = fileURLToPath(new URL('../../node_modules/.bin', import.meta.url))
    const npm = spawn('npm', ['start'], {
      cwd: project.folder,
      env: { ...process.env, PATH: `${bin}:${process.env.PATH}`, PORT: String(await testPort()) },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let stderr = ''
    npm.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    await until(() => stderr.includes('listening on'))
    const started = below(npm.pid!)
    expect(started.length).toBeGreaterThan(0)
    npm.kill(signal)
    await until(() => !areAlive([npm.pid!, ...started]))
  })
})

/** Process 1 of such a namespace is one that reaps nothing. */
function canUnshare(): boolean {
  try {
    execFileSync('unshare', ['-Urpf', '--mount-proc', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

describe.runIf(canUnshare())('in a container whose process 1 reaps nothing', { timeout: TIMEOUT_MS }, () => {
  test.for(['node', 'deno', 'cloudflare'])('%s: SIGTERM ends it without insisting', async (target) => {
    await using project = new Project()
    project.write('server.ts', server('1'))
    const port = await testPort()
    const dev = [process.execPath, CLI, ...devArgs(target, port)].join(' ')
    // Ends `mayfly dev` as soon as it is ready, and writes how many seconds that took.
    writeFileSync(
      join(project.folder, 'run.sh'),
      `${dev} > out.txt 2> err.txt &
while ! grep -q ready out.txt; do kill -0 $! || exit 1; sleep 0.1; done
kill -TERM $!
before=$(date +%s%N)
wait $!
echo "exit code $? after $(( ($(date +%s%N) - before) / 1000000000 )) s" > done.tmp
mv done.tmp done.txt
`,
    )
    const inside = ['-c', `sh run.sh & exec tail -f --pid=$$ /dev/null`]
    const args = ['-Urpf', '--mount-proc', '--kill-child', 'sh', ...inside]
    const container = spawn('unshare', args, { cwd: project.folder, stdio: 'ignore' })
    try {
      await until(() => execFileSync('ls', [project.folder], { encoding: 'utf8' }).includes('done.txt'))
      const said = execFileSync('cat', [join(project.folder, 'done.txt')], { encoding: 'utf8' })
      // It insists after 7.
      expect(said).toMatch(/^exit code 0 after [0-4] s\n$/)
    } finally {
      const ended = once(container, 'exit')
      container.kill('SIGKILL')
      await ended
    }
  })
})

/** Every process below one. */
function below(parent: number): number[] {
  const table = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number) as [number, number])
  const found = new Set([parent])
  for (let before = 0; before !== found.size; ) {
    before = found.size
    for (const [pid, ppid] of table) if (found.has(ppid)) found.add(pid)
  }
  found.delete(parent)
  return [...found]
}

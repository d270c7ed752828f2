/** What `mayfly build` makes for Node and Bun, run as the pages of docs/deploy say; and what `mayfly init` writes around it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, symlinkSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build as esbuild } from 'esbuild'
import { describe, expect, onTestFinished, test } from 'vitest'
import { containerFiles } from '../../deploy/targets/node/container.ts'
import { supabase } from '../../deploy/targets/supabase/target.ts'
import { testPort } from '../_port.ts'
import { secretOf } from '../_secrets.ts'
import { MayflyProcess, Project } from './_dev-process.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const SOURCE = `import { createTool, MCPServer } from 'mayfly-mcp'
const wait = createTool({ id: 'wait', execute: async (_input, ctx) => {
  console.error('waiting')
  if (ctx.signal.aborted) return 'left'
  await new Promise((resolve) => setTimeout(resolve, 1000))
  return 'waited'
} })
export default new MCPServer({ id: 'a', name: 'A', version: '1.0.0', tools: { wait }, log: false })`

const SESSIONS = `import { createTool, MCPServer } from 'mayfly-mcp'
import { createSessions } from 'mayfly-mcp/node'
const hello = createTool({ id: 'hello', execute: () => 'hello' })
export default createSessions(new MCPServer({ id: 'a', name: 'A', version: '1.0.0', tools: { hello }, log: false }))`

const PROGRAMS = [
  ['node', process.execPath, 'dist/node/server.mjs'],
  ['bun', join(ROOT, 'node_modules/.bin/bun'), 'dist/bun/server.js'],
] as const

async function built(target: string, source = SOURCE, warning = ''): Promise<Project> {
  const project = new Project()
  project.linkPackage()
  for (const name of ['@hono', '@modelcontextprotocol']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(project.folder, 'node_modules', name))
  }
  project.write('server.ts', source)
  const { code, stderr } = await new MayflyProcess(['build', '--target', target], project.folder).exited
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(warning) })
  expect(stderr.split('\n')).toHaveLength(warning === '' ? 1 : 2)
  return project
}

interface Running {
  readonly child: ChildProcess
  readonly port: number
  /** Resolves once this was written to stderr. */
  says(text: string): Promise<void>
}

async function run(program: string, file: string, env: NodeJS.ProcessEnv): Promise<Running> {
  const port = await testPort()
  const child = spawn(program, [file], {
    env: { ...process.env, HOST: undefined, PORT: String(port), ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const says = (text: string) => expect.poll(() => said, { timeout: 180_000 }).toContain(text)
  await says('listening on')
  return { child, port, says }
}

const isReached = (address: string, port: number): Promise<boolean> =>
  fetch(`http://${address}:${port}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  )

function call(port: number): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","arguments":{}}}',
  })
}

const TEAM = `import { MCPServer } from 'mayfly-mcp'
import { staticTokens } from 'mayfly-mcp/auth'
const auth = staticTokens(({ ANN, CI }) => [{ token: ANN, clientId: 'ann' }, { token: CI, clientId: 'ci' }])
export default new MCPServer({ id: 'a', name: 'A', version: '1.0.0', auth })`

describe.each([
  ...PROGRAMS.map(([target, program, file]) => [target, [program, file]] as const),
  [
    'deno',
    [join(ROOT, 'node_modules/.bin/deno'), 'run', '--allow-net', '--allow-env', 'dist/deno/server.js'],
  ],
] as const)('%s with a team', { timeout: 180_000 }, (target, [program = '', ...args]) => {
  test.for([{}, { CI: '' }, { CI: 'short' }])(
    'does not start while one token of a team is %o, and says so in one line that names it',
    async (env) => {
      await using project = await built(target, TEAM)
      const child = spawn(program, args, {
        cwd: project.folder,
        env: { ...process.env, PORT: String(await testPort()), ANN: secretOf('a'), ...env },
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      onTestFinished(() => void child.kill('SIGKILL'))
      let said = ''
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said += text
      })
      const [code] = await once(child, 'close')

      expect(code).toBe(1)
      expect(said).toMatch(/^auth: The static token of "ci" must have at least 16 characters: [^\n]+\n$/)
    },
  )
})

test('deno prints nothing about a call that read its signal and succeeded', {
  timeout: 180_000,
}, async () => {
  await using project = await built('deno')
  const port = await testPort()
  const deno = join(ROOT, 'node_modules/.bin/deno')
  const child = spawn(deno, ['run', '--allow-net', '--allow-env', 'dist/deno/server.js'], {
    cwd: project.folder,
    env: {
      ...process.env,
      NO_COLOR: '1',
      DENO_NO_UPDATE_CHECK: '1',
      DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${port}`,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await expect.poll(() => said, { timeout: 60_000 }).toContain('Listening on')
  expect(await (await call(port)).text()).toContain('waited')
  child.kill('SIGINT')
  await once(child, 'close')

  expect(said.split('\n').filter((line) => !/^$|Listening on|waiting/.test(line))).toEqual([])
})

describe.each(PROGRAMS)('%s', { timeout: 180_000 }, (target, program, file) => {
  test('it listens on 127.0.0.1 alone unless HOST says otherwise, and guards local hosts there', async () => {
    await using project = await built(target)
    const own = await run(program, join(project.folder, file), {})
    // Another address of this machine.
    expect([await isReached('127.0.0.1', own.port), await isReached('127.0.0.2', own.port)]).toEqual([
      true,
      false,
    ])
    const rebound = await fetch(`http://127.0.0.1:${own.port}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: 'https://evil.example' },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    })
    expect(rebound.status).toBe(403)
    const open = await run(program, join(project.folder, file), { HOST: '0.0.0.0' })
    expect(await isReached('127.0.0.2', open.port)).toBe(true)
  })

  test.for(['SIGTERM', 'SIGINT'] as const)(
    '%s lets a running request end, takes no other, and ends the process',
    async (signal) => {
      await using project = await built(target)
      const { child, port, says } = await run(program, join(project.folder, file), {})
      const answer = call(port)
      await says('waiting')
      const exited = once(child, 'exit')
      child.kill(signal)
      await expect.poll(() => isReached('127.0.0.1', port)).toBe(false)
      expect(await (await answer).text()).toContain('waited')
      expect(await exited).toEqual([0, null])
    },
  )
})

describe.each([
  ['node', process.execPath, ['dist/node/server.mjs']],
  ['bun', join(ROOT, 'node_modules/.bin/bun'), ['dist/bun/server.js']],
  [
    'deno',
    join(ROOT, 'node_modules/.bin/deno'),
    ['run', '--no-prompt', '--allow-net', '--allow-env', 'dist/deno/server.js'],
  ],
] as const)('createSessions as a default export, %s', { timeout: 180_000 }, (target, program, args) => {
  test('is built, and opens sessions, which last [legacy.session]', async () => {
    await using project = await built(
      target,
      SESSIONS,
      target === 'deno' ? 'sessions need one long-lived' : '',
    )
    const { metafile } = await esbuild({
      entryPoints: [join(project.folder, args.at(-1)!)],
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      write: false,
      metafile: true,
    })
    const imported = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path))
    // What sessions import of Node is types alone there.
    if (target !== 'bun') expect(imported.length).toBeGreaterThan(0)
    expect(imported.filter((path) => !path.startsWith('node:'))).toEqual([])
    const port = await testPort()
    const child = spawn(program, [...args], {
      cwd: project.folder,
      env: {
        ...process.env,
        HOST: undefined,
        PORT: String(port),
        DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${port}`,
        DENO_NO_UPDATE_CHECK: '1',
      },
      stdio: 'ignore',
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    await expect.poll(() => isReached('127.0.0.1', port), { timeout: 180_000 }).toBe(true)
    const post = (message: object, headers: Record<string, string> = {}) =>
      fetch(`http://127.0.0.1:${port}/mcp`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      })
    const clientInfo = { name: 'raw', version: '1' }
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
    const opened = await post({ id: 1, method: 'initialize', params })
    expect(await opened.text()).toContain('"listChanged":true')
    const id = opened.headers.get('mcp-session-id')!
    expect(id).toMatch(/^[\da-f-]{36}$/)
    const inSession = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
    expect((await post({ id: 2, method: 'ping' }, inSession)).status).toBe(200)
    expect(
      (await post({ id: 3, method: 'ping' }, { ...inSession, 'mcp-session-id': 'another' })).status,
    ).toBe(404)
  })
})

test('the container runs one file on port 8080, without node_modules, secrets or root, and is asked for its health', () => {
  const { Dockerfile = '', '.dockerignore': ignored = '', 'fly.toml': fly = '' } = containerFiles('shop')
  const image = Dockerfile.slice(Dockerfile.lastIndexOf('FROM'))
  expect(image.match(/^COPY .*/gm)).toEqual(['COPY --from=build /app/${PACKAGE}/dist/node .'])
  expect(image).not.toMatch(/npm|node_modules/)
  expect(image).toMatch(
    /HOST=0\.0\.0\.0 PORT=8080[\s\S]*USER node[\s\S]*EXPOSE 8080[\s\S]*CMD \["node", "server\.mjs"\]/,
  )
  expect(ignored.split('\n')).toEqual(
    expect.arrayContaining(['**/.git', '**/.env*', '**/.dev.vars*', '**/node_modules']),
  )
  expect(fly).toMatch(/internal_port = 8080[\s\S]*path = "\/healthz"/)
  expect(fly).toMatch(
    /primary_region = [\s\S]*kill_timeout = "10s"[\s\S]*type = "requests"[\s\S]*grace_period = /,
  )
  // Both stages, to the very version.
  expect(Dockerfile.match(/^FROM node:\d+\.\d+\.\d+-\S+/gm)).toHaveLength(2)
})

test('on Supabase the gate in front is off in what init writes, and doctor warns where it is on', async () => {
  await using project = new Project()
  const described = { name: 'shop', cwd: project.folder, entry: join(project.folder, 'server.ts') }
  const { files } = supabase.files(described as never)
  const config = files['supabase/config.toml'] ?? ''
  expect(config).toContain('[functions.shop]\n')
  expect(config).toContain('verify_jwt = false\n')

  const warnings = async (text: string): Promise<string[]> => {
    mkdirSync(join(project.folder, 'supabase'), { recursive: true })
    project.write('supabase/config.toml', text)
    return (await supabase.examine(described as never)).map(({ level, message }) => `${level} ${message}`)
  }
  expect((await warnings(config)).join()).not.toContain('verify_jwt')
  expect(await warnings(config.replace('verify_jwt = false', 'verify_jwt = true'))).toContainEqual(
    expect.stringMatching(/^warning verify_jwt is on for shop/),
  )
})

test.for([
  [
    'a port that is taken',
    (port: number) => String(port),
    /^cannot listen on HOST 127\.0\.0\.1, PORT \d+ \(EADDRINUSE\)[^\n]*\n$/,
  ],
  [
    'no port',
    () => 'abc',
    /^cannot listen on HOST 127\.0\.0\.1, PORT abc \([^\n]* from 0 to 65535[^\n]*\)\n$/,
  ],
] as const)('on Node with %s → one line, exit code 1', { timeout: 180_000 }, async ([, portOf, line]) => {
  await using project = await built('node')
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  onTestFinished(() => void other.close())
  const child = spawn(process.execPath, ['dist/node/server.mjs'], {
    cwd: project.folder,
    env: { ...process.env, HOST: undefined, PORT: portOf((other.address() as AddressInfo).port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  expect(await once(child, 'close')).toEqual([1, null])
  expect(said).toMatch(line)
})

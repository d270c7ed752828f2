/** The lines of docs/frameworks.md, in each framework itself: its own development server serves them to official clients. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testPort } from '../_port.ts'
import { CLIENTS } from '../contract/clients.ts'
import { FRAMEWORKS, type Framework } from './_frameworks.ts'

const ROOT = join(import.meta.dirname, '../..')
const START_MS = 90_000
const PAGE = readFileSync(join(ROOT, 'docs/frameworks.md'), 'utf8')

/** By title, the lines of the page and what they are introduced with. */
const SECTIONS = new Map(
  Array.from(PAGE.matchAll(/^## (.*)\n([\s\S]*?)```(?:ts|js)\n([\s\S]*?)```/gm), ([, title, intro, code]) => [
    title!,
    { intro: intro!, code: code! },
  ]),
)

interface Served {
  readonly url: URL
  stop(): Promise<void>
}

/** Writes the app beside the packages of its framework: `app/` there, which git ignores. */
function writeApp({ folder, file, app, title }: Framework): string {
  const own = join(import.meta.dirname, folder)
  const cwd = join(own, '.app')
  rmSync(cwd, { recursive: true, force: true })
  mkdirSync(cwd, { recursive: true })
  const files = { ...app, [file]: SECTIONS.get(title)!.code }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true })
    writeFileSync(join(cwd, path), text)
  }
  if (existsSync(join(own, 'package.json'))) cpSync(join(own, 'package.json'), join(cwd, 'package.json'))
  else writeFileSync(join(cwd, 'package.json'), '{ "type": "module" }\n')
  if (existsSync(join(own, 'node_modules'))) symlinkSync(join(own, 'node_modules'), join(cwd, 'node_modules'))
  return cwd
}

async function serve(framework: Framework, variables: NodeJS.ProcessEnv = {}): Promise<Served> {
  const cwd = writeApp(framework)
  const port = await testPort()
  const [command, ...args] = framework.start(port)
  // Astro behaves otherwise where it believes to be tested.
  const { VITEST: _, ...env } = process.env
  const bins = [join(cwd, 'node_modules/.bin'), join(ROOT, 'node_modules/.bin'), process.env.PATH]
  const child = spawn(command, args, {
    cwd,
    // A group of its own: some start processes.
    detached: true,
    env: {
      ...env,
      PATH: bins.join(':'),
      PORT: String(port),
      NODE_ENV: 'development',
      // Whatever an app lacks is a failure on every machine: Next.js installs packages by itself where nobody said so.
      CI: '1',
      NEXT_TELEMETRY_DISABLED: '1',
      NUXT_TELEMETRY_DISABLED: '1',
      ASTRO_TELEMETRY_DISABLED: '1',
      ...variables,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
  const ended = once(child, 'close')
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    await ended
    rmSync(cwd, { recursive: true, force: true, maxRetries: 5 })
  }
  const url = new URL(`http://127.0.0.1:${port}/mcp`)
  const isReady = async (): Promise<boolean> => {
    // Some never answer a request that comes while they still bundle.
    const signal = AbortSignal.timeout(10_000)
    const answer = await fetch(url, { headers: { accept: 'text/html' }, signal }).catch(() => undefined)
    return answer?.status === 200
  }
  for (const until = Date.now() + START_MS; !(await isReady()); ) {
    if (child.exitCode !== null || Date.now() > until) {
      await stop()
      throw new Error(`${framework.title} did not start:\n${said}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  return { url, stop }
}

/** Of the page, as a browser asks for it whose name for the address is `host`. */
async function statusFor(
  url: URL,
  host: string,
  more: OutgoingHttpHeaders = {},
): Promise<number | undefined> {
  const headers = { host, accept: 'text/html', ...more }
  const [response] = (await once(request(url, { headers }).end(), 'response')) as [IncomingMessage]
  return response.resume().statusCode
}

it('every framework of the page is started here, and each file is where the page says', () => {
  expect([...SECTIONS.keys()].sort()).toEqual(FRAMEWORKS.map(({ title }) => title).sort())
  for (const { title, file } of FRAMEWORKS) expect(SECTIONS.get(title)?.intro, title).toContain(`\`${file}\``)
  // The others are started by their own development servers.
  for (const { title, file, start } of FRAMEWORKS.filter(({ file }) => file === 'app.ts')) {
    const [command] = start(0)
    expect(SECTIONS.get(title)?.intro, title).toContain(`\`${command} ${file}\``)
  }
})

describe.each(FRAMEWORKS)('$title', { timeout: START_MS }, (framework) => {
  let served: Served
  beforeAll(async () => {
    served = await serve(framework, { MAYFLY_ALLOWED_HOSTS: '127.0.0.1' })
  }, START_MS + 10_000)
  afterAll(() => served?.stop())

  it.each([CLIENTS[0]!, CLIENTS[2]!])('$kind calls a tool', async ({ connect }) => {
    await using connection = await connect(served.url)

    const { content } = await connection.call('hello')

    expect(content).toEqual([{ type: 'text', text: `Hello from ${framework.title}` }])
  })

  it('the page names the URL of the route', async () => {
    const page = await (await fetch(served.url, { headers: { accept: 'text/html' } })).text()

    expect(page).toContain(`:${served.url.port}/mcp`)
  })

  it('MAYFLY_ALLOWED_HOSTS: a request for another host → 403', async () => {
    expect(await statusFor(served.url, 'rebound.example')).toBe(403)
  })

  it('a body that is no JSON → 400 of the server', async () => {
    const response = await fetch(served.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{',
    })

    expect([response.status, await response.json()]).toMatchObject([400, { error: { code: -32700 } }])
  })
})

describe.each(FRAMEWORKS)('$title in development, without a variable', { timeout: START_MS }, (framework) => {
  it('a request for another host → 403, whatever a page claims of it; for this machine → 200', async () => {
    const served = await serve(framework)
    try {
      const { port } = served.url
      const claims = { 'x-forwarded-for': '203.0.113.7', 'x-forwarded-host': `localhost:${port}` }

      expect(await statusFor(served.url, `rebound.example:${port}`)).toBe(403)
      expect(await statusFor(served.url, `rebound.example:${port}`, claims)).toBe(403)
      expect(await statusFor(served.url, `127.0.0.1:${port}`)).toBe(200)
      expect(await statusFor(served.url, `localhost:${port}`)).toBe(200)
    } finally {
      await served.stop()
    }
  })
})

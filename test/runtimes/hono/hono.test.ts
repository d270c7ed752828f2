/** The Hono app on each runtime as it is, with nothing of Mayfly around it, and behind Mayfly's adapters for platforms with a prefix. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lambda } from '../../../deploy/targets/lambda/target.ts'
import { node } from '../../../deploy/targets/node/target.ts'
import { supabase } from '../../../deploy/targets/supabase/target.ts'
import { eventually } from '../../_eventually.ts'
import { testPort } from '../../_port.ts'
import { CLIENTS } from '../../contract/clients.ts'
import type { Served } from '../../contract/contract.ts'
import { serveArtefact, withEnv } from '../_artefact.ts'

const ROOT = join(import.meta.dirname, '../../..')
const APP = join(import.meta.dirname, 'app.ts')
const GREETING = { GREETING: 'Ahoy' }

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'mayfly-hono-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

/** As the runtime's own tool would bundle it. */
async function bundle(name: string, contents: string, conditions: string[]): Promise<string> {
  const outfile = join(folder, `${name}.mjs`)
  const resolveDir = import.meta.dirname
  const banner = {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  }
  await build({
    stdin: { contents, resolveDir, loader: 'ts' },
    outfile,
    bundle: true,
    format: 'esm',
    platform: name === 'workerd' ? 'neutral' : 'node',
    mainFields: ['module', 'main'],
    conditions,
    external: ['cloudflare:*', 'node:*'],
    logLevel: 'error',
    ...(name !== 'workerd' && { banner }),
  })
  return outfile
}

async function serveProcess(command: string, args: string[], port: number): Promise<Served> {
  const child: ChildProcess = spawn(join(ROOT, 'node_modules/.bin', command), args, {
    env: { ...process.env, ...GREETING, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const ended = once(child, 'close')
  const url = new URL(`http://127.0.0.1:${port}/mcp`)
  await eventually(async () => {
    const answer = await fetch(new URL('/hello', url)).catch(() => undefined)
    if (answer?.status !== 200) throw new Error(`${command} does not answer: ${said}`)
  })
  return {
    url,
    stop: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}

const DEFAULT = `export { default } from ${JSON.stringify(APP)}`

const RUNTIMES: readonly { readonly name: string; readonly agent: RegExp; start(): Promise<Served> }[] = [
  {
    name: 'workerd',
    agent: /^Cloudflare-Workers$/,
    start: async () => {
      const script = await bundle('workerd', DEFAULT, ['workerd', 'worker', 'browser'])
      const config = {
        name: 'app',
        compatibilityDate: '2026-01-01',
        manifest: {
          mainModule: 'app.js',
          modules: { 'app.js': { type: 'esm' as const, contents: readFileSync(script, 'utf8') } },
        },
        env: { GREETING: { type: 'text' as const, value: GREETING.GREETING } },
      }
      const worker = new Miniflare({ cf: false, workers: [{ config }] })
      return { url: new URL('/mcp', await worker.ready), stop: () => worker.dispose() }
    },
  },
  {
    name: 'deno serve',
    agent: /^Deno\//,
    start: async () => {
      const port = await testPort()
      const file = await bundle('deno', DEFAULT, ['deno'])
      const options = [
        '--allow-net',
        '--allow-env',
        '--no-config',
        '--host',
        '127.0.0.1',
        '--port',
        String(port),
      ]
      return serveProcess('deno', ['serve', ...options, file], port)
    },
  },
  {
    name: 'bun',
    agent: /^Bun\//,
    start: async () => {
      const port = await testPort()
      const file = await bundle('bun', DEFAULT, ['bun'])
      return serveProcess('bun', [file], port)
    },
  },
  {
    name: 'Node, with @hono/node-server,',
    agent: /^Node\.js\//,
    start: async () => {
      const port = await testPort()
      const main = `import { serve } from '@hono/node-server'
        import app from ${JSON.stringify(APP)}
        serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: '127.0.0.1' })`
      return serveProcess('node', [await bundle('node', main, ['node'])], port)
    },
  },
  {
    name: 'Node, without its replaced globals,',
    agent: /^Node\.js\//,
    start: async () => {
      const port = await testPort()
      const main = `import { serve } from '@hono/node-server'
        import app from ${JSON.stringify(APP)}
        serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: '127.0.0.1', overrideGlobalObjects: false })`
      return serveProcess('node', [await bundle('node-plain', main, ['node'])], port)
    },
  },
  {
    name: 'mayfly preview on Node',
    agent: /^Node\.js\//,
    start: () => serveArtefact(APP, withEnv(node, GREETING)),
  },
  {
    name: 'mayfly preview for Supabase, behind its prefix,',
    agent: /^Deno\//,
    start: () => serveArtefact(APP, withEnv(supabase, GREETING)),
  },
  {
    name: 'mayfly preview for Lambda',
    agent: /^Node\.js\//,
    start: () => serveArtefact(APP, withEnv(lambda, GREETING)),
  },
]

describe.each(RUNTIMES)('a Hono app on $name', { timeout: 120_000 }, ({ name, agent, start }) => {
  let served: Served
  beforeAll(async () => {
    served = await start()
  }, 120_000)
  afterAll(() => served?.stop())

  it.each([CLIENTS[0]!, CLIENTS[2]!])(
    '$kind: bindings, variables and the caller reach the tool',
    async ({ connect }) => {
      await using connection = await connect(served.url, { 'x-tenant': 'acme', 'x-user': 'ada' })

      const { structuredContent } = await connection.call('about')

      expect(structuredContent).toEqual({
        runtime: expect.stringMatching(agent),
        tenant: 'acme',
        caller: 'ada',
        greeting: 'Ahoy',
      })
    },
  )

  it('progress is streamed', async () => {
    const seen: number[] = []
    await using connection = await CLIENTS[2]!.connect(served.url)

    await connection.call('slow', {}, { onProgress: ({ progress }) => void seen.push(progress) })

    expect(seen.at(-1)).toBe(3)
  })

  it('its other routes are where they are', async () => {
    const url = served.url.href.replace(/mcp$/, 'hello')
    expect(await (await fetch(url)).text()).toBe('the rest of the app')
  })

  it('the metadata that a challenge names is served', async () => {
    const url = served.url.href.replace(/mcp$/, 'guarded')
    const refused = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    })
    expect(refused.status).toBe(401)
    const challenge = refused.headers.get('www-authenticate') ?? ''
    const [, named = ''] = /resource_metadata="([^"]+)"/.exec(challenge) ?? []

    const metadata = await fetch(named)

    expect([name, metadata.status]).toEqual([name, 200])
    expect(await metadata.json()).toMatchObject({ resource: url })
  })
})

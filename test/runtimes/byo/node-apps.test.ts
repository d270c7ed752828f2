/** Apps of Node's frameworks, passed to `fromNode`, as what `mayfly build` makes of them. What a handler can do: test/unit/sdk/node-app.test.ts. */
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cloudflare } from '../../../deploy/targets/cloudflare/target.ts'
import { lambda } from '../../../deploy/targets/lambda/target.ts'
import { node } from '../../../deploy/targets/node/target.ts'
import { vercel } from '../../../deploy/targets/vercel/target.ts'
import { type ServedArtefact, serveArtefact, withEnv } from '../_artefact.ts'
import { CWD as LAMBDA } from '../lambda/_function.ts'

const ROOT = join(import.meta.dirname, '../../..')
const APPS = join(ROOT, 'test/byo/apps')

const own = join(APPS, 'node_modules/mayfly-mcp')
if (!existsSync(own)) symlinkSync(ROOT, own)

const STATIC = mkdtempSync(join(tmpdir(), 'mayfly-static-'))
writeFileSync(join(STATIC, 'page.txt'), 'a static file')
afterAll(() => rmSync(STATIC, { recursive: true, force: true }))

const FRAMEWORKS = ['express-5', 'express-4', 'fastify', 'koa', 'connect', 'nest', 'h3', 'h3-1'] as const
/** Those with static files in their app, and the path of the folder. */
const FOLDERS: { readonly [framework: string]: string } = {
  'express-5': '/static',
  'express-4': '/static',
  fastify: '/static',
  koa: '',
  connect: '/static',
  nest: '/static',
}
const PLATFORMS = [
  ['Node', node, APPS],
  ['workerd', cloudflare, APPS],
  ['Lambda', lambda, LAMBDA],
  ['Vercel', vercel, APPS],
] as const

describe.each(PLATFORMS)('on %s', (platform, target, cwd) => {
  let served: ServedArtefact
  beforeAll(async () => {
    served = await serveArtefact(join(APPS, 'all.js'), withEnv(target, { STATIC_FOLDER: STATIC }), cwd)
  })
  afterAll(() => served?.stop())

  const carried = FRAMEWORKS.filter((framework) => platform !== 'workerd' || framework !== 'fastify')

  it.runIf(platform === 'workerd')('Fastify makes code from strings: 502 in words', async () => {
    const headers = {
      'x-app': 'fastify',
      'content-type': 'application/json',
      'mcp-protocol-version': '2025-11-25',
    }
    const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    for (const [path, init] of [
      ['/mcp', { method: 'POST', body }],
      ['/', {}],
    ] as const) {
      const response = await fetch(new URL(path, served.url), { ...init, headers })
      expect([response.status, await response.text()]).toEqual([502, expect.stringContaining('runs Node')])
    }
  })

  describe.each(carried)('an app of %s', (framework) => {
    const get = (path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(new URL(path, served.url), { ...init, headers: { 'x-app': framework, ...init.headers } })

    it('its tool is called through its middleware, and notifications arrive', async () => {
      const client = new Client({ name: 'legacy', version: '1' })
      const logged: unknown[] = []
      client.setNotificationHandler(
        LoggingMessageNotificationSchema,
        ({ params }) => void logged.push(params.data),
      )
      const requestInit = { headers: { 'x-app': framework } }
      await client.connect(new StreamableHTTPClientTransport(served.url, { requestInit }) as never)
      const { content } = await client.callTool({ name: 'facts', arguments: {} })
      const [{ text }] = content as [{ text: string }]

      expect(JSON.parse(text)).toMatchObject({ method: 'tools/call', httpVersion: '1.1' })
      expect(logged).toEqual(['asked'])
      await client.close()
    })

    it('its other routes: a body, a session, two cookies, no content, an error', async () => {
      const json = { 'content-type': 'application/json' }
      const form = await get('/form', { method: 'POST', headers: json, body: '{"a":[1,"ä"]}' })
      expect(await form.json()).toEqual({ a: [1, 'ä'] })
      expect(await (await get('/')).text()).toBe('the app')

      const first = await get('/visits')
      const cookies = first.headers.getSetCookie().map((cookie) => cookie.split(';')[0]!)
      expect(cookies).toEqual(expect.arrayContaining(['a=1', 'b=2']))
      expect(await first.json()).toMatchObject({ visits: 1 })

      expect([(await get('/nothing')).status, (await get('/thrown')).status]).toEqual([204, 500])
      const long = await get('/long')
      expect(await long.text()).toBe('a line of text\n'.repeat(500))
    })

    it('an error after its headers never looks like a whole body, and the app goes on', async () => {
      const broken = await get('/broken')
      const isWhole = await broken.text().then(
        () => broken.status === 200,
        () => false,
      )
      expect(isWhole, `status ${broken.status}`).toBe(false)
      expect(await (await get('/')).text()).toBe('the app')
    })

    // A Worker has no folder with files.
    it.runIf(platform !== 'workerd' && framework in FOLDERS)(
      'its static files, whole and in part',
      async () => {
        const path = `${FOLDERS[framework]}/page.txt`
        expect(await (await get(path)).text()).toBe('a static file')
        // koa-static has no ranges.
        if (framework === 'koa') return
        const part = await get(path, { headers: { range: 'bytes=2-7' } })
        expect([part.status, await part.text()]).toEqual([206, 'static'])
      },
    )
  })
})

it('on workerd, the app of docs/bring-your-own.md as it stands there', async () => {
  const page = readFileSync(join(ROOT, 'docs/bring-your-own.md'), 'utf8')
  const file = join(APPS, '.page.js')
  writeFileSync(file, page.match(/```js\n([\s\S]*?)```/)![1]!)
  const served = await serveArtefact(file, cloudflare, APPS).finally(() => rmSync(file))
  try {
    const headers = { 'content-type': 'application/json', 'mcp-protocol-version': '2025-11-25' }
    const body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"opens"}}'

    expect(await (await fetch(new URL('/', served.url))).text()).toBe('The shop')
    expect(await (await fetch(served.url, { method: 'POST', headers, body })).text()).toContain('At 8.')
  } finally {
    await served.stop()
  }
})

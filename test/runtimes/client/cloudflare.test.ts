/** The client in workerd, bundled as wrangler bundles, without Node's modules. */
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as z from 'zod'
import { createTool } from '../../../src/index.ts'
import { deadUrl, startMayfly, startSessionServer, startSseServer } from '../../unit/client/_servers.ts'

let code: string
let worker: Miniflare
beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: [new URL('_worker.ts', import.meta.url).pathname],
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: 'es2022',
    conditions: ['workerd', 'worker', 'browser'],
    legalComments: 'none',
  })
  code = outputFiles[0]!.text
  worker = new Miniflare({
    // Its default asks the internet where it is.
    cf: false,
    workers: [
      {
        config: {
          name: 'client',
          compatibilityDate: '2025-09-01',
          manifest: {
            mainModule: 'worker.js',
            modulesRoot: import.meta.dirname,
            modules: { 'worker.js': { type: 'esm', contents: code } },
          },
        },
      },
    ],
  })
})
afterAll(() => worker?.dispose())

async function run(servers: object): Promise<{ answers: Record<string, unknown>; errors: object }> {
  const response = await worker.dispatchFetch('http://worker.example/', {
    method: 'POST',
    body: JSON.stringify({ servers }),
  })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return JSON.parse(text)
}

const add = createTool({
  id: 'add',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  outputSchema: z.object({ sum: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
})
const ask = createTool({
  id: 'ask',
  execute: async (_input, ctx) => {
    const answer = await ctx.elicit('Your name?', z.object({ name: z.string() }))
    return answer.action === 'accept' ? answer.content.name : answer.action
  },
})

it('the bundle names no module of Node’s, and starts no process', () => {
  expect(code).not.toMatch(/["'`]node:/)
  expect(code).not.toMatch(/child_process|cross-spawn/)
})

it('calls a modern server, and answers what it asks', async () => {
  const { answers, errors } = await run({ mayfly: { url: await startMayfly({ tools: { add, ask } }) } })

  expect(errors).toEqual({})
  expect(answers).toMatchObject({ mayfly_add: { sum: 3 }, mayfly_ask: { content: [{ text: 'Ann' }] } })
})

it('calls legacy servers, with sessions and over HTTP+SSE', async () => {
  const { url, sessions } = await startSessionServer()

  const { answers, errors } = await run({ v1: { url }, sse: { url: (await startSseServer()).url } })

  expect(errors).toEqual({})
  expect(answers).toMatchObject({ v1_add: { sum: 3 }, sse_add: { sum: 3 } })
  expect(answers).toMatchObject({ v1_ask: { content: [{ text: 'accept: Ann' }] } })
  expect(sessions.size).toBe(0)
})

it('lives with servers that are dead, and with commands, which it cannot start', async () => {
  const live = { url: await startMayfly({ tools: { add } }) }

  const { answers, errors } = await run({ dead: { url: await deadUrl() }, local: { command: 'ls' }, live })

  expect(answers).toEqual({ live_add: { sum: 3 } })
  expect(errors).toEqual({ dead: 'CONNECTION_FAILED', local: 'UNSUPPORTED' })
})

/** The gateway on every platform, built by its target and run on its runtime, in front of a Mayfly server, a server of the official SDK and a dead one. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { bun } from '../../../deploy/targets/bun/target.ts'
import { cloudflare } from '../../../deploy/targets/cloudflare/target.ts'
import { deno } from '../../../deploy/targets/deno/target.ts'
import { lambda } from '../../../deploy/targets/lambda/target.ts'
import { netlify, netlifyEdge } from '../../../deploy/targets/netlify/target.ts'
import { node } from '../../../deploy/targets/node/target.ts'
import { supabase } from '../../../deploy/targets/supabase/target.ts'
import { vercel, vercelEdge } from '../../../deploy/targets/vercel/target.ts'
import { MCPClient } from '../../../src/client.ts'
import { createTool, MCPServer } from '../../../src/index.ts'
import { createMemoryTasks } from '../../../src/tasks.ts'
import { deadUrl, startFetchServer, startSessionServer } from '../../unit/client/_servers.ts'
import { createBooking, SECRET, stock } from '../../unit/gateway/_servers.ts'
import { serveArtefact } from '../_artefact.ts'
import { CWD as LAMBDA } from '../lambda/_function.ts'

const report = createTool({ id: 'report', task: 'required', execute: () => 'ready' })

const ROOT = join(import.meta.dirname, '../../..')

const TTL_MS = 200

/** The entry of a gateway in front of these addresses, as a user writes it. */
const entry = (urls: { readonly [name: string]: string }): string => `
import { gateway } from ${JSON.stringify(`${ROOT}/src/gateway.ts`)}
import { createMemoryBus, createTool, MCPServer } from ${JSON.stringify(`${ROOT}/src/index.ts`)}

const urls = ${JSON.stringify(urls)}

export default new MCPServer({
  name: 'Front',
  version: '1.0.0',
  log: false,
  onError: () => {},
  bus: createMemoryBus(),
  secret: ${JSON.stringify(SECRET)},
  tools: { own: createTool({ id: 'own', execute: () => 'mine' }) },
  gateway: gateway({
    servers: {
      shop: { url: urls.shop, token: ({ request }) => request?.headers.get('x-caller') ?? undefined },
      v1: { url: urls.v1, rerun: true },
      dead: { url: urls.dead },
    },
    ttlMs: ${TTL_MS},
    listTimeoutMs: 5000,
  }),
})
`

const TARGETS = [
  ['workerd', cloudflare, undefined],
  ['Deno', deno, undefined],
  ['deno as Supabase runs it', supabase, undefined],
  ['Vercel’s Node function', vercel, undefined],
  ['Vercel’s edge-runtime', vercelEdge, undefined],
  ['AWS’s runtime client for Lambda', lambda, LAMBDA],
  ['a Netlify Function', netlify, undefined],
  ['a Netlify Edge Function', netlifyEdge, undefined],
  ['bun', bun, undefined],
  ['Node', node, undefined],
] as const

it.each(TARGETS)('a gateway on %s', async (_, target, cwd) => {
  const booking = createBooking()
  const shop = new MCPServer({
    name: 'Shop',
    version: '1.0.0',
    log: false,
    ...stock,
    tools: { ...stock.tools, book: booking.book, report },
    tasks: createMemoryTasks(),
    secret: SECRET,
  })
  const urls = {
    shop: await startFetchServer(shop),
    v1: (await startSessionServer()).url,
    dead: await deadUrl(),
  }
  const url = await start(urls, target, cwd)

  await check('lists what is behind, beside its own', async () => {
    const client = connect(url)
    const tools = Object.keys(await client.listTools())
    expect(tools).toEqual(expect.arrayContaining(['front_own', 'front_shop_add', 'front_v1_add']))
    expect(tools.filter((name) => name.startsWith('front_dead'))).toEqual([])
    expect(await client.resources.list()).toMatchObject({
      front: expect.arrayContaining([expect.objectContaining({ uri: 'stock://all' })]),
    })
    expect(await client.prompts.list()).toMatchObject({
      front: expect.arrayContaining([expect.objectContaining({ name: 'shop_summary' })]),
    })
  })

  await check('passes calls on, also at once, and when its lists are renewed', async () => {
    for (let round = 0; round < 3; round++) {
      const calls = ['shop_add', 'v1_add', 'shop_add', 'v1_add'].map((name) =>
        connect(url).callTool('front', name, { a: 1, b: 2 }),
      )
      for (const result of await Promise.all(calls))
        expect(result).toMatchObject({ structuredContent: { sum: 3 } })
      await new Promise((resolve) => setTimeout(resolve, TTL_MS + 50))
    }
    expect(await connect(url).resources.read('front', 'stock://A-1')).toMatchObject({
      contents: [{ text: 'stock of A-1' }],
    })
  })

  await check('passes questions on', async () => {
    expect(await connect(url).callTool('front', 'shop_book')).toMatchObject({
      content: [{ text: 'booked for Ann' }],
    })
    expect(booking.ran).toEqual({ reserve: 1, pay: 1 })
    expect(await connect(url).callTool('front', 'v1_ask_on_its_stream')).toMatchObject({
      content: [{ text: 'accept: Ann' }],
    })
  })

  await check('passes tasks on', async () => {
    const { task } = await connect(url).callTool('front', 'shop_report', {}, { task: 'handle' })
    expect(task?.taskId).toMatch(/^shop:/)
    expect(await connect(url).tasks.wait('front', task!.taskId)).toMatchObject({
      content: [{ text: 'ready' }],
    })
  })

  await check('passes changes on', async () => {
    const client = connect(url)
    const heard: string[] = []
    client.resources.onUpdated('front', ({ uri }) => heard.push(uri))
    await client.resources.subscribe('front', 'stock://all')
    await shop.resources.notifyUpdated({ uri: 'stock://all' })
    await expect.poll(() => heard, { timeout: 5000 }).toContain('stock://all')
  })

  await check('says which server is down', async () => {
    expect(await connect(url).callTool('front', 'dead_tool')).toMatchObject({
      isError: true,
      _meta: { 'mayfly/upstream': { server: 'dead', code: 'CONNECTION_FAILED' } },
    })
  })
})

/** Names the step that failed. */
async function check(what: string, run: () => Promise<void>): Promise<void> {
  await run().catch((cause: unknown) => {
    throw new Error(`${what}: ${cause instanceof Error ? cause.message : cause}`, { cause })
  })
}

async function start(
  urls: { readonly [name: string]: string },
  target: (typeof TARGETS)[number][1],
  cwd: string | undefined,
): Promise<URL> {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-gateway-'))
  const file = join(folder, 'entry.ts')
  writeFileSync(file, entry(urls))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const { url, stop } = await serveArtefact(file, target, cwd)
  onTestFinished(stop)
  return url
}

function connect(url: URL): MCPClient<'front'> {
  const servers = { front: { url, headers: { 'x-caller': 'ann' } } }
  const client = new MCPClient({ id: crypto.randomUUID(), servers, onError: () => {} })
  onTestFinished(() => client.disconnect())
  client.elicitation.onRequest('front', () => ({ action: 'accept', content: { name: 'Ann' } }))
  return client
}

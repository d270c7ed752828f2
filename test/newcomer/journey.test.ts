/**
 * The way from an empty folder to a client that works, on each kind of platform: the project that `init` writes is served, one of its
 * tools is called in the playground and by the official client, and no client that `check` knows would stop on its way in.
 */
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launchChromium, openPage } from '../browser/_chromium.ts'
import { ROOT } from '../package/_packed.ts'
import { type Arranged, arrange } from './_arranged.ts'
import { createNewcomer } from './_newcomer.ts'
import { perform, readyUrl, type Visit } from './_steps.ts'

let arranged: Arranged
let browser: Browser
beforeAll(async () => {
  arranged = await arrange()
  browser = await launchChromium()
})
afterAll(async () => {
  await browser?.close()
  await arranged?.[Symbol.asyncDispose]()
})

it.each(['cloudflare', 'deno', 'vercel', 'lambda', 'node'])(
  'from nothing to a client: %s',
  { timeout: 300_000 },
  async (target) => {
    using newcomer = createNewcomer(
      join(ROOT, 'node_modules/node/bin/node'),
      arranged.registry,
      arranged.cache,
    )
    const visit: Visit = { newcomer, target, node: 24, done: new Set() }
    await perform(`npx mayfly-mcp init dice --target ${target} && cd dice`, visit)
    await perform('npm install', visit)

    const serving = newcomer.start('npm run dev')
    try {
      const url = await readyUrl(serving)
      expect(await callByClient(url)).toMatchObject({ rolls: [expect.any(Number), expect.any(Number)] })
      expect(await callInPlayground(url)).toMatchObject({ rolls: [expect.any(Number)] })
      const checked = await newcomer.run(`npx mayfly check ${url} --as all`)
      expect(checked, checked.stdout + checked.stderr).toMatchObject({ code: 0 })
    } finally {
      await serving.stop()
    }
  },
)

async function callByClient(url: URL): Promise<unknown> {
  const client = new Client({ name: 'newcomer', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(url))
  const { structuredContent } = await client.callTool({ name: 'roll_dice', arguments: { count: 2 } })
  await client.close()
  return structuredContent
}

async function callInPlayground(url: URL): Promise<unknown> {
  await using opened = await openPage(browser, new URL('/', url).href)
  const { page, complaints } = opened
  await page.getByRole('status').getByText('Connected').waitFor()
  await page.getByRole('navigation').getByRole('button', { name: 'roll_dice', exact: true }).click()
  const work = page.getByRole('region', { name: 'Try it' })
  await work.getByLabel('count').fill('1')
  await work.getByRole('button', { name: 'Call', exact: true }).click()
  const shown = await work.getByLabel('Structured content').textContent()
  expect(complaints).toEqual([])
  return JSON.parse(shown ?? '')
}

/** What the playground keeps in Chromium when it is loaded again, and what it says when its server ends meanwhile. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startInspectServer } from '../../deploy/playground/inspect-server.ts'
import { violations } from './_axe.ts'
import { launchChromium, type Opened, openPage, openPlayground } from './_chromium.ts'
import { type Inspected, inspectServer, serveTools } from './_failing-servers.ts'

const TIMEOUT_MS = 120_000
const text = { type: 'string' }
const secret = { type: 'string', format: 'password' }
const TOOLS = [
  { name: 'other', inputSchema: { type: 'object' } },
  {
    name: 'order',
    inputSchema: {
      type: 'object',
      properties: {
        item: text,
        count: { type: 'integer' },
        extra: { type: 'object' },
        pin: secret,
        login: { type: 'object', properties: { user: text, password: secret } },
      },
    },
  },
  {
    name: 'hidden',
    inputSchema: {
      type: 'object',
      properties: { key: { $ref: '#/$defs/key' }, item: text },
      $defs: { key: secret },
    },
  },
]

let browser: Awaited<ReturnType<typeof launchChromium>>
let server: Inspected
beforeAll(async () => {
  browser = await launchChromium()
  server = await inspectServer(serveTools(TOOLS))
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})

const open = (options: Parameters<typeof openPage>[2] = {}): Promise<Opened> =>
  openPlayground(browser, server.url, { viewport: { width: 1440, height: 900 }, ...options })
const connected = (page: Page): Promise<void> => page.getByRole('status').getByText('Connected').waitFor()
const work = (page: Page): Locator => page.locator('#work')
const field = (page: Page, name: string): Locator => page.locator('#call').getByLabel(name)
const choose = (page: Page, name: string): Promise<void> =>
  page.locator('#rail').getByRole('button', { name, exact: true }).click()
async function call(page: Page): Promise<void> {
  await work(page).getByRole('button', { name: 'Call', exact: true }).click()
  await work(page).locator('.result').getByText('done').first().waitFor()
}
const stored = (page: Page): Promise<string> =>
  page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]))
async function reload(page: Page): Promise<void> {
  await page.reload()
  await connected(page)
}

describe('after F5', { timeout: TIMEOUT_MS }, () => {
  test('typed values, unfinished JSON and the last calls are there, twice', async () => {
    await using opened = await open()
    const { page, complaints } = opened
    await choose(page, 'order')
    await field(page, 'item').fill('roses')
    await call(page)
    await field(page, 'count').fill('some')
    await field(page, 'extra').fill('{ "half": ')
    for (let turn = 0; turn < 2; turn++) {
      await reload(page)
      if (turn > 0) await choose(page, 'order')
      expect(await field(page, 'item').inputValue()).toBe('roses')
      expect(await field(page, 'count').inputValue()).toBe('some')
      expect(await field(page, 'extra').inputValue()).toBe('{ "half": ')
      await page.locator('#saved').getByText('History').click()
      await page.getByRole('button', { name: 'Call again: order { "item": "roses" } ok' }).waitFor()
      await page.keyboard.press('Escape')
      // Of a tool that is not shown, too.
      await choose(page, 'other')
    }
    await reload(page)
    await choose(page, 'order')
    expect(await field(page, 'item').inputValue()).toBe('roses')
    expect(complaints).toEqual([])
  })

  test('passwords and tokens are in no storage, in no list, and in no field', async () => {
    await using opened = await open()
    const { page } = opened
    await page.locator('#token-summary').click()
    await page.getByLabel('Access token').fill('a-token-of-value')
    await page.keyboard.press('Escape')
    await choose(page, 'order')
    await field(page, 'item').fill('roses')
    expect(await field(page, 'pin').getAttribute('type')).toBe('password')
    await field(page, 'pin').fill('a-secret-1')
    await field(page, 'password').fill('a-secret-2')
    await call(page)
    await work(page).getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByLabel('Save this call as').press('Enter')
    await page.getByRole('button', { name: 'Open order' }).waitFor()
    expect(await page.locator('#saved').textContent()).not.toContain('a-secret')
    await page.keyboard.press('Escape')
    // It is kept while the page is open.
    await choose(page, 'hidden')
    await work(page).getByRole('tab', { name: 'JSON' }).click()
    await field(page, 'Arguments as JSON').fill('{"key":"a-secret-3","item":"x"}')
    await choose(page, 'order')
    expect(await field(page, 'pin').inputValue()).toBe('a-secret-1')

    // Stored when the page is left, and taken back by the next one.
    await page.goto(`${new URL(server.url).origin}/__mayfly/style.css`)
    const left = await stored(page)
    expect(left).toContain('roses')
    expect(left).not.toMatch(/a-secret|a-token-of-value/)
    await page.goBack()
    await connected(page)
    expect(await field(page, 'item').inputValue()).toBe('roses')
    expect(await field(page, 'pin').inputValue()).toBe('')
    expect(await field(page, 'password').inputValue()).toBe('')
    expect(await stored(page)).not.toMatch(/mayfly-typed|a-secret/)
  })

  test('what somebody has written into the storage is only text', async () => {
    await using opened = await open()
    const { page, complaints } = opened
    await page.goto(`${new URL(server.url).origin}/__mayfly/style.css`)
    await page.evaluate(() => {
      const key = Object.keys(sessionStorage).find((name) => name.startsWith('mayfly-typed'))!
      const drafts = [
        ['tool order', { values: { item: { a: [1] }, count: '<b>', extra: null }, text: 5 }],
        7,
        [[]],
      ]
      const last = [{ id: 5 }, null, { id: 'tool=no', name: '<b>', values: {}, ms: 1, outcome: {} }]
      sessionStorage.setItem(key, JSON.stringify({ drafts, typed: 'x', last }))
    })
    await page.goBack()
    await connected(page)
    await choose(page, 'order')
    expect(await field(page, 'count').inputValue()).toBe('<b>')
    await call(page)
    expect(complaints).toEqual([])
  })
})

test('a server that ends while the page is open: the call says so, the bar is red, and both recover', {
  timeout: TIMEOUT_MS,
}, async () => {
  const listen = async (port: number): Promise<Server> => {
    const answer = serveTools(TOOLS)
    const started = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      answer(response, JSON.parse(body || '{}') as object)
    })
    await new Promise<void>((resolve) => started.listen(port, '127.0.0.1', resolve))
    return started
  }
  const end = async (started: Server): Promise<void> => {
    const closed = new Promise((resolve) => started.close(resolve))
    started.closeAllConnections()
    await closed
  }
  let behind = await listen(0)
  const { port } = behind.address() as AddressInfo
  const url = new URL(`http://127.0.0.1:${port}/api`)
  const inspecting = await startInspectServer({ server: url, headers: {}, token: 'the-token', port: 0 })
  await using opened = await openPage(browser, inspecting.url, { viewport: { width: 1440, height: 900 } })
  const { page } = opened
  await connected(page)
  await choose(page, 'order')
  await field(page, 'item').fill('roses')
  await end(behind)
  await work(page).getByRole('button', { name: 'Call', exact: true }).click()
  await work(page).getByRole('heading', { name: 'The server is down' }).waitFor()
  await work(page).getByText('Is the server running, and is the URL right?').waitFor()
  await page.getByRole('status').getByText('The server is down').waitFor()
  expect(await page.locator('body').getAttribute('data-state')).toBe('failed')
  expect(await page.locator('#announce').textContent()).toContain('The server is down')
  expect(await violations(page)).toEqual([])
  behind = await listen(port)
  await work(page).getByRole('button', { name: 'Call again' }).click()
  await work(page).locator('.result').getByText('done').first().waitFor()
  await connected(page)
  expect(await page.locator('body').getAttribute('data-state')).toBe('connected')
  expect(await field(page, 'item').inputValue()).toBe('roses')
  await inspecting.close()
  await end(behind)
})

test.for([1440, 1200, 1100, 1024, 768, 390, 360])(
  'at %i px the bar is one row, and nothing is cut off',
  async (width) => {
    await using opened = await open({ viewport: { width, height: 800 } })
    const { page } = opened
    const bar = page.getByRole('banner')
    expect((await bar.boundingBox())!.height).toBeLessThanOrEqual(60)
    expect(await bar.evaluate((node) => node.scrollWidth <= node.clientWidth)).toBe(true)
    await page.getByRole('status').getByText('Connected').waitFor()
    const more = page.getByRole('button', { name: 'Settings' })
    if (await more.isVisible()) await more.click()
    expect(await page.getByRole('radio', { name: '2025-11-25' }).isEnabled()).toBe(true)
    await page.getByText('About', { exact: true }).click()
    await page.getByRole('button', { name: 'Connect again' }).waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
  },
)

/**
 * The landing page in a real Chromium, under its own Content-Security-Policy.
 * `PAGE_SCREENSHOTS=<folder>` also writes a picture of each theme and width there.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PAGE_CSP, type PageModel, renderPage } from '../../src/http/page.ts'
import { launchChromium } from './_chromium.ts'

/** Serves the page at `/` on loopback: the one place that knows what is behind the URL. */
async function startServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.setHeader('content-security-policy', PAGE_CSP)
    const tools = request.url === '/?many' ? many : shop.tools
    response.end(renderPage({ ...shop, tools, endpoint: `${url}/mcp` }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const shop: Omit<PageModel, 'endpoint'> = {
  name: 'shop',
  title: 'Harbour Street Shop',
  version: '1.4.0',
  description: 'Orders, refunds and stock of the shop on Harbour Street, for the people who run it.',
  instructions: 'Look an order up before refunding it.\nAmounts are in euro cents.',
  websiteUrl: 'https://shop.example/',
  tools: [
    {
      name: 'find_orders',
      title: 'Find orders',
      description: 'Searches orders by customer, status or date. Newest first, twenty at a time.',
      readOnly: true,
      parameters: [
        {
          name: 'query',
          type: 'string',
          required: true,
          description: 'A customer’s name, e-mail or order id.',
        },
        { name: 'status', type: '"open" | "shipped" | "refunded"', required: false },
        { name: 'since', type: 'string (date)', required: false, description: 'Leaves out what is older.' },
      ],
    },
    {
      name: 'refund',
      title: 'Refund an order',
      description: 'Pays an order back, after asking the user to confirm the amount.',
      destructive: true,
      parameters: [{ name: 'orderId', type: 'string', required: true }],
    },
    { name: 'stock_report', description: 'What is running low, by shelf.', readOnly: true, parameters: [] },
    { name: 'hours', parameters: [] },
  ],
  prompts: [
    {
      name: 'apology',
      title: 'Write an apology',
      description: 'A letter for an order that went wrong.',
      arguments: [
        { name: 'orderId', required: true },
        { name: 'tone', description: 'Formal or friendly.' },
      ],
    },
  ],
  resources: [
    {
      uri: 'shop://policies/returns',
      title: 'Returns policy',
      mimeType: 'text/markdown',
      description: 'What may be returned, and until when.',
    },
  ],
  resourceTemplates: [
    { uriTemplate: 'shop://orders/{orderId}', name: 'order', description: 'One order, with its lines.' },
  ],
  protocolVersions: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'],
}

const many: PageModel['tools'] = Array.from({ length: 60 }, (_, at) => ({
  name: `tool_${at}`,
  description: at === 41 ? 'Counts the Kittens' : 'Does something',
  parameters: [],
}))

let server: Awaited<ReturnType<typeof startServer>>
let browser: Browser

beforeAll(async () => {
  server = await startServer()
  browser = await launchChromium()
})

afterAll(async () => {
  await browser?.close()
  await server?.stop()
})

/** A fresh context on the page, with what went wrong in it: console errors, exceptions, CSP violations, requests. */
async function openPage(
  options: Parameters<Browser['newContext']>[0] = {},
  query = '',
): Promise<{ page: Page; context: BrowserContext; complaints: string[] }> {
  const context = await browser.newContext(options)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.url })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('request', (request) => {
    if (new URL(request.url()).pathname !== '/') complaints.push(`requested ${request.url()}`)
  })
  await page.addInitScript(() =>
    document.addEventListener('securitypolicyviolation', (event) =>
      console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`),
    ),
  )
  await page.goto(server.url + query)
  return { page, context, complaints }
}

test('the page lists the tools under their heading, styled, without a complaint', async () => {
  const { page, context, complaints } = await openPage()
  const tools = page.locator('section', { has: page.getByRole('heading', { name: 'Tools 4', exact: true }) })
  expect(await tools.getByRole('heading', { level: 3 }).locator('code').allTextContents()).toEqual([
    'find_orders',
    'refund',
    'stock_report',
    'hours',
  ])
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Harbour Street Shop')
  expect(await page.locator('main').evaluate((main) => getComputedStyle(main).display)).toBe('grid')
  expect(complaints).toEqual([])
  await context.close()
})

test('a tool’s parameters open on click', async () => {
  const { page, context, complaints } = await openPage()
  const refund = page.getByRole('article').filter({ hasText: 'Refund an order' })
  await refund.getByText('Parameters').click()
  await refund.getByText('orderId').waitFor({ state: 'visible' })
  expect(complaints).toEqual([])
  await context.close()
})

test('a copy button puts its snippet on the clipboard and says so', async () => {
  const { page, context, complaints } = await openPage()
  await page.getByRole('button', { name: 'Copy for Claude Code' }).click()
  await page.getByRole('status').getByText('Copied').waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    `claude mcp add --transport http shop ${server.url}/mcp`,
  )
  expect(complaints).toEqual([])
  await context.close()
})

test('the URL is the first thing to copy', async () => {
  const { page, context, complaints } = await openPage()
  await page.getByRole('button').first().click()
  await page.getByRole('status').getByText('Copied').waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`${server.url}/mcp`)
  expect(await page.getByRole('link', { name: 'Add to' }).allTextContents()).toEqual([
    'Add to Cursor',
    'Add to VS Code',
  ])
  expect(complaints).toEqual([])
  await context.close()
})

test('the filter leaves the tools whose name or description has the words, and copies nothing', async () => {
  const { page, context, complaints } = await openPage({}, '/?many')
  const filter = page.getByRole('searchbox', { name: 'Filter tools' })
  const tools = page.locator('section', { has: filter }).getByRole('article')
  expect(await tools.count()).toBe(60)

  await filter.click()
  await filter.pressSequentially('kitten')
  expect(await tools.filter({ visible: true }).allTextContents()).toEqual([
    expect.stringContaining('tool_41'),
  ])
  await filter.fill('TOOL_5')
  expect(await tools.filter({ visible: true }).count()).toBe(11)
  await filter.fill('')
  expect(await tools.filter({ visible: true }).count()).toBe(60)
  expect(await page.getByRole('status').textContent()).toBe('')
  expect(complaints).toEqual([])
  await context.close()
})

test('without scripts there is no filter that does nothing, and everything can be read', async () => {
  const { page, context } = await openPage({ javaScriptEnabled: false }, '/?many')
  expect(await page.locator('input').isVisible()).toBe(false)
  expect(await page.getByText('Counts the Kittens').isVisible()).toBe(true)
  await page.getByText('Cursor', { exact: true }).click()
  expect(await page.getByText('.cursor/mcp.json').isVisible()).toBe(true)
  await context.close()
})

test('opening another client closes the first, and its JSON copies whole', async () => {
  const { page, context, complaints } = await openPage()
  await page.getByText('Cursor', { exact: true }).click()
  await page.getByRole('button', { name: 'Copy for Claude Code' }).waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Copy for Cursor' }).click()
  await page.getByRole('status').getByText('Copied').waitFor()
  expect(JSON.parse(await page.evaluate(() => navigator.clipboard.readText()))).toEqual({
    mcpServers: { shop: { url: `${server.url}/mcp` } },
  })
  expect(complaints).toEqual([])
  await context.close()
})

test('without a clipboard, a copy button leaves its snippet selected', async () => {
  const { page, context, complaints } = await openPage()
  await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
  await page.getByRole('button', { name: 'Copy for Claude Code' }).click()
  expect(await page.evaluate(() => String(getSelection()))).toContain('claude mcp add')
  expect(complaints).toEqual([])
  await context.close()
})

const views = [
  ['light', 'desktop', 1280, 900],
  ['light', 'mobile', 390, 844],
  ['dark', 'desktop', 1280, 900],
  ['dark', 'mobile', 390, 844],
] as const

test.for(views)(
  '%s, %s: nothing overflows sideways and every text has contrast',
  async ([colorScheme, device, width, height]) => {
    const { page, context, complaints } = await openPage({ colorScheme, viewport: { width, height } })
    const { scrollWidth, clientWidth } = await page.evaluate(() => document.documentElement)
    expect(scrollWidth).toBe(clientWidth)
    expect(await page.evaluate(leastContrast)).toBeGreaterThanOrEqual(4.5)
    expect(complaints).toEqual([])
    const folder = process.env.PAGE_SCREENSHOTS
    await page.goto(`${server.url}/?many`)
    expect(await page.evaluate(leastContrast)).toBeGreaterThanOrEqual(4.5)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
    await page.goto(server.url)
    if (folder)
      await page.screenshot({ path: join(folder, `page-${colorScheme}-${device}.png`), fullPage: true })
    await context.close()
  },
)

/** The lowest contrast ratio (WCAG 2.2 §1.4.3) of any element with text of its own; runs in the browser. */
function leastContrast(): number {
  const rgb = (color: string) => color.match(/[\d.]+/g)!.map(Number)
  const luminance = (color: string) => {
    const [r, g, b] = rgb(color)
      .map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
  }
  const background = (element: Element | null): string => {
    if (!element) return 'rgb(255, 255, 255)'
    const color = getComputedStyle(element).backgroundColor
    return rgb(color)[3] === 0 ? background(element.parentElement) : color
  }
  const ratios = [...document.body.querySelectorAll('*')]
    .filter((element) =>
      [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent?.trim()),
    )
    .filter((element) => element.tagName !== 'SCRIPT')
    .map((element) => {
      const pair = [luminance(getComputedStyle(element).color), luminance(background(element))]
      return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05)
    })
  return Math.min(...ratios)
}

/**
 * Every state of the playground at four widths in both themes: axe finds nothing, nothing overflows sideways.
 * The pictures are in the folder that it prints, below the system's folder for temporary files.
 */
import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, test } from 'vitest'
import { testPort } from '../_port.ts'
import { MayflyProcess, stopAll } from '../cli/_dev-process.ts'
import { violations } from './_axe.ts'
import { launchChromium } from './_chromium.ts'
import { FAILING, type Inspected, inspectServer, serveTools } from './_failing-servers.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PICTURES = join(tmpdir(), 'mayfly-playground')
/** All widths at once, on a machine that does much else. */
const TIMEOUT_MS = 240_000
const WIDTHS = [
  [1440, 900],
  [1024, 768],
  [768, 1024],
  [390, 844],
] as const

let browser: Awaited<ReturnType<typeof launchChromium>>
let origin: string
const servers = new Map<string, Inspected>()
beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true })
  console.info(`pictures: ${PICTURES}`)
  browser = await launchChromium()
  const port = String(await testPort())
  const served = new MayflyProcess(
    ['dev', 'test/browser/_playground-server.ts', '--target', 'node', '--port', port],
    ROOT,
  )
  for (const name of ['down', 'html', '401', '502', 'hangs'])
    servers.set(name, await inspectServer(FAILING[name]!.answer))
  servers.set('nothing', await inspectServer(serveTools([])))
  await served.ready()
  origin = `http://127.0.0.1:${port}`
}, TIMEOUT_MS)
afterAll(async () => {
  await browser?.close()
  await stopAll()
  for (const server of servers.values()) await server[Symbol.asyncDispose]()
})

async function choose(page: Page, name: string): Promise<void> {
  const list = page.getByRole('button', { name: /^Tools/ })
  if (await list.isVisible()) await list.click()
  await page.locator('#rail').getByRole('button', { name, exact: true }).click()
}

async function call(page: Page, name: string, fields: Record<string, string> = {}): Promise<void> {
  await choose(page, name)
  for (const [label, value] of Object.entries(fields))
    await page.locator('#work').getByLabel(label).first().fill(value)
  await page.getByRole('button', { name: 'Call', exact: true }).click()
}

async function openMenu(page: Page, id: string): Promise<void> {
  const more = page.getByRole('button', { name: 'Settings' })
  if (await more.isVisible()) await more.click()
  await page.locator(`${id} summary`).first().click()
}

/** In the order in which they are walked; each begins where the one before ended. */
const OF_A_SERVER: { readonly [state: string]: (page: Page) => Promise<unknown> } = {
  list: async () => {},
  form: (page) => choose(page, 'order'),
  definition: (page) => page.getByRole('tab', { name: 'Definition' }).click(),
  running: (page) => call(page, 'wait'),
  cancelled: (page) => page.keyboard.press('Escape'),
  asks: async (page) => {
    await call(page, 'refund', { orderId: '7' })
    await page.locator('form.question').waitFor()
  },
  declined: async (page) => {
    await page.getByRole('button', { name: 'Decline' }).click()
    await page.locator('.result').getByText('The user chose decline').first().waitFor()
  },
  failed: async (page) => {
    await call(page, 'order', { stems: '100' })
    await page.getByRole('heading', { name: 'The tool failed' }).waitFor()
  },
  result: async (page) => {
    await call(page, 'count')
    await page.locator('.result').getByText('three', { exact: true }).first().waitFor()
  },
  wire: async (page) => {
    const tab = page.getByRole('button', { name: /^Wire/ })
    if (await tab.isVisible()) await tab.click()
    await page.locator('#exchanges summary').first().click()
  },
  client: (page) => openMenu(page, '.menu:has(#can-form)'),
  add: async (page) => {
    await page.locator('#add-to-client > summary').click()
    await page.locator('#snippets summary').first().click()
  },
}

test.concurrent.for(WIDTHS)('%i x %i', { timeout: TIMEOUT_MS }, async ([width, height], { expect }) => {
  const context = await browser.newContext({ viewport: { width, height }, bypassCSP: true })
  context.setDefaultTimeout(20_000)
  const page = await context.newPage()
  const faults: string[] = []
  const look = async (state: string): Promise<void> => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: join(PICTURES, `${state}-${width}-${colorScheme}.png`) })
      faults.push(...(await faultsOf(page, colorScheme)).map((fault) => `${state}, ${colorScheme}: ${fault}`))
    }
  }
  await page.goto(origin)
  await page.getByRole('status').getByText('Connected').waitFor()
  for (const [state, reach] of Object.entries(OF_A_SERVER)) {
    await reach(page)
    await look(state)
  }
  for (const [state, server] of servers) {
    await page.goto(server.url)
    await page
      .getByRole('heading', {
        name: state === 'hangs' ? 'Connecting' : (FAILING[state]?.title ?? 'Connected'),
      })
      .waitFor()
    await look(state)
  }
  await context.close()
  expect(faults).toEqual([])
})

/** The colours alone differ between the themes. */
async function faultsOf(page: Page, colorScheme: 'light' | 'dark'): Promise<string[]> {
  const rules = colorScheme === 'light' ? {} : { runOnly: { type: 'rule', values: ['color-contrast'] } }
  const found = await violations(page, rules)
  const { scrollWidth, clientWidth } = await page.evaluate(() => document.documentElement)
  const excess = scrollWidth - clientWidth
  return excess > 0 ? [...found, `${excess} px wider than the window`] : found
}

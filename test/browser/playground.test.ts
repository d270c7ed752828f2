/**
 * The playground of `mayfly dev` in a real Chromium, on workerd and Node.
 * `PLAYGROUND_SCREENSHOTS=docs/images` writes the pictures of the documentation.
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testPort } from '../_port.ts'
import { MayflyProcess, stopAll } from '../cli/_dev-process.ts'
import { violations } from './_axe.ts'
import { launchChromium, type Opened, openPage, openPlayground, VIEWS } from './_chromium.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TIMEOUT_MS = 120_000

let browser: Browser
beforeAll(async () => {
  browser = await launchChromium()
})
afterAll(async () => {
  await browser?.close()
  await stopAll()
})

const work = (page: Page): Locator => page.getByRole('region', { name: 'Try it' })
const wire = (page: Page): Locator => page.getByRole('region', { name: 'The wire' })
const offer = (page: Page, name: string): Locator =>
  page.getByRole('navigation').getByRole('button', { name, exact: true })
const result = (page: Page): Locator => work(page).locator('.result')

async function run(page: Page, name: string, verb = 'Call'): Promise<void> {
  await offer(page, name).click()
  await work(page).getByRole('button', { name: verb, exact: true }).click()
}

describe.for(['node', 'cloudflare'])('%s', { timeout: TIMEOUT_MS }, (target) => {
  let origin: string
  let served: MayflyProcess

  beforeAll(async () => {
    const port = String(await testPort())
    const args = ['dev', 'test/browser/_playground-server.ts', '--target', target, '--port', port]
    served = new MayflyProcess(args, ROOT)
    await served.ready()
    origin = `http://127.0.0.1:${port}`
  }, TIMEOUT_MS)
  afterAll(() => served?.signal('SIGTERM'))

  const open = (options: Parameters<Browser['newContext']>[0] = {}): Promise<Opened> =>
    openPlayground(browser, `${origin}/`, options)

  test('a tool with every kind of field is called, and the wire shows the exchange', async () => {
    await using opened = await open()
    const { page, complaints } = opened
    await offer(page, 'order').click()
    const form = work(page)
    await form.getByLabel('customer').fill('Ada')
    await form.getByLabel('stems').fill('12')
    await form.getByLabel('express').selectOption('true')
    await form.getByLabel('colour').selectOption('red')
    await form.getByLabel('street').fill('Harbour Street 1')
    await form.getByRole('button', { name: 'Add to notes' }).click()
    await form.getByLabel('notes 1 required').fill('Ring twice')
    await form.getByLabel('extra').fill('{ "vase": true }')
    await form.getByRole('button', { name: 'Call', exact: true }).click()
    const structured = result(page).getByLabel('Structured content')
    expect(JSON.parse((await structured.textContent())!)).toEqual({
      customer: 'Ada',
      stems: 12,
      express: true,
      colour: 'red',
      address: { street: 'Harbour Street 1' },
      notes: ['Ring twice'],
      extra: { vase: true },
    })
    const exchange = wire(page).getByRole('listitem').filter({ hasText: 'tools/call order' })
    await exchange.locator('summary').click()
    const headers = await exchange.getByLabel('Request headers').textContent()
    expect(headers).toContain('POST /mcp')
    expect(headers).toContain('mcp-method: tools/call')
    expect(await exchange.getByLabel('Response headers').textContent()).toMatch(/^200, after \d+ ms/)
    expect(await exchange.locator('summary').textContent()).toMatch(/200 · (1 event · )?\d+ B · \d+ ms/)
    expect(complaints).toEqual([])
  })

  test('the same arguments as JSON; what is no JSON is not sent', async () => {
    await using opened = await open()
    const { page } = opened
    await offer(page, 'order').click()
    await work(page).getByLabel('customer').fill('Bob')
    await work(page).getByRole('tab', { name: 'JSON' }).click()
    const input = work(page).getByLabel('Arguments as JSON')
    const written = JSON.parse(await input.inputValue()) as object
    expect(written).toMatchObject({ customer: 'Bob', stems: 3, colour: 'white' })
    await input.fill('{')
    await work(page).getByRole('button', { name: 'Call', exact: true }).click()
    await result(page).getByText('a JSON field is invalid').waitFor()
    await input.fill(JSON.stringify({ ...written, stems: 100, address: { street: 'x' } }))
    await work(page).getByRole('button', { name: 'Call', exact: true }).click()
    await work(page).getByRole('heading', { name: 'The tool failed' }).waitFor()
    expect(await result(page).textContent()).toContain('stems')
  })

  test('modern: a tool asks twice; each question is a form, and each retry an exchange', async () => {
    await using opened = await open()
    const { page, complaints } = opened
    await offer(page, 'refund').click()
    await work(page).getByLabel('orderId').fill('7')
    await work(page).getByRole('button', { name: 'Call', exact: true }).click()
    const question = page.getByRole('form', { name: 'The server asks' })
    await question.getByText('How much of order 7?').waitFor()
    await screenshot(page, `playground-question`, target)
    await question.getByLabel('euros').fill('25')
    await question.getByRole('button', { name: 'Send answer' }).click()
    await question.getByText('Refund 25 euros?').waitFor()
    await question.getByLabel('confirm').selectOption('true')
    await question.getByRole('button', { name: 'Send answer' }).click()
    await result(page).getByText('Refunded 25').first().waitFor()
    const exchanges = wire(page).getByRole('listitem').filter({ hasText: 'tools/call refund' })
    expect(await exchanges.count()).toBe(3)
    expect(await exchanges.filter({ hasText: 'with the answer' }).count()).toBe(2)
    await exchanges.first().locator('summary').click()
    expect(await exchanges.first().getByLabel('Request body').textContent()).toContain('requestState')
    await screenshot(page, 'playground-result', target)
    expect(complaints).toEqual([])
  })

  test('a client that cannot answer, and the legacy era, degrade with what to do', async () => {
    await using opened = await open()
    const { page } = opened
    await offer(page, 'refund').click()
    await page.getByRole('radio', { name: '2025-11-25', exact: true }).check()
    await page.getByRole('status').getByText('Connected').waitFor()
    await work(page).getByLabel('orderId').fill('7')
    await work(page).getByRole('button', { name: 'Call', exact: true }).click()
    await work(page).getByText('Degraded: elicitation').waitFor()
    await page.getByRole('radio', { name: '2026-07-28', exact: true }).check()
    await page.getByText('Client: all 5').click()
    await page.getByLabel('answer forms').uncheck()
    await page.getByLabel('open pages').uncheck()
    await page.getByText('Client: 3 of 5').waitFor()
    await page.getByRole('status').getByText('Connected').waitFor()
    await work(page).getByLabel('orderId').fill('7')
    await work(page).getByRole('button', { name: 'Call', exact: true }).click()
    await expect.poll(() => result(page).textContent()).toMatch(/elicitation/i)
  })

  test('sampling is answered by the user; a decline reaches the tool', async () => {
    await using opened = await open()
    const { page } = opened
    await run(page, 'joke')
    const question = page.getByRole('form', { name: 'The server asks the model of its client' })
    await question.getByLabel('What the model says').fill('Knock, knock')
    await question.getByRole('button', { name: 'Send answer' }).click()
    await result(page).getByText('Knock, knock').first().waitFor()
  })

  test('events appear as they come, and a call can be cancelled', async () => {
    await using opened = await open()
    const { page } = opened
    await run(page, 'count')
    await result(page).getByText('three', { exact: true }).first().waitFor()
    const counted = wire(page).getByRole('listitem').filter({ hasText: 'tools/call count' })
    await counted.locator('summary').click()
    expect(await counted.locator('.events').textContent()).toContain('counted 3')
    await run(page, 'wait')
    await work(page).getByRole('button', { name: 'Cancel' }).click()
    await result(page).getByText('cancelled').waitFor()
    await wire(page).getByText('cancelled here').first().waitFor()
  })

  test('resources are read, templates and prompts completed, pictures shown', async () => {
    await using opened = await open()
    const { page, complaints } = opened
    await run(page, 'flowers://care', 'Read')
    await result(page).getByText('Water them.', { exact: true }).waitFor()
    await offer(page, 'flowers://kinds/{kind}').click()
    await work(page).getByLabel('kind').fill('ros')
    await work(page).locator('datalist option[value=rosemary]').waitFor({ state: 'attached' })
    expect(await work(page).locator('datalist option').count()).toBe(2)
    await work(page).getByLabel('kind').fill('rosemary')
    await work(page).getByRole('button', { name: 'Read' }).click()
    await result(page).getByText('All about the rosemary', { exact: true }).waitFor()
    await offer(page, 'card').click()
    await work(page).getByLabel('to', { exact: false }).first().fill('Grace')
    await work(page).getByLabel('tone').fill('w')
    await work(page).locator('datalist option[value=warm]').waitFor({ state: 'attached' })
    await work(page).getByLabel('tone').fill('warm')
    await work(page).getByRole('button', { name: 'Render' }).click()
    await result(page).getByText('Write a warm card to Grace.', { exact: true }).waitFor()
    await run(page, 'picture')
    expect(
      await result(page)
        .getByRole('img')
        .evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth)),
    ).toBe(1)
    expect(complaints).toEqual([])
  })

  test('a tool is called by keyboard alone', async () => {
    await using opened = await open()
    const { page } = opened
    const focused = (): Promise<string | null> =>
      page.evaluate(() => document.activeElement?.textContent ?? null)
    // One of the offers is reached by Tab, the others by arrows.
    await tabTo(page, focused, 'order')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    expect(await focused()).toBe('refund')
    await tabTo(
      page,
      () => page.evaluate(() => (document.activeElement as HTMLInputElement).labels?.[0]?.textContent ?? ''),
      'orderId required',
    )
    await page.keyboard.type('9')
    await page.keyboard.press('Enter')
    const question = page.getByRole('form', { name: 'The server asks' })
    await question.waitFor()
    // The focus is at the question, and after it back where the user was.
    await page.keyboard.press('Tab')
    await page.keyboard.type('5')
    await page.keyboard.press('Enter')
    await question.getByText('Refund 5 euros?').waitFor()
    await tabTo(page, focused, 'Dismiss')
    await page.keyboard.press('Enter')
    await result(page).getByText('Kept', { exact: true }).waitFor()
  })

  // The page is the same, whatever serves it.
  test.for(target === 'node' ? VIEWS : [])(
    '%s, %i px wide: axe finds nothing, and nothing overflows sideways',
    async ([colorScheme, width, height]) => {
      await using opened = await open({ colorScheme, viewport: { width, height }, bypassCSP: true })
      const { page } = opened
      const isNarrow = width < 720
      await offer(page, 'order').click()
      await work(page).getByRole('button', { name: 'Add to notes' }).click()
      expect(await violations(page)).toEqual([])
      if (isNarrow) await page.getByRole('button', { name: 'Settings' }).click()
      for (const menu of ['Client: all 5', 'No token', 'Add to client', 'About']) {
        await page.getByText(menu, { exact: true }).click()
        expect(await violations(page), menu).toEqual([])
      }
      await page.keyboard.press('Escape')
      if (isNarrow) await page.getByRole('button', { name: 'Settings' }).click()
      if (isNarrow) await page.getByRole('button', { name: /^Tools/ }).click()
      await offer(page, 'refund').click()
      await work(page).getByRole('button', { name: 'Call', exact: true }).click()
      await page.getByRole('form', { name: 'The server asks' }).waitFor()
      expect(await violations(page)).toEqual([])
      await page.getByRole('form').getByRole('button', { name: 'Decline' }).click()
      await result(page).getByText('The user chose decline').first().waitFor()
      if (isNarrow) await page.getByRole('button', { name: /^Wire/ }).click()
      await wire(page).getByRole('listitem').first().locator('summary').click()
      expect(await violations(page)).toEqual([])
      const { scrollWidth, clientWidth } = await page.evaluate(() => document.documentElement)
      expect(scrollWidth).toBe(clientWidth)
    },
  )

  test('programs and other requests reach the server as before', async () => {
    const landing = await fetch(`${origin}/`, { headers: { accept: 'text/html' } })
    expect(await landing.text()).toContain('<h1>Flowers</h1>')
    await using opened = await openPage(browser, `${origin}/?landing`)
    expect(await opened.page.getByRole('heading', { level: 1 }).textContent()).toBe('Flowers')
    expect(await opened.page.content()).toContain(`${origin}/mcp`)
  })
})

async function tabTo(page: Page, name: () => Promise<string | null>, wanted: string): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    if ((await name()) === wanted) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`the keyboard does not reach ${wanted}`)
}

/** Of the first target only. */
async function screenshot(page: Page, name: string, target: string): Promise<void> {
  const folder = process.env.PLAYGROUND_SCREENSHOTS
  if (folder === undefined || target !== 'node') return
  await page.setViewportSize({ width: 1280, height: 960 })
  await page.evaluate(() => scrollTo(0, 0))
  await page.screenshot({ path: join(folder, `${name}.png`) })
}

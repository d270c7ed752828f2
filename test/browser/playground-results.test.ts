/** The result of a call in the playground, in Chromium: its outputSchema, as it was sent, and each thing once. */
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { violations } from './_axe.ts'
import { launchChromium, type Opened, openPage, VIEWS } from './_chromium.ts'
import { type Inspected, inspectServer, serveTools } from './_failing-servers.ts'

const TIMEOUT_MS = 120_000
const NUMBER = '12345678901234567890'

const tool = (name: string, outputSchema?: object): object => ({
  name,
  inputSchema: { type: 'object' },
  ...(outputSchema && { outputSchema: { type: 'object', ...outputSchema } }),
})
const text = (one: string): object => ({ type: 'text', text: one })

/** By the name of the tool: its definition, and the JSON of its result. */
const RESULTS: { readonly [name: string]: readonly [definition: object, result: string] } = {
  keeps: [
    tool('keeps', { properties: { n: { type: 'number' } }, required: ['n'] }),
    `{"content":[{"type":"text","text":"{\\"n\\":${NUMBER}}"}],"structuredContent":{"n": ${NUMBER}}}`,
  ],
  breaks: [
    tool('breaks', { properties: { rows: { type: 'array', items: { type: 'object', required: ['id'] } } } }),
    '{"content":[],"structuredContent":{"rows":[{"id":1},{"name":"<b>x</b>"}]}}',
  ],
  forgets: [tool('forgets', {}), JSON.stringify({ content: [text('nothing')] })],
  dates: [
    tool('dates', { properties: { at: { type: 'string', format: 'date', pattern: '(a+)+$' } } }),
    `{"content":[],"structuredContent":{"at":"${'a'.repeat(5000)}!"}}`,
  ],
  errs: [
    tool('errs', { required: ['n'] }),
    JSON.stringify({ content: [text('no such order')], isError: true }),
  ],
  differs: [
    tool('differs'),
    '{"content":[{"type":"text","text":"{\\"n\\":1}"}],"structuredContent":{"n":2}}',
  ],
  plain: [tool('plain'), JSON.stringify({ content: [text('done')] })],
  large: [
    tool('large'),
    JSON.stringify({ content: [], structuredContent: { rows: Array(3000).fill({ name: 'row' }) } }),
  ],
}

let browser: Awaited<ReturnType<typeof launchChromium>>
let server: Inspected
beforeAll(async () => {
  browser = await launchChromium()
  const definitions = Object.values(RESULTS).map(([definition]) => definition)
  server = await inspectServer(serveTools(definitions, (name) => RESULTS[name]![1]))
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})

async function call(name: string, options: Parameters<typeof openPage>[2] = {}): Promise<Opened> {
  const opened = await openPage(browser, `${server.url}`, {
    viewport: { width: 1440, height: 900 },
    permissions: ['clipboard-read', 'clipboard-write'],
    ...options,
  })
  const { page } = opened
  await page.getByRole('status').getByText('Connected').waitFor()
  await again(page, name)
  return opened
}

async function again(page: Page, name: string): Promise<void> {
  await page.locator('#rail').getByRole('button', { name, exact: true }).click()
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await result(page)
    .getByRole('heading', { name: /Result|The tool failed/ })
    .waitFor()
}

const result = (page: Page): Locator => page.locator('#work .result')
const head = (page: Page): Locator => result(page).locator('.line').first()
const raw = (page: Page): Locator => result(page).getByLabel('The result as it was sent')

async function copy(page: Page): Promise<string> {
  await result(page).getByRole('button', { name: 'Copy', exact: true }).click()
  await result(page).getByRole('button', { name: 'Copied', exact: true }).waitFor()
  return page.evaluate(() => navigator.clipboard.readText())
}

describe('outputSchema', { timeout: TIMEOUT_MS }, () => {
  test('what matches says so, also for a screen reader', async () => {
    await using opened = await call('keeps')
    const { page } = opened
    expect(await head(page).textContent()).toMatch(/\d ms · \d+ B · matches outputSchema(?!,)/)
    expect(await page.locator('#announce').textContent()).toContain('matches outputSchema')
  })

  test.for([
    ['breaks', 'structuredContent.rows.1 must have id'],
    ['forgets', 'structuredContent is missing'],
  ])('%s: the header says that it does not match, and where', async ([name, fault]) => {
    await using opened = await call(name!)
    await head(opened.page).getByText('does not match outputSchema').waitFor()
    await result(opened.page).getByText(fault!, { exact: true }).waitFor()
    expect(await opened.page.locator('#announce').textContent()).toContain('does not match outputSchema')
  })

  test('formats and patterns are not run, and the header says that not all is checked', async () => {
    await using opened = await call('dates')
    await head(opened.page).getByText('matches outputSchema, as far as checked').waitFor()
  })

  test('a failure of the tool, and a tool without a schema, are not judged', async () => {
    await using opened = await call('errs')
    expect(await head(opened.page).textContent()).not.toContain('outputSchema')
    await again(opened.page, 'plain')
    expect(await head(opened.page).textContent()).not.toContain('outputSchema')
  })
})

describe('a result', { timeout: TIMEOUT_MS }, () => {
  test('its data has the digits that the server sent, on the page and copied', async () => {
    await using opened = await call('keeps')
    const { page } = opened
    const structured = result(page).getByLabel('Structured content')
    expect(await structured.textContent()).toBe(`{\n  "n": ${NUMBER}\n}`)
    expect(await copy(page)).toBe(`{"n": ${NUMBER}}`)
    await result(page).getByText('The whole result as JSON').click()
    expect(await result(page).getByLabel('The whole result', { exact: true }).textContent()).toContain(
      `"n": ${NUMBER}`,
    )
  })

  test('data that is also sent as text is shown once, and other text beside it', async () => {
    await using opened = await call('keeps')
    const { page } = opened
    await result(page).getByText('structuredContent, also sent as text').waitFor()
    expect(await result(page).getByLabel('Text', { exact: true }).count()).toBe(0)
    await again(page, 'differs')
    expect(await result(page).getByLabel('Text', { exact: true }).textContent()).toContain('"n": 1')
    expect(await result(page).getByLabel('Structured content').textContent()).toContain('"n": 2')
  })

  test('Raw is what was sent, is copied, and stays for the next result', async () => {
    await using opened = await call('keeps')
    const { page, complaints } = opened
    expect(await raw(page).isVisible()).toBe(false)
    await result(page).getByText('Raw', { exact: true }).click()
    expect(await raw(page).textContent()).toBe(RESULTS.keeps![1])
    expect(await result(page).getByLabel('Structured content').isVisible()).toBe(false)
    expect(await copy(page)).toBe(RESULTS.keeps![1])
    await again(page, 'breaks')
    expect(await raw(page).textContent()).toBe(RESULTS.breaks![1])
    // Without JSON there is nothing to choose.
    await again(page, 'plain')
    expect(await raw(page).count()).toBe(0)
    await result(page).getByLabel('Text', { exact: true }).getByText('done').waitFor()
    await again(page, 'differs')
    await page.keyboard.press('Shift+Tab')
    await result(page).getByRole('radio', { name: 'Raw' }).focus()
    await page.keyboard.press('ArrowLeft')
    await result(page).getByLabel('Structured content').waitFor()
    expect(complaints).toEqual([])
  })

  test('a long result has colours at its start', async () => {
    await using opened = await call('large')
    const structured = result(opened.page).getByLabel('Structured content')
    expect(await structured.locator('.k').first().textContent()).toBe('"rows"')
    expect(await structured.locator('span').count()).toBeLessThan(5000)
  })

  test.for(VIEWS)('%s, %i px: axe finds nothing', async ([colorScheme, width, height]) => {
    await using opened = await openPage(browser, server.url, { colorScheme, viewport: { width, height } })
    const { page } = opened
    await page.getByRole('status').getByText('Connected').waitFor()
    for (const name of ['keeps', 'breaks', 'dates']) {
      const tab = page.locator('[data-go=rail]')
      if (await tab.isVisible()) await tab.click()
      await again(page, name)
      expect(await violations(page)).toEqual([])
      const overflows = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
      expect(overflows).toBe(false)
    }
    await result(page).getByText('Raw', { exact: true }).click()
    expect(await violations(page)).toEqual([])
  })
})

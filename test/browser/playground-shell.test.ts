/** The frame of the playground in Chromium: its bar, list, tabs, keys and URL, and what it says of a server that fails. */
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launchChromium, type Opened, openPage, openPlayground } from './_chromium.ts'
import { FAILING, type Inspected, inspectServer, serveTools } from './_failing-servers.ts'

const WORDS = ['river', 'moon', 'hatch', 'mill', 'weir']
const LONG = Object.fromEntries(
  Array.from({ length: 20 }, (_, index) => [`field_${index}`, { type: 'string' }]),
)
const TOOLS = Array.from({ length: 500 }, (_, index) => ({
  name: `tool_${index}`,
  title: index === 3 ? 'Count the stones' : undefined,
  description: `Watches the ${WORDS[index % 5]} ${index}\nand more`,
  inputSchema: {
    type: 'object',
    properties: index === 4 ? LONG : index === 5 ? {} : { minutes: { type: 'integer' } },
  },
  annotations: index === 0 ? { readOnlyHint: true } : index === 1 ? { destructiveHint: true } : undefined,
  execution: index === 2 ? { taskSupport: 'optional' } : undefined,
}))

let browser: Awaited<ReturnType<typeof launchChromium>>
let many: Inspected
beforeAll(async () => {
  browser = await launchChromium()
  many = await inspectServer(serveTools(TOOLS))
})
afterAll(async () => {
  await browser?.close()
  await many?.[Symbol.asyncDispose]()
})

const open = (options: Parameters<typeof openPage>[2] = {}): Promise<Opened> =>
  openPlayground(browser, many.url, { viewport: { width: 1440, height: 900 }, ...options })
const tool = (page: Page, name: string): Locator =>
  page.getByRole('navigation', { name: 'What the server offers' }).getByRole('button', { name, exact: true })
const row = (page: Page, name: string): Locator =>
  page.locator('#rail li').filter({ has: page.getByRole('button', { name, exact: true }) })
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => document.activeElement?.textContent ?? '')

describe.for(Object.entries(FAILING))('a server: %s', ([state, { answer, title, reason, advice }]) => {
  test('the page says so, with the reason and what to do, and connects again', async () => {
    await using server = await inspectServer(answer)
    await using opened = await openPage(browser, 'about:blank')
    const { page } = opened
    if (state === 'hangs') await page.clock.install()
    await page.goto(server.url)
    if (state === 'hangs') {
      await page.getByRole('heading', { name: 'Connecting' }).waitFor()
      await page.locator('#exchanges').getByText('running').waitFor()
      await page.clock.fastForward(21_000)
    }
    await page.getByRole('heading', { name: title }).waitFor()
    await page.getByRole('status').getByText(title).waitFor()
    expect(await page.getByRole('group', { name: 'The reason' }).textContent()).toContain(reason)
    await page.locator('.trouble').getByText(advice).waitFor()
    expect(await page.locator('#rail').isVisible()).toBe(false)
    const before = await page.locator('#exchanges > li').count()
    const action = state === '401' ? 'Paste a token' : 'Connect again'
    await page.locator('.trouble').getByRole('button', { name: action }).click()
    if (state === '401') await page.getByLabel('Access token').waitFor()
    else await expect.poll(() => page.locator('#exchanges > li').count()).toBeGreaterThan(before)
  })
})

test('a server cannot say for the local process that it is down', async () => {
  await using server = await inspectServer((response) => {
    response.writeHead(404, { 'x-mayfly-unreachable': '1', 'content-type': 'text/plain' }).end('lies')
  })
  await using opened = await openPage(browser, server.url)
  await opened.page.getByRole('heading', { name: 'The server answers 404' }).waitFor()
})

test('at 1440 px the bar is 48 px, the URL is copied, and clients have their snippets', async () => {
  await using opened = await open({ permissions: ['clipboard-read', 'clipboard-write'] })
  const { page, complaints } = opened
  const { height } = (await page.getByRole('banner').boundingBox())!
  expect(height).toBeLessThanOrEqual(49)
  await page.getByRole('button', { name: 'Copy the URL of the server' }).click()
  await page.getByText('Copied', { exact: true }).waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(
    /^http:\/\/127\.0\.0\.1:\d+\/api$/,
  )
  await page.getByText('Add to client').click()
  await page.getByText('Cursor', { exact: true }).click()
  await page.getByText('"mcpServers"').first().waitFor()
  await page.keyboard.press('Escape')
  expect(await page.locator('.menu[open]').count()).toBe(0)
  expect(await focused(page)).toBe('Add to client')
  expect(complaints).toEqual([])
})

test('at 390 px tabs show the list, the form of the tapped tool, and the wire', async () => {
  await using opened = await open({ viewport: { width: 390, height: 844 } })
  const { page } = opened
  await tool(page, 'tool_7').click()
  const call = page.getByRole('button', { name: 'Call', exact: true })
  expect((await call.boundingBox())!.y).toBeLessThan(844)
  expect(await page.locator('#rail').isVisible()).toBe(false)
  await call.click()
  await page.locator('.result').getByText('done').first().waitFor()
  await page.getByRole('button', { name: /^Wire \d/ }).click()
  await page.locator('#exchanges').getByText('tools/call').first().waitFor()
  await page.getByRole('button', { name: 'Tools 500' }).click()
  await tool(page, 'tool_8').waitFor()
})

test('the chosen tool is in the URL, is announced and focused, and is chosen again after F5', async () => {
  await using opened = await open()
  const { page } = opened
  await tool(page, 'tool_7').click()
  expect(new URL(page.url()).hash).toBe('#tool=tool_7')
  expect(await focused(page)).toBe('tool_7')
  expect(await page.locator('[aria-live]#announce').textContent()).toContain('tool_7')
  await page.reload()
  await page.getByRole('heading', { name: 'tool_7' }).waitFor()
  expect(await tool(page, 'tool_7').getAttribute('aria-current')).toBe('true')
  await tool(page, 'tool_9').click()
  await page.goBack()
  await page.getByRole('heading', { name: 'tool_7' }).waitFor()
})

test('/ filters names, titles and descriptions, Ctrl+Enter calls, and Esc leaves', async () => {
  await using opened = await open()
  const { page } = opened
  await page.keyboard.press('/')
  await page.keyboard.type('moon 1')
  await page.getByText('64 of 500', { exact: true }).waitFor()
  expect(await page.locator('#rail li:visible').count()).toBe(64)
  await page.getByPlaceholder('Filter 500').fill('STONES')
  await tool(page, 'tool_3').waitFor()
  expect(await page.locator('#rail li:visible').count()).toBe(1)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Count the stones' }).waitFor()
  await page.keyboard.press('Control+Enter')
  await page.locator('.result').getByText('done').first().waitFor()
  await page.keyboard.press('Escape')
  expect(await focused(page)).toBe('tool_3')
  expect(await page.locator('#rail li:visible').count()).toBe(500)
  await page.getByPlaceholder('Filter 500').fill('nothing of this')
  await page.getByText('Nothing matches').waitFor()
})

test('from the load of the page to Call there are at most ten Tabs, whatever the number of tools', async () => {
  await using opened = await open()
  const { page } = opened
  let tabs = 1
  await page.keyboard.press('Tab')
  expect(await focused(page)).toBe('Skip to the form')
  await page.keyboard.press('Enter')
  while (!(await focused(page)).startsWith('Call') && tabs < 20) {
    await page.keyboard.press('Tab')
    tabs++
  }
  expect(tabs).toBeLessThanOrEqual(10)
})

test('rows have a line of description and marks, and the selected one is told apart in forced colours', async () => {
  await using opened = await open()
  const { page } = opened
  expect(await row(page, 'tool_0').innerText()).toMatch(/^tool_0\s+read-only\s+Watches the river 0$/)
  expect(await row(page, 'tool_1').innerText()).toContain('destructive')
  expect(await row(page, 'tool_2').innerText()).toContain('task')
  await page.emulateMedia({ forcedColors: 'active' })
  const outline = (name: string): Promise<string> =>
    row(page, name).evaluate((node) => getComputedStyle(node).outlineStyle)
  expect(await outline('tool_0')).toBe('solid')
  expect(await outline('tool_1')).toBe('none')
})

test('the result of a long form is in view, and a tool without arguments has nothing to fill in', async () => {
  await using opened = await open()
  const { page } = opened
  await tool(page, 'tool_4').click()
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  const text = page.locator('.result').getByText('done').first()
  await text.waitFor()
  const { y } = (await text.boundingBox())!
  expect(y).toBeLessThan(880)
  await tool(page, 'tool_5').click()
  await page.getByText('Nothing to fill in.').waitFor()
})

test('500 tools stay quick: a letter in the filter takes less than a frame of 100 ms', async () => {
  await using opened = await open()
  const { page } = opened
  const times = await page.evaluate(async () => {
    const input = document.querySelector<HTMLInputElement>('#find input')!
    const taken: number[] = []
    for (const text of ['r', 'ri', 'riv', '', 'x', '', 'mill', 'mill 4', '']) {
      const before = performance.now()
      input.value = text
      input.dispatchEvent(new Event('input'))
      document.querySelector('#rail')!.getBoundingClientRect()
      taken.push(performance.now() - before)
      await new Promise(requestAnimationFrame)
    }
    return taken.sort((one, other) => one - other)
  })
  console.info(`filter of 500 tools, ms: ${times.map((ms) => ms.toFixed(1)).join(' ')}`)
  expect(times[4]).toBeLessThan(100)
})

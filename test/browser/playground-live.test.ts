/** The playground of `mayfly dev` in Chromium while things change: its settings, the server's code, tasks, resources. */
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stopAll } from '../cli/_dev-process.ts'
import { violations } from './_axe.ts'
import { type Changed, changingServer } from './_changing-server.ts'
import { launchChromium, type Opened, openPlayground, VIEWS } from './_chromium.ts'
import { type DevProject, serveProject } from './_dev-project.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TIMEOUT_MS = 180_000

let browser: Browser
beforeAll(async () => {
  browser = await launchChromium()
})
afterAll(async () => {
  await browser?.close()
  await stopAll()
})

const work = (page: Page): Locator => page.getByRole('region', { name: 'Try it' })
const rail = (page: Page): Locator => page.getByRole('navigation', { name: 'What the server offers' })
const row = (page: Page, name: string): Locator =>
  rail(page)
    .getByRole('listitem')
    .filter({ has: page.getByRole('button', { name, exact: true }) })
const offer = (page: Page, name: string): Locator => row(page, name).getByRole('button')
const result = (page: Page): Locator => work(page).locator('.result')
const call = (page: Page, verb = 'Call'): Promise<void> =>
  work(page).locator('button[type=submit]').filter({ hasText: verb }).first().click()
const question = (page: Page, name = 'The server asks'): Locator => page.getByRole('form', { name })

interface Served extends DevProject {
  change(changed: Changed): void
}

async function serve(target: string): Promise<Served> {
  const served = await serveProject(target, (project) => {
    symlinkSync(join(ROOT, 'node_modules'), join(project.folder, 'node_modules'))
    project.write('server.ts', changingServer({}))
  })
  const change = (changed: Changed): void => served.project.write('server.ts', changingServer(changed))
  return { ...served, change }
}

const open = ({ origin }: Served, options: Parameters<Browser['newContext']>[0] = {}): Promise<Opened> =>
  openPlayground(browser, `${origin}/`, options)

describe('one server for all', { timeout: TIMEOUT_MS }, () => {
  let served: Served
  beforeAll(async () => {
    served = await serve('node')
  }, TIMEOUT_MS)
  afterAll(() => served?.[Symbol.asyncDispose]())

  test('hints are words, and a required choice is not made for the user', async () => {
    await using opened = await open(served)
    const { page } = opened
    await offer(page, 'order').click()
    const form = work(page)
    await form.getByLabel('stems').waitFor()
    const text = (await form.locator('label, legend, .hint').allTextContents()).join('; ')
    expect(text).toContain('whole number, 1 to 99, default 3')
    expect(text).toContain('an email address')
    expect(text).not.toMatch(/9007199254740991|\^|minimum|format/)
    const colour = form.getByLabel('colour')
    expect(await colour.inputValue()).toBe('')
    expect(await colour.locator('option').first().textContent()).toBe('Choose one')
  })

  test('values stay when the tool, the capabilities and the era change, also unfinished JSON', async () => {
    await using opened = await open(served)
    const { page, complaints } = opened
    await offer(page, 'order').click()
    const form = work(page)
    await form.getByLabel('customer').fill('Ada')
    await form.getByLabel('stems').fill('')
    await form.getByLabel('colour').selectOption('red')
    await form.getByRole('button', { name: 'Add to tags' }).click()
    await form.getByLabel('tags 1 required').fill('urgent')
    await form.getByLabel('extra').fill('{ "vase": ')
    const values = async (): Promise<string[]> => [
      await form.getByLabel('customer').inputValue(),
      await form.getByLabel('stems').inputValue(),
      await form.getByLabel('colour').inputValue(),
      await form.getByLabel('tags 1 required').inputValue(),
      await form.getByLabel('extra').inputValue(),
    ]
    const typed = await values()
    expect(typed).toEqual(['Ada', '', '0', 'urgent', '{ "vase": '])
    await offer(page, 'touch').click()
    await form.getByLabel('customer').waitFor({ state: 'detached' })
    await offer(page, 'order').click()
    expect(await values()).toEqual(typed)
    await setClient(page, 'roots', false)
    await reconnected(page)
    expect(await values()).toEqual(typed)
    await setEra(page, 'legacy')
    await reconnected(page)
    expect(await values()).toEqual(typed)
    expect(complaints).toEqual([])
  })

  test('answers to roots and sampling are there the next time', async () => {
    await using opened = await open(served)
    const { page } = opened
    for (const expected of ['file:///home/me/project', 'file:///garden']) {
      await offer(page, 'project').click()
      await call(page)
      const asked = question(page, 'The server asks for the roots')
      expect(await asked.getByLabel('Roots').inputValue()).toBe(expected)
      await asked.getByLabel('Roots').fill('file:///garden')
      await asked.getByRole('button', { name: 'Send answer' }).click()
      await result(page).getByText('file:///garden').first().waitFor()
    }
    for (const expected of ['', 'Knock, knock']) {
      await offer(page, 'joke').click()
      await call(page)
      const asked = question(page, 'The server asks the model of its client')
      expect(await asked.getByLabel('What the model says').inputValue()).toBe(expected)
      await asked.getByLabel('What the model says').fill('Knock, knock')
      await asked.getByRole('button', { name: 'Send answer' }).click()
      await result(page).getByText('Knock, knock').first().waitFor()
    }
  })

  test('a task is polled, asks with nothing chosen, and ends with its result', async () => {
    await using opened = await open(served)
    const { page, complaints } = opened
    await offer(page, 'refund').click()
    await call(page)
    const asked = question(page)
    await asked.getByText('Why <b>pay</b> back?').waitFor()
    expect(await result(page).locator('h3').textContent()).toBe('The task asks')
    expect(await result(page).textContent()).toContain('loaded (1/2)')
    expect(await result(page).locator('progress').getAttribute('value')).toBe('0.5')
    expect(await asked.getByLabel('reason').inputValue()).toBe('')
    expect(await asked.getByLabel('notify').inputValue()).toBe('')
    await asked.getByLabel('reason').selectOption('late')
    await asked.getByLabel('notify').selectOption('true')
    await asked.getByRole('button', { name: 'Send answer' }).click()
    await result(page).getByText('Paid 25 back: late').first().waitFor()
    expect(await question(page).count()).toBe(0)
    const polls = page.getByText('tasks/get')
    expect(await polls.count()).toBeGreaterThan(0)
    // Nothing is polled any more.
    const before = await polls.count()
    await page.waitForTimeout(600)
    expect(await polls.count()).toBe(before)
    expect(complaints).toEqual([])
  })

  test('a task is cancelled by its button, and a failed one says so', async () => {
    await using opened = await open(served)
    const { page } = opened
    await offer(page, 'endless').click()
    await call(page)
    await result(page).getByText('Task running').waitFor()
    await result(page).getByRole('button', { name: 'Cancel task' }).click()
    await result(page).getByText('the task was cancelled').waitFor()
    await offer(page, 'broken').click()
    await call(page)
    await result(page).getByText('The tool failed').waitFor()
    expect(await result(page).textContent()).toContain('the printer is on fire')
  })

  test('Cancel and Esc cancel the task, too; whoever leaves the tool does not', async () => {
    await using opened = await open(served)
    const { page } = opened
    const cancels = page.locator('#exchanges').getByText('tasks/cancel', { exact: true })
    const start = async (): Promise<void> => {
      await offer(page, 'endless').click()
      await call(page)
      await result(page).getByText('Task running').waitFor()
    }
    await start()
    await offer(page, 'order').click()
    await work(page).getByLabel('customer').waitFor()
    expect(await cancels.count()).toBe(0)
    await start()
    await work(page).getByRole('button', { name: 'Cancel', exact: true }).click()
    await expect.poll(() => cancels.count()).toBe(1)
    await start()
    await page.keyboard.press('Escape')
    await expect.poll(() => cancels.count()).toBe(2)
  })

  test('updates are shown beside their resource, while the user listens', async () => {
    await using opened = await open(served)
    const { page, complaints } = opened
    await rail(page).getByRole('button', { name: 'Listen for changes' }).click()
    await rail(page)
      .getByText(/^Listening: .*2 resources/)
      .waitFor()
    await offer(page, 'touch').click()
    await call(page)
    await row(page, 'news://today')
      .getByText(/updated \d\d:\d\d:\d\d/)
      .waitFor()
    await call(page)
    await row(page, 'news://today')
      .getByText(/updated 2 times/)
      .waitFor()
    expect(await row(page, 'news://yesterday').textContent()).not.toContain('updated')
    await rail(page).getByRole('button', { name: 'Stop listening' }).click()
    await rail(page)
      .getByText(/^Listening/)
      .waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
  })

  test.for(VIEWS)(
    '%s, %i px wide: axe finds nothing in a task, its question and updates',
    async ([colorScheme, width, height]) => {
      await using opened = await open(served, { colorScheme, viewport: { width, height }, bypassCSP: true })
      const { page } = opened
      await showPart(page, /^Tools/)
      await rail(page).getByRole('button', { name: 'Listen for changes' }).click()
      await rail(page)
        .getByText(/^Listening/)
        .waitFor()
      expect(await violations(page)).toEqual([])
      await offer(page, 'refund').click()
      await call(page)
      await question(page).waitFor()
      await screenshot(page, `task-${colorScheme}-${width}`)
      expect(await violations(page)).toEqual([])
      const { scrollWidth, clientWidth } = await page.evaluate(() => document.documentElement)
      expect(scrollWidth).toBe(clientWidth)
    },
  )
})

describe.for(['node', 'cloudflare'])('%s', { timeout: TIMEOUT_MS }, (target) => {
  test('a changed server is on the page within a second; values and results stay', async () => {
    await using served = await serve(target)
    await using opened = await open(served)
    const { page } = opened
    const form = work(page)
    await offer(page, 'touch').click()
    await call(page)
    await result(page).getByText('changed').first().waitFor()
    served.change({ more: ['added'] })
    const waited = await untilServed(served, 'added')
    await offer(page, 'added').waitFor()
    expect(Date.now() - waited).toBeLessThan(1000)
    // The tool that was not changed is as it was.
    expect(await result(page).textContent()).toContain('changed')
    await offer(page, 'order').click()
    await form.getByLabel('customer').fill('Ada')
    served.change({ more: ['added', 'another'], renamed: 'message' })
    await form.getByLabel('message').waitFor()
    expect(await form.getByLabel('customer').inputValue()).toBe('Ada')
    await offer(page, 'another').click()
    await call(page)
    await result(page).getByText('another answers').first().waitFor()
  })
})

/** When the server has the tool. */
async function untilServed({ origin }: Served, tool: string): Promise<number> {
  for (;;) {
    const response = await fetch(`${origin}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
        'x-request-id': 'mayfly-dev',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    })
    if ((await response.text()).includes(`"${tool}"`)) return Date.now()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function reconnected(page: Page): Promise<void> {
  await page.getByRole('status').getByText('Connected').waitFor()
}

async function setClient(page: Page, capability: string, isOn: boolean): Promise<void> {
  await page.getByText(/^Client: /).click()
  await page.locator(`#can-${capability}`).setChecked(isOn)
  await page.keyboard.press('Escape')
}

async function setEra(page: Page, era: 'modern' | 'legacy'): Promise<void> {
  const name = era === 'modern' ? '2026-07-28' : '2025-11-25'
  await page.getByRole('radio', { name, exact: true }).check()
}

/** In a narrow window, where one part is shown at a time. */
async function showPart(page: Page, name: RegExp): Promise<void> {
  const tab = page.locator('#tabs').getByRole('button', { name })
  if (await tab.isVisible()) await tab.click()
}

async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.PLAYGROUND_STATES
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}

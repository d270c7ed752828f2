/** The page of tasks in a real Chromium, on a server with tasks behind `mayfly dev` and `mayfly inspect`. */
import { fileURLToPath } from 'node:url'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startInspectServer } from '../../deploy/playground/inspect-server.ts'
import { testPort } from '../_port.ts'
import { MayflyProcess, stopAll } from '../cli/_dev-process.ts'
import { violations } from './_axe.ts'
import { launchChromium, openPage, VIEWS } from './_chromium.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SECRET = 'secret-of-the-tasks-of-no-value-outside'
const TIMEOUT_MS = 120_000

let browser: Browser
let origin: string
/** With the key. */
let printed: string
beforeAll(async () => {
  browser = await launchChromium()
  const port = String(await testPort())
  const args = ['dev', 'test/browser/_tasks-server.ts', '--target', 'node', '--port', port]
  const served = new MayflyProcess(args, ROOT, undefined, { MAYFLY_TASKS_SECRET: SECRET })
  await served.ready()
  origin = `http://127.0.0.1:${port}`
  const shown = await served.says(/^ {2}Tasks +http\S+$/m)
  printed = /^ {2}Tasks +(http\S+)$/m.exec(shown)![1]!
  expect(shown).not.toContain(SECRET)
}, TIMEOUT_MS)
afterAll(async () => {
  await browser?.close()
  await stopAll()
})

const rows = (page: Page): Locator => page.getByRole('region', { name: 'Tasks', exact: true }).locator('li')
const task = (page: Page): Locator => page.getByRole('region', { name: 'The task' })
const says = (page: Page, text: string | RegExp): Promise<void> =>
  page.getByRole('status').getByText(text).waitFor()

/** Calls a tool in the playground, and returns the page of tasks behind its link. */
async function callAndOpen(tool: string): Promise<{ page: Page; close: () => Promise<void> }> {
  const { page, context } = await openPage(browser, printed.replace('/__mayfly/tasks', '/'))
  await page.getByRole('navigation').getByRole('button', { name: tool, exact: true }).click()
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await page
    .locator('.result h3')
    .getByText(/^(Task running|The task asks|.*failed|No result)$/)
    .waitFor()
  const opening = context.waitForEvent('page')
  await page.getByRole('link', { name: 'The tasks of this server' }).click()
  const opened = await opening
  // Before its script has run, a click on "Show tasks" does nothing.
  await says(opened, /^\d+ tasks?$/)
  return { page: opened, close: () => context.close() }
}

test('a task is found by its filters; its journal, arguments and wait are shown; it is cancelled', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { page, close } = await callAndOpen('report')
  expect(page.url()).toBe(`${origin}/__mayfly/tasks`)
  await page.getByLabel('Tool').fill('report')
  await page.getByLabel('Status').selectOption('working')
  await page.getByLabel('Created').selectOption('in the last hour')
  await says(page, /^1 task$/)
  await expect
    .poll(async () => {
      await rows(page).first().getByRole('button').click()
      await says(page, 'The task is shown')
      return task(page).textContent()
    })
    .toContain('Waits forapproved')
  const step = task(page).locator('.journal > li').filter({ hasText: 'load rows' })
  await step.locator('summary').click()
  expect(await step.getByLabel('Value').textContent()).toContain('<b>July</b>')
  await task(page).getByText('Arguments', { exact: true }).click()
  expect(await task(page).getByLabel('Arguments').textContent()).toContain('2026')
  await task(page).getByRole('button', { name: 'Cancel' }).click()
  await task(page).getByRole('button', { name: 'Yes' }).click()
  await says(page, 'Cancelled')
  await task(page).locator('mark').getByText('cancelled').waitFor()
  expect(
    await task(page)
      .getByRole('button', { name: /Retry|Cancel/ })
      .count(),
  ).toBe(0)
  await close()
})

test('the playground shows the steps of its call while the task runs, and cancels it', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using opened = await openPage(browser, printed.replace('/__mayfly/tasks', '/'))
  const { page, complaints } = opened
  await page.getByRole('navigation').getByRole('button', { name: 'report', exact: true }).click()
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  const steps = page.locator('.result').getByRole('list', { name: 'Steps' }).getByRole('listitem')
  await steps.filter({ hasText: 'load rows' }).getByRole('img', { name: 'done' }).waitFor()
  const wait = steps.filter({ hasText: 'approved' })
  await wait.getByRole('img', { name: 'now' }).waitFor()
  expect(await wait.textContent()).toMatch(/waits, ends in (?:60 minutes|1 hour)/)
  await page.locator('.result').getByRole('button', { name: 'Cancel task' }).click()
  await page.locator('.result').getByText('the task was cancelled').waitFor()
  expect(complaints).toEqual([])
})

test('a failed task is tried again as a new one, which keeps the stored steps', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { page, close } = await callAndOpen('broken')
  await expect
    .poll(async () => {
      await page.getByLabel('Tool').fill('broken')
      await page.getByLabel('Status').selectOption('working')
      await page.getByLabel('Status').selectOption('failed')
      await says(page, /^\d+ tasks?$/)
      return rows(page).count()
    })
    .toBe(1)
  await rows(page).first().getByRole('button').click()
  await task(page).getByLabel('The error').getByText('the printer is on fire').waitFor()
  await task(page).getByRole('button', { name: 'Retry' }).click()
  await task(page).getByRole('button', { name: 'Yes' }).click()
  await says(page, 'Tried again')
  await task(page).getByText('Tried again from').waitFor()
  await expect
    .poll(async () => {
      await task(page).getByRole('button', { name: 'Refresh' }).click()
      await says(page, 'The task is shown')
      return task(page).locator('mark').first().textContent()
    })
    .toBe('completed')
  await task(page).getByText('Result', { exact: true }).click()
  expect(await task(page).getByLabel('Result').textContent()).toContain('printed after')
  await close()
})

test('a question and the error of a step are shown as text', { timeout: TIMEOUT_MS }, async () => {
  const { page, close } = await callAndOpen('asks')
  await page.getByLabel('Tool').fill('asks')
  await expect
    .poll(async () => {
      await page.getByRole('button', { name: 'Show tasks' }).click()
      await says(page, /^1 task$/)
      return rows(page).first().textContent()
    })
    .toContain('1 question')
  await rows(page).first().getByRole('button').click()
  await task(page).locator('mark').getByText('input_required').waitFor()
  const step = task(page).locator('.journal > li').filter({ hasText: 'look up' })
  expect(await step.locator('.bad').textContent()).toBe('<i>nothing</i> is found')
  await step.locator('summary').click()
  expect(await step.getByLabel('Error').textContent()).toContain('RangeError')
  await task(page).getByText('elicitation/create').click()
  expect(await task(page).getByLabel('Question').textContent()).toContain('Which <u>row</u>?')
  await close()
})

test('opened without the printed key, the page needs the secret, and then works', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using opened = await openPage(browser, `${origin}/__mayfly/tasks`)
  const { page, complaints } = opened
  await says(page, 'Type the secret')
  await page.getByRole('button', { name: 'Show tasks' }).click()
  await says(page, '401')
  await page.getByLabel('Secret of createTaskAdmin').fill(SECRET)
  await page.keyboard.press('Enter')
  await says(page, /^\d+ tasks?$/)
  expect(complaints).toEqual([])
})

test('mayfly inspect shows the tasks of any server, with the typed secret', {
  timeout: TIMEOUT_MS,
}, async () => {
  const server = new URL(`${origin}/mcp`)
  const inspecting = await startInspectServer({ server, headers: {}, token: 'the-token', port: 0 })
  await using opened = await openPage(browser, inspecting.url.replace('#', 'tasks#'))
  const { page, complaints } = opened
  // Before its script has run, Enter leaves the page.
  await says(page, 'Type the secret')
  await page.getByLabel('Secret of createTaskAdmin').fill(SECRET)
  await page.keyboard.press('Enter')
  await says(page, /^\d+ tasks?$/)
  await page.getByLabel('Task ID').fill('unknown')
  await page.keyboard.press('Enter')
  await says(page, '404')
  expect(complaints).toEqual([])
  await inspecting.close()
})

test.for(VIEWS)(
  '%s, %i px wide: axe finds nothing, and nothing overflows sideways',
  { timeout: TIMEOUT_MS },
  async ([colorScheme, width, height]) => {
    const options = { colorScheme, viewport: { width, height }, bypassCSP: true }
    await using opened = await openPage(browser, printed, options)
    const { page } = opened
    await rows(page).first().getByRole('button').click()
    await says(page, 'The task is shown')
    for (const summary of await task(page).locator('summary').all()) await summary.click()
    expect(await violations(page)).toEqual([])
    const { scrollWidth, clientWidth } = await page.evaluate(() => document.documentElement)
    expect(scrollWidth).toBe(clientWidth)
  },
)

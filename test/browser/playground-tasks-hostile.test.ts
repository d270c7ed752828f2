/** The page of tasks in Chromium, on an endpoint that attacks it: nothing runs, nothing hangs, and the secret stays in the page. */
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startInspectServer } from '../../deploy/playground/inspect-server.ts'
import { launchChromium, type Opened, openPage } from './_chromium.ts'
import { type HostileTasks, SECRET, startHostileTasks } from './_hostile-tasks.ts'

const TIMEOUT_MS = 120_000

let browser: Browser
let hostile: HostileTasks
let inspecting: Awaited<ReturnType<typeof startInspectServer>>
beforeAll(async () => {
  browser = await launchChromium()
  hostile = await startHostileTasks()
  const server = new URL(hostile.url)
  inspecting = await startInspectServer({ server, headers: {}, token: 'the-token', port: 0 })
})
afterAll(async () => {
  await browser?.close()
  await inspecting?.close()
  await hostile?.[Symbol.asyncDispose]()
})

const rows = (page: Page): Locator => page.getByRole('region', { name: 'Tasks', exact: true }).locator('li')
const task = (page: Page): Locator => page.getByRole('region', { name: 'The task' })
const status = (page: Page): Locator => page.getByRole('status')

async function open(tool: string): Promise<Opened> {
  const opened = await openPage(browser, inspecting.url.replace('#', 'tasks#'))
  const { page } = opened
  await page.getByLabel('Secret of createTaskAdmin').fill(SECRET)
  await page.getByLabel('Tool').fill(tool)
  await page.getByRole('button', { name: 'Show tasks' }).click()
  return opened
}

async function openById(page: Page, id: string): Promise<void> {
  await page.getByLabel('Task ID').fill(id)
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await status(page)
    .getByText(/^(The task is shown|\d+:|http)/)
    .waitFor()
}

async function expectUnharmed(page: Page): Promise<void> {
  const found = await page.evaluate(() => ({
    hacked: (window as Window & { hacked?: unknown }).hacked,
    foreign: document.querySelectorAll(
      'iframe,svg,base,object,embed,img,a[target],body script,style,[onload]',
    ).length,
    cookies: document.cookie,
    path: location.href.replace(location.origin, ''),
  }))
  expect(found).toEqual({ hacked: undefined, foreign: 0, cookies: '', path: '/__mayfly/tasks' })
}

test('no value of a task becomes markup, a link or a request', { timeout: TIMEOUT_MS }, async () => {
  await using opened = await open('marked')
  const { page, complaints } = opened
  await status(page).getByText('and more to read').waitFor()
  expect(await rows(page).count()).toBe(8)
  await rows(page).first().getByRole('button').click()
  for (const id of ['marked', 'nothing', 'deep']) {
    await openById(page, id)
    for (const summary of await task(page).locator('summary').all()) await summary.click()
    await expectUnharmed(page)
  }
  for (const id of ['list', 'markup', 'large']) {
    await openById(page, id)
    await task(page).getByRole('heading', { name: 'No task' }).waitFor()
    await expectUnharmed(page)
  }
  await page.getByLabel('Path').fill('/other')
  await page.getByRole('button', { name: 'Show tasks' }).click()
  await status(page).getByText('this is not a task endpoint').waitFor()
  await page.getByLabel('Path').fill('//evil.example/tasks')
  await page.getByRole('button', { name: 'Show tasks' }).click()
  await status(page).getByText('not a path of the server').waitFor()
  expect(complaints.filter((text) => !/502/.test(text))).toEqual([])
})

test('long lists and journals of megabytes stay usable', { timeout: TIMEOUT_MS }, async () => {
  await using opened = await open('many')
  const { page } = opened
  await status(page).getByText('1000 tasks: filter for others').waitFor()
  expect(await rows(page).count()).toBe(1000)
  await openById(page, 'long')
  const entries = task(page).locator('.journal > li')
  expect(await entries.count()).toBe(200)
  expect(await entries.last().textContent()).toContain('8999')
  await task(page).getByRole('button', { name: '8800 earlier' }).click()
  await task(page).getByRole('button', { name: '8600 earlier' }).waitFor()
  await entries.last().locator('summary').click()
  expect(await entries.last().locator('pre').textContent()).toContain('__proto__')
  await task(page).getByText('All of it').click()
  await task(page).getByText('the rest is not shown').waitFor()
  await openById(page, 'endless')
  for (let turn = 0; turn < 30; turn++) {
    const earlier = task(page).getByRole('button', { name: /earlier/ })
    if (!(await earlier.isVisible())) break
    await earlier.click()
  }
  expect(await entries.count()).toBe(5000)
  const nodes = await page.evaluate(() => document.querySelectorAll('*').length)
  expect(nodes).toBeLessThan(50_000)
  await expectUnharmed(page)
})

test('pages without tasks and without an end are read ten at a time', { timeout: TIMEOUT_MS }, async () => {
  await using opened = await open('empty')
  const { page } = opened
  await status(page).getByText('0 tasks, and more to read').waitFor()
  expect(hostile.asked.filter((line) => line.includes('tool=empty')).length).toBe(10)
  await page.getByRole('button', { name: 'More' }).click()
  await expect.poll(() => hostile.asked.filter((line) => line.includes('tool=empty')).length).toBe(20)
  await page.getByLabel('Tool').fill('nonsense')
  await page.getByRole('button', { name: 'Show tasks' }).click()
  await status(page).getByText('this is not a task endpoint').waitFor()
})

test('the secret is in no URL, storage, cookie or markup, and is gone after a reload', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using opened = await open('marked')
  const { page, context } = opened
  await rows(page).first().waitFor()
  await openById(page, 'long')
  const kept = await page.evaluate(async () =>
    JSON.stringify([
      { ...localStorage },
      { ...sessionStorage },
      document.cookie,
      document.documentElement.outerHTML,
      history.state,
      location.href,
      performance.getEntries().map(({ name }) => name),
      await indexedDB.databases(),
      await caches.keys(),
    ]),
  )
  expect(kept).not.toContain(SECRET)
  expect(JSON.stringify(await context.storageState())).not.toContain(SECRET)
  expect(hostile.asked.join()).not.toContain(SECRET)
  await page.reload()
  expect(await page.getByLabel('Secret of createTaskAdmin').inputValue()).toBe('')
  await page.getByRole('button', { name: 'Show tasks' }).click()
  await status(page).getByText('401').waitFor()
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('secret')
  await expectUnharmed(page)
})

test('retry opens the new task; a refused cancel says why; both ask first', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using opened = await open('marked')
  const { page } = opened
  await openById(page, 'endless')
  hostile.asked.length = 0
  await task(page).getByRole('button', { name: 'Cancel' }).click()
  await task(page).getByRole('button', { name: 'No' }).click()
  await task(page).getByRole('button', { name: 'Retry' }).click()
  expect(hostile.asked).toEqual([])
  await task(page).getByRole('button', { name: 'Yes' }).click()
  await status(page).getByText('Tried again').waitFor()
  await task(page).getByRole('heading', { name: 'long', exact: true }).waitFor()
  await task(page).getByRole('button', { name: 'Cancel' }).click()
  await task(page).getByRole('button', { name: 'Yes' }).click()
  await status(page).getByText('409').waitFor()
  expect(hostile.asked.filter((line) => line.startsWith('POST'))).toEqual([
    'POST /tasks?retry=endless',
    'POST /tasks?cancel=long',
  ])
  await expectUnharmed(page)
})

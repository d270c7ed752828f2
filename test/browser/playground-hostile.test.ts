/** The playground in Chromium, on a server that attacks it: nothing runs, nothing hangs, nobody else is asked. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startInspectServer } from '../../deploy/playground/inspect-server.ts'
import { launchChromium, openPage } from './_chromium.ts'
import { type HostileServer, startHostileServer } from './_hostile-mcp.ts'

const TIMEOUT_MS = 120_000

let browser: Browser
let hostile: HostileServer
let inspecting: Awaited<ReturnType<typeof startInspectServer>>
beforeAll(async () => {
  browser = await launchChromium()
  hostile = await startHostileServer()
  inspecting = await startInspectServer({
    server: new URL(hostile.url),
    headers: {},
    token: 'the-token',
    port: 0,
  })
})
afterAll(async () => {
  await browser?.close()
  await inspecting?.close()
  await hostile?.[Symbol.asyncDispose]()
})

/** Fails where a script of the server ran, or put an element of its own into the page. */
async function expectUnharmed(page: Page): Promise<void> {
  const found = await page.evaluate(() => ({
    hacked: (window as Window & { hacked?: unknown }).hacked,
    foreign: document.querySelectorAll(
      'iframe,svg:not(header > svg),base,object,embed,body script,style,[onload],[onerror]',
    ).length,
    links: [...document.querySelectorAll('a')]
      .map((link) => link.protocol)
      .filter((one) => !/^https?:$/.test(one)),
    cookies: document.cookie,
    path: location.pathname,
  }))
  expect(found).toEqual({ hacked: undefined, foreign: 0, links: [], cookies: '', path: '/__mayfly/' })
}

test('names, schemas, icons, results and headers run no script, and no schema hangs the page', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using opened = await openPage(browser, inspecting.url)
  const { page, complaints } = opened
  await page.getByRole('status').getByText('Connected').waitFor()
  const offers = page.getByRole('navigation').getByRole('button')
  const count = await offers.count()
  expect(count).toBeGreaterThan(15)
  expect(count).toBeLessThan(60)
  await expectUnharmed(page)
  for (let index = 0; index < count; index++) {
    await offers.nth(index).click()
    const name = (await offers.nth(index).textContent()) ?? ''
    const isEndless = ['loops', 'floods', 'asking', 'polled', 'Listen for changes'].includes(name)
    if (isEndless) continue
    for (const view of ['Definition', 'Form']) await page.getByRole('tab', { name: view }).click()
    await page.locator('#work button[type=submit]').click()
    await page
      .locator('.result h3')
      .getByText(/^(Result|The call failed)$/)
      .first()
      .waitFor()
    // A link of the server, whatever it is, is only sent to the server.
    for (const read of await page.locator('.result').getByRole('button', { name: 'Read ' }).all())
      await read.click()
    for (const summary of await page.locator('.result summary').all()) await summary.click()
    await expectUnharmed(page)
  }
  for (const summary of await page.locator('#exchanges summary').all()) await summary.click()
  await page.getByText('About', { exact: true }).click()
  await expectUnharmed(page)
  expect(complaints).toEqual([])
  expect(new Set(hostile.asked)).toEqual(new Set(['/mcp']))
})

test('a form of 20 000 fields and one without an end are edited as JSON or end at a depth', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using opened = await openPage(browser, inspecting.url)
  const { page } = opened
  const fields = page.locator('#work').locator('input,textarea,select')
  for (const name of ['huge', 'recursive', 'wide', 'deep', 'choices', 'circular']) {
    await page.getByRole('navigation').getByRole('button', { name, exact: true }).click()
    expect(await fields.count(), name).toBeGreaterThan(0)
    expect(await fields.count(), name).toBeLessThan(1000)
  }
})

test('500 questions at once, with markup in each, are limited and run nothing', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using opened = await openPage(browser, inspecting.url)
  const { page, complaints } = opened
  await page.getByRole('navigation').getByRole('button', { name: 'loops', exact: true }).click()
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await page.locator('.result').getByText('questions are open already').waitFor()
  expect(await page.locator('form.question').count()).toBeLessThanOrEqual(20)
  await expectUnharmed(page)
  expect(complaints).toEqual([])
})

test('events without an end are cut off, and the page still works', { timeout: TIMEOUT_MS }, async () => {
  await using opened = await openPage(browser, inspecting.url)
  const { page } = opened
  await page.getByRole('navigation').getByRole('button', { name: 'floods', exact: true }).click()
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await page.locator('.result').getByText('exceeds the limits of this page').waitFor()
  await page.locator('.result').getByText('What it reported, the last 200 of').click()
  expect(await page.locator('.result .log li').count()).toBe(200)
  await page.getByRole('navigation').getByRole('button', { name: 'slow', exact: true }).click()
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await page.locator('.result h3').getByText('Result').waitFor()
  // What was called is in a menu, with its arguments.
  await page.locator('#saved summary').click()
  await page
    .locator('#saved')
    .getByRole('button', { name: /^Call again: floods/ })
    .waitFor()
  await expectUnharmed(page)
})

test('a task that wants to be polled at once is polled at the pace of the page, until the user leaves it', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using opened = await openPage(browser, inspecting.url)
  const { page, complaints } = opened
  const before = hostile.methods.length
  const polls = (): number => hostile.methods.slice(before).filter((method) => method === 'tasks/get').length
  await page.getByRole('navigation').getByRole('button', { name: 'polled', exact: true }).click()
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await page.locator('.result').getByText('Task running').waitFor()
  await page.waitForTimeout(1000)
  expect(polls()).toBeGreaterThan(0)
  expect(polls()).toBeLessThan(8)
  await expectUnharmed(page)
  await page.getByRole('navigation').getByRole('button', { name: 'nothing', exact: true }).click()
  const left = polls()
  await page.waitForTimeout(1000)
  expect(polls()).toBeLessThanOrEqual(left + 1)
  expect(complaints).toEqual([])
})

test('500 questions of a task are limited, and none is left behind', { timeout: TIMEOUT_MS }, async () => {
  await using opened = await openPage(browser, inspecting.url)
  const { page, complaints } = opened
  await page.getByRole('navigation').getByRole('button', { name: 'asking', exact: true }).click()
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await page.locator('.result').getByText('questions are open already').waitFor()
  expect(await page.locator('form.question').count()).toBe(0)
  await expectUnharmed(page)
  expect(complaints).toEqual([])
})

test('changes without an end are heard a few times a second, and no longer after some streams', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using opened = await openPage(browser, inspecting.url)
  const { page, complaints } = opened
  await page.getByRole('status').getByText('Connected').waitFor()
  const before = hostile.methods.length
  const started = Date.now()
  const count = (wanted: string): number =>
    hostile.methods.slice(before).filter((method) => method === wanted).length
  await page.getByRole('button', { name: 'Listen for changes' }).click()
  await page.getByRole('button', { name: 'Stop listening' }).waitFor()
  await page.getByRole('button', { name: 'Listen for changes' }).waitFor({ timeout: 60_000 })
  const seconds = (Date.now() - started) / 1000
  expect(count('subscriptions/listen')).toBe(4)
  expect(count('tools/list')).toBeGreaterThan(0)
  expect(count('tools/list')).toBeLessThan(seconds + 2)
  await expectUnharmed(page)
  expect(complaints).toEqual([])
})

test('another page of the browser cannot use the address, with or without the token', {
  timeout: TIMEOUT_MS,
}, async () => {
  const asked = hostile.asked.length
  const { origin } = new URL(inspecting.url)
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(hostile.url)
  const seen = await page.evaluate(async (at) => {
    const init = { method: 'POST', body: '{}' }
    const withToken = {
      ...init,
      headers: { 'x-mayfly-token': 'the-token', 'content-type': 'application/json' },
    }
    const settle = (promise: Promise<Response>): Promise<string> =>
      promise.then(
        async (response) => `${response.type} ${await response.text()}`,
        () => 'refused',
      )
    return [
      await settle(fetch(`${at}/__mayfly/mcp`, withToken)),
      await settle(fetch(`${at}/__mayfly/mcp`, { ...init, mode: 'no-cors' })),
      await settle(fetch(`${at}/__mayfly/`)),
    ]
  }, origin)
  expect(seen).toEqual(['refused', 'opaque ', 'refused'])
  // Only the page itself, and its icon.
  expect(hostile.asked.slice(asked).filter((path) => path !== '/favicon.ico')).toEqual(['/mcp'])
  await context.close()
})

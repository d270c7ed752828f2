/** The events of a server in the playground, in Chromium: poll them, and receive them by a webhook of the local process. */
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { serve } from '../../adapters/node.ts'
import { startInspectServer } from '../../deploy/playground/inspect-server.ts'
import { staticTokens } from '../../src/auth.ts'
import { MCPServer } from '../../src/index.ts'
import { createEvent, createMemoryEvents, events } from '../../src/mcp-events.ts'
import { violations } from './_axe.ts'
import { launchChromium, type Opened, openPlayground, VIEWS } from './_chromium.ts'

const TIMEOUT_MS = 60_000
const TOKEN = 'a-token-of-thirty-two-characters'

const created = createEvent({
  id: 'note.created',
  description: 'A new note',
  inputSchema: z.object({ tag: z.string().optional() }),
  payloadSchema: z.object({ text: z.string(), tag: z.string().optional() }),
  index: ['tag'],
})
const server = new MCPServer({
  name: 'Notes',
  version: '1.0.0',
  auth: staticTokens([{ token: TOKEN }]),
  events: events({ types: { created }, store: createMemoryEvents(), allowLoopback: true }),
})

let browser: Browser
let served: Awaited<ReturnType<typeof serve>>
let inspecting: Awaited<ReturnType<typeof startInspectServer>>
beforeAll(async () => {
  browser = await launchChromium()
  served = await serve(server, { port: 0 })
  inspecting = await startInspectServer({
    server: new URL(served.url),
    headers: { authorization: `Bearer ${TOKEN}` },
    token: 'the-token',
    port: 0,
  })
})
afterAll(async () => {
  await browser?.close()
  await inspecting?.close()
  await served?.close()
})

const open = (options: Parameters<Browser['newContext']>[0] = {}): Promise<Opened> =>
  openPlayground(browser, inspecting.url, options)
const work = (page: Page): Locator => page.locator('#work')
const press = (page: Page, name: string): Promise<void> =>
  work(page).getByRole('button', { name, exact: true }).click()
const entries = (page: Page): Locator => work(page).locator('.deliveries > li')
const emit = (text: string, tag?: string): Promise<unknown> =>
  server.events.emit('note.created', { text, ...(tag !== undefined && { tag }) })

async function subscribe(page: Page, tag: string): Promise<void> {
  await work(page).getByRole('heading', { name: 'note.created' }).waitFor()
  await work(page).getByLabel('tag').fill(tag)
  await press(page, 'Subscribe')
  await work(page).getByText('Subscribed with').waitFor()
  await entries(page).locator('strong').getByText('verification').waitFor()
}

async function unsubscribe(page: Page): Promise<void> {
  await press(page, 'Unsubscribe')
  await work(page).getByText('No longer subscribed.').waitFor()
}

const hide = (page: Page, isHidden: boolean): Promise<void> =>
  page.evaluate((hidden) => {
    Object.defineProperty(document, 'hidden', { get: () => hidden, configurable: true })
  }, isHidden)

/** Asks for receivers as another page does. */
const askReceivers = async (page: Page, request: object): Promise<{ readonly id: string }> => {
  const body = await page.evaluate(async (text) => {
    const headers = { 'content-type': 'application/json', 'x-mayfly-token': 'the-token' }
    const response = await fetch('/__mayfly/receivers', { method: 'POST', headers, body: text })
    return (await response.json()).body
  }, JSON.stringify(request))
  return JSON.parse(body)
}

/** As many receivers as there may be are opened when the page has been hidden for 31 seconds. */
async function crowdOut(page: Page): Promise<AsyncDisposable & { free(): Promise<void> }> {
  const now = Date.now.bind(Date)
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + 31_000)
  const ids: string[] = []
  for (let count = 0; count < 16; count++) ids.push((await askReceivers(page, {})).id)
  clock.mockRestore()
  const free = async (): Promise<void> => {
    for (const id of ids.splice(0)) await askReceivers(page, { id, close: true })
  }
  return { free, [Symbol.asyncDispose]: free }
}

/** What the page asks of its receivers and of its subscriptions. */
function count(page: Page, what: '/__mayfly/receivers' | '"events/subscribe"'): () => number {
  let asked = 0
  page.on('request', (request) => {
    if (request.url().includes(what) || request.postData()?.includes(what)) asked++
  })
  return () => asked
}

describe('events', { timeout: TIMEOUT_MS }, () => {
  test('a subscription: its verification, its events, a failure with its retry, and its end', async () => {
    await using opened = await open()
    const { page, complaints } = opened
    await subscribe(page, 'work')
    await emit('<b>first</b>', 'work')
    await emit('for others', 'home')
    const first = entries(page).filter({ hasText: 'note.created' })
    await first.waitFor()
    expect(await first.textContent()).toContain('answered 200')
    await first.locator('summary').click()
    expect(await first.locator('pre').textContent()).toContain('"text": "<b>first</b>"')
    await work(page).getByLabel('Fail: 500').check()
    await emit('second', 'work')
    await entries(page).locator('summary').getByText('answered 500').first().waitFor()
    await work(page).getByLabel('Accept: 200').check()
    const again = entries(page).filter({ hasText: 'try 2' }).filter({ hasText: 'answered 200' })
    await again.waitFor()
    expect(await again.textContent()).toContain('note.created')
    await unsubscribe(page)
    const count = await entries(page).count()
    await emit('after the end', 'work')
    await press(page, 'Poll')
    await expect.poll(() => work(page).locator('.result').textContent()).toContain('nextPollMs')
    expect(await entries(page).count()).toBe(count)
    expect(complaints).toEqual([])
  })

  test('410 ends a subscription, and the page says so', async () => {
    await using opened = await open()
    const { page } = opened
    await subscribe(page, 'gone')
    await work(page).getByLabel('Gone: 410').check()
    await emit('refused', 'gone')
    await work(page).getByText('The answer 410 has ended the subscription.').waitFor()
    await work(page).getByRole('button', { name: 'Subscribe', exact: true }).waitFor()
  })

  test('a subscription that the server no longer refreshes is asked for again with pauses', async () => {
    await using opened = await open()
    const { page } = opened
    let asked = 0
    await page.route('**/__mayfly/mcp', (route) => {
      if (!route.request().postData()?.includes('"events/subscribe"')) return route.continue()
      return asked++ === 0 ? route.continue() : route.abort()
    })
    await subscribe(page, 'refused')
    await page.clock.install()
    // The next look of the page, whose timer is the real one.
    await page.waitForTimeout(1500)
    await page.clock.fastForward(3_600_000)
    await expect.poll(() => asked).toBe(2)
    for (let second = 0; second < 8; second++) {
      await page.clock.runFor(1000)
      await page.waitForTimeout(20)
    }
    expect(asked).toBe(2)
  })

  test('a webhook that is closed while its page is hidden is made again, once', async () => {
    await using opened = await open()
    const { page, complaints } = opened
    const subscribed = count(page, '"events/subscribe"')
    await subscribe(page, 'hidden')
    await hide(page, true)
    await using crowd = await crowdOut(page)
    await crowd.free()
    await hide(page, false)
    await expect.poll(() => entries(page).locator('strong').getByText('verification').count()).toBe(2)
    await emit('seen after all', 'hidden')
    await entries(page).filter({ hasText: 'note.created' }).getByText('answered 200').waitFor()
    await page.waitForTimeout(2500)
    expect(subscribed()).toBe(2)
    expect(await work(page).locator('.received [role=alert]').textContent()).toBe('')
    await unsubscribe(page)
    expect(complaints).toEqual([])
  })

  test('if it cannot be made again, the page says so once and asks no more', async () => {
    await using opened = await open()
    const { page } = opened
    await subscribe(page, 'crowded')
    await hide(page, true)
    await using _crowd = await crowdOut(page)
    await hide(page, false)
    await work(page).getByText('subscribe again').waitFor()
    await work(page).locator('.received [role=alert]').getByText('too many pages receive events').waitFor()
    await work(page).getByRole('button', { name: 'Subscribe', exact: true }).waitFor()
    const asked = count(page, '/__mayfly/receivers')
    await page.waitForTimeout(2500)
    expect(asked()).toBe(0)
  })

  test('a poll continues where the last one ended', async () => {
    await using opened = await open()
    const { page } = opened
    const result = work(page).locator('.result')
    await work(page).getByLabel('tag').fill('polled')
    await press(page, 'Poll')
    await expect.poll(() => work(page).getByLabel('Cursor').inputValue()).not.toBe('')
    await emit('polled once', 'polled')
    await press(page, 'Poll')
    await expect.poll(() => result.textContent()).toContain('polled once')
    await press(page, 'Poll')
    await expect.poll(() => result.textContent()).not.toContain('polled once')
  })

  test('what is refused is said', async () => {
    await using opened = await open()
    const { page } = opened
    await work(page).getByRole('tab', { name: 'JSON' }).click()
    await work(page).getByLabel('Arguments as JSON').fill('{"tag":1}')
    await press(page, 'Subscribe')
    await work(page).locator('.received [role=alert]').getByText('tag').waitFor()
    await work(page).getByRole('button', { name: 'Subscribe', exact: true }).waitFor()
  })

  test.each(VIEWS)(
    '%s, %i px: nothing scrolls sideways, and axe finds nothing',
    async (colorScheme, width, height) => {
      await using opened = await open({ colorScheme, viewport: { width, height } })
      const { page, complaints } = opened
      if (width < 720) await page.locator('[data-go=rail]').click()
      await page.locator('#rail').getByRole('button', { name: 'note.created', exact: true }).click()
      await subscribe(page, `view ${width}`)
      await emit('seen', `view ${width}`)
      await entries(page).locator('summary').getByText('answered 200').nth(1).waitFor()
      await entries(page).first().locator('summary').click()
      expect(await violations(page)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
      if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/events-${width}.png` })
      await unsubscribe(page)
      expect(complaints).toEqual([])
    },
  )
})

/** A tool fails in `mayfly dev`: in Chromium, the page says why and where, without a look at the terminal. */
import { mkdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testPort } from '../_port.ts'
import { stopAll } from '../cli/_dev-process.ts'
import { violations } from './_axe.ts'
import { launchChromium, type Opened, openPlayground, VIEWS } from './_chromium.ts'
import { type DevProject, serveProject } from './_dev-project.ts'
import { faultyServer, PRICES } from './_faulty-server.ts'

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

interface Served extends DevProject {
  readonly closed: number
  save(file: string, text: string): void
}

async function serve(target: string): Promise<Served> {
  const closed = await testPort()
  const served = await serveProject(target, (project) => {
    // A folder of its own, as a user has: the build is below it, and source maps are read from where it is.
    mkdirSync(join(project.folder, 'node_modules'))
    symlinkSync(join(ROOT, 'node_modules/zod'), join(project.folder, 'node_modules/zod'))
    project.write('prices.ts', PRICES)
    project.write('server.ts', faultyServer(closed))
  })
  const { project } = served
  // At once: an empty file would be seen, too.
  const save = (file: string, text: string): void => {
    project.write(`${file}.new`, text)
    renameSync(join(project.folder, `${file}.new`), join(project.folder, file))
  }
  return { ...served, closed, save }
}

const open = ({ origin }: Served, options: Parameters<Browser['newContext']>[0] = {}): Promise<Opened> =>
  openPlayground(browser, `${origin}/`, options)

const work = (page: Page): Locator => page.getByRole('region', { name: 'Try it' })
const result = (page: Page): Locator => work(page).locator('.result')
const refused = (page: Page): Locator => page.getByRole('alert').filter({ hasText: 'does not run' })

async function call(page: Page, tool: string): Promise<void> {
  const tab = page.locator('#tabs').getByRole('button', { name: /^Tools/ })
  if (await tab.isVisible()) await tab.click()
  const rail = page.getByRole('navigation', { name: 'What the server offers' })
  await rail.getByRole('button', { name: tool, exact: true }).click()
  await work(page).locator('button[type=submit]').first().click()
}

describe.for(['node', 'cloudflare'])('%s', { timeout: TIMEOUT_MS }, (target) => {
  let served: Served
  beforeAll(async () => {
    served = await serve(target)
  }, TIMEOUT_MS)
  afterAll(() => served?.[Symbol.asyncDispose]())

  test('an error in a helper: its place, the line, and the calls that led there', async () => {
    await using opened = await open(served)
    const { page, complaints } = opened
    await call(page, 'helper')
    await result(page).getByText('Thrown at prices.ts:3:26').waitFor()
    const text = (await result(page).textContent())!
    expect(text).toContain("3 |   if (amount < 10) throw new RangeError('amount <b>below</b> the minimum')")
    expect(text).toContain('price (prices.ts:7:18)')
    // Also in the whole result.
    expect(text.match(/below<\/b> the minimum/g)).toHaveLength(3)
    expect(complaints).toEqual([])
  })

  test('a variable that is not set: the line that needs it', async () => {
    await using opened = await open(served)
    const { page } = opened
    await call(page, 'variable')
    await result(page)
      .getByText(/ctx\.env\.SHOP_REGION\.toUpperCase\(\)\n/)
      .waitFor()
  })

  test('a change that is not built is on the page, with its line, until one is', async () => {
    await using opened = await open(served)
    const { page } = opened
    await call(page, 'helper')
    await result(page).getByText('Thrown at').waitFor()
    served.save('prices.ts', `${PRICES}const rate = ;\n`)
    await refused(page)
      .getByText(/^prices\.ts:9:14: Unexpected ";"\n +9 \| const rate = ;\n/)
      .waitFor()
    served.save('prices.ts', PRICES)
    await refused(page).waitFor({ state: 'detached' })
    await result(page).getByText('The code has changed since this call.').waitFor()
  })

  test.for([
    ['result', /"result" returned a value that does not match its outputSchema: price/],
    ['refusing', /Invalid arguments for tool refusing: day/],
  ] as const)('%s: the message says it, once', async ([tool, message]) => {
    await using opened = await open(served)
    const { page } = opened
    const logged = page.waitForResponse(/__mayfly\/errors$/)
    await call(page, tool)
    await (await logged).finished()
    await expect.poll(() => result(page).locator('pre').first().textContent()).toMatch(message)
    expect(await result(page).locator('h4').count()).toBe(0)
  })
})

describe('node', { timeout: TIMEOUT_MS }, () => {
  let served: Served
  beforeAll(async () => {
    served = await serve('node')
  }, TIMEOUT_MS)
  afterAll(() => served?.[Symbol.asyncDispose]())

  test('a service that is not there: its address', async () => {
    await using opened = await open(served)
    const { page } = opened
    await call(page, 'database')
    await result(page).getByText(`fetch failed: connect ECONNREFUSED 127.0.0.1:${served.closed}`).waitFor()
    await result(page)
      .getByText(/Thrown at server\.ts:\d+:\d+/)
      .waitFor()
    await result(page)
      .getByText(/fetch\('http:[^\n]*\n +\| +\^/)
      .waitFor()
  })

  test('a tool that never answers: after ten seconds the page says what that may be', async () => {
    await using opened = await open(served)
    const { page } = opened
    await page.clock.install()
    await call(page, 'silent')
    await result(page).getByText('Running').waitFor()
    await page.clock.runFor(9000)
    expect(await result(page).getByText('No answer').isVisible()).toBe(false)
    await page.clock.runFor(2000)
    expect(await result(page).getByText('No answer, progress or log message').isVisible()).toBe(true)
    await work(page).getByRole('button', { name: 'Cancel', exact: true }).click()
  })

  test('a change that does not run is refused on the page, too, until one does', async () => {
    await using opened = await open(served)
    const { page, complaints } = opened
    await call(page, 'helper')
    await result(page).getByText('Thrown at').waitFor()
    expect(await page.locator('#refused').isVisible()).toBe(false)
    served.save('prices.ts', `${PRICES}const rate = ;\n`)
    await refused(page)
      .getByText(/prices\.ts:9:14: Unexpected ";"\n +9 \| const rate = ;\n/)
      .waitFor()
    // For a page that is opened later, too.
    await using other = await open(served)
    await refused(other.page).getByText('prices.ts:9:14').waitFor()
    served.save('prices.ts', `${PRICES}throw new Error('DATABASE_URL is not set')\n`)
    await refused(page)
      .getByText(/DATABASE_URL is not set \(prices\.ts:9:7\)\n/)
      .waitFor()
    expect(await result(page).getByText('The code has changed').count()).toBe(0)
    served.save('prices.ts', PRICES.replace('< 10', '< 1'))
    await refused(page).waitFor({ state: 'detached' })
    await result(page).getByText('The code has changed since this call.').waitFor()
    await result(page).getByRole('button', { name: 'Call again' }).click()
    await result(page).locator('pre', { hasText: /^3$/ }).first().waitFor()
    expect(await result(page).getByText('The code has changed').count()).toBe(0)
    expect(complaints).toEqual([])
    served.save('prices.ts', PRICES)
    await result(page).getByText('The code has changed since this call.').waitFor()
  })

  test.for(VIEWS)('%s, %i px wide: axe finds nothing', async ([colorScheme, width, height]) => {
    await using opened = await open(served, { colorScheme, viewport: { width, height }, bypassCSP: true })
    const { page } = opened
    await call(page, 'helper')
    await result(page).getByText('Thrown at').waitFor()
    served.save('prices.ts', `${PRICES}const rate = ;\n`)
    await refused(page).waitFor()
    expect(await violations(page)).toEqual([])
    const { scrollWidth, clientWidth } = await page.evaluate(() => document.documentElement)
    expect(scrollWidth).toBe(clientWidth)
    const folder = process.env.PLAYGROUND_STATES
    if (folder !== undefined)
      await page.screenshot({ path: join(folder, `fault-${colorScheme}-${width}.png`) })
    served.save('prices.ts', PRICES)
    await refused(page).waitFor({ state: 'detached' })
  })
})

/** A call in the playground, in Chromium: while it runs, its result or failure, its copies, and calling it again. */
import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startInspectServer } from '../../deploy/playground/inspect-server.ts'
import { testPort } from '../_port.ts'
import { MayflyProcess, Project, stopAll } from '../cli/_dev-process.ts'
import { violations } from './_axe.ts'
import { launchChromium, type Opened, openPage, openPlayground, VIEWS } from './_chromium.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TIMEOUT_MS = 120_000
const execute = promisify(execFile)

let browser: Browser
let origin: string
beforeAll(async () => {
  browser = await launchChromium()
  const port = String(await testPort())
  const args = ['dev', 'test/browser/_calls-server.ts', '--target', 'node', '--port', port]
  await new MayflyProcess(args, ROOT).ready()
  origin = `http://127.0.0.1:${port}`
}, TIMEOUT_MS)
afterAll(async () => {
  await browser?.close()
  await stopAll()
})

const open = (options: Parameters<Browser['newContext']>[0] = {}): Promise<Opened> =>
  openPlayground(browser, `${origin}/`, { permissions: ['clipboard-read', 'clipboard-write'], ...options })

const work = (page: Page): Locator => page.locator('#work')
const result = (page: Page): Locator => work(page).locator('.result')
const wire = (page: Page): Locator => page.locator('#exchanges > li')
const said = (page: Page): Locator => page.locator('#announce')
const history = (page: Page): Locator => page.locator('#saved')
const copied = (page: Page): Promise<string> => page.evaluate(() => navigator.clipboard.readText())

async function choose(page: Page, name: string): Promise<void> {
  const tab = page.locator('[data-go=rail]')
  if (await tab.isVisible()) await tab.click()
  await page.locator('#rail').getByRole('button', { name, exact: true }).click()
}

async function run(page: Page, name: string): Promise<void> {
  await choose(page, name)
  await work(page).getByRole('button', { name: 'Call', exact: true }).click()
}

async function copyAs(page: Page, form: string): Promise<string> {
  await work(page).getByText('Copy as').click()
  await work(page).getByRole('button', { name: form }).click()
  await said(page).getByText('Copied').waitFor()
  await page.keyboard.press('Escape')
  return copied(page)
}

describe('a call', { timeout: TIMEOUT_MS }, () => {
  test('while it runs: bar, count, time, lines with their level, and Cancel', async () => {
    await using opened = await open()
    const { page, complaints } = opened
    await run(page, 'watch')
    await result(page).getByRole('heading', { name: 'Running' }).waitFor()
    expect(await said(page).textContent()).toBe('Running')
    await result(page).getByText('7 of 10').waitFor()
    const bar = result(page).getByRole('progressbar', { name: 'Progress' })
    expect(await bar.evaluate(({ value, max }: HTMLProgressElement) => [value, max])).toEqual([7, 10])
    const line = result(page).getByRole('listitem').filter({ hasText: 'The light is going' })
    expect(await line.textContent()).toMatch(/^\+\d+ ms warning The light is going$/)
    expect(await result(page).getByRole('listitem').first().textContent()).toMatch(/^\+\d+ ms .*so far$/)
    // The clock goes on.
    const clock = result(page).locator('.line .mono').first()
    const first = await clock.textContent()
    await expect.poll(() => clock.textContent()).not.toBe(first)
    await work(page).getByRole('button', { name: 'Cancel' }).click()
    await result(page).getByRole('heading', { name: 'Cancelled' }).waitFor()
    await wire(page).first().getByText('cancelled here').first().waitFor()
    // What it reported is kept below.
    await result(page).getByText('What it reported').click()
    expect(await line.isVisible()).toBe(true)
    expect(complaints).toEqual([])
  })

  test('progress without a total is a count, and the result has its time and size', async () => {
    await using opened = await open()
    const { page } = opened
    await run(page, 'count')
    await result(page).getByRole('heading', { name: 'Result' }).waitFor()
    expect(await result(page).locator('.line .mono').first().textContent()).toMatch(/^\d+ ms · \d+ B$/)
    expect(await said(page).textContent()).toMatch(/^Result after \d+ ms$/)
    await result(page).getByText('What it reported').click()
    await result(page).getByText('counted 1').waitFor()
  })

  test('what failed reads “failed”: in the panel, in the wire, and for a screen reader', async () => {
    await using opened = await open()
    const { page } = opened
    await run(page, 'fails')
    await result(page).getByRole('heading', { name: 'The tool failed' }).waitFor()
    await result(page).getByText('isError').first().waitFor()
    expect(await said(page).textContent()).toBe('The tool failed: connect ECONNREFUSED 127.0.0.1:5432')
    await wire(page).first().locator('summary').getByText('failed', { exact: true }).waitFor()
    await result(page).getByRole('button', { name: 'Copy error' }).click()
    await said(page).getByText('Copied').waitFor()
    expect(await copied(page)).toBe('connect ECONNREFUSED 127.0.0.1:5432')

    await run(page, 'refuses')
    await result(page).getByRole('heading', { name: 'The call failed' }).waitFor()
    expect(await said(page).textContent()).toContain('The call failed: -32602: no such order')
    await wire(page).first().locator('summary').getByText('failed', { exact: true }).waitFor()

    await run(page, 'count')
    await result(page).getByRole('heading', { name: 'Result' }).waitFor()
    expect(await wire(page).first().locator('summary').textContent()).not.toContain('failed')
    expect(await result(page).evaluate((node) => node.classList.contains('failed'))).toBe(false)
  })

  test('a question reads “asks”, in the panel, in the wire, and for a screen reader', async () => {
    await using opened = await open()
    const { page } = opened
    const mark = wire(page).first().locator('summary').getByText('asks', { exact: true })
    await run(page, 'asks')
    await result(page).getByRole('heading', { name: 'The server asks you' }).waitFor()
    expect(await said(page).textContent()).toBe('The server asks you')
    expect(await result(page).locator('progress').isVisible()).toBe(false)
    await mark.waitFor()
    await page.getByRole('button', { name: 'Decline' }).click()
    await result(page).getByText('The user chose decline').first().waitFor()
    await expect.poll(() => said(page).textContent()).toMatch(/^Result after/)
    // The wire is drawn after a moment.
    await expect.poll(() => mark.count()).toBe(0)
  })

  test('JSON in a text is pretty, and its numbers keep their digits', async () => {
    await using opened = await open()
    const { page } = opened
    await run(page, 'text')
    const text = result(page).getByLabel('Text', { exact: true })
    expect(await text.textContent()).toContain(
      '{\n  "order": 12345678901234567890,\n  "items": [\n    "rose",',
    )
    expect(await text.locator('.n').first().textContent()).toBe('12345678901234567890')
    await result(page).getByRole('button', { name: 'Copy', exact: true }).click()
    await said(page).getByText('Copied').waitFor()
    // What the tool sent.
    expect(await copied(page)).toBe('{"order":12345678901234567890,"items":["rose",{"stems":3}],"paid":true}')
  })

  test('a link to a resource is followed, and a sound can be played', async () => {
    await using opened = await open()
    const { page, complaints } = opened
    await run(page, 'linked')
    await result(page).getByRole('button', { name: 'Read notes://one' }).click()
    await result(page).getByLabel('Text', { exact: true }).getByText('The mill weir is best.').waitFor()
    await wire(page).first().locator('summary').getByText('resources/read notes://one').waitFor()
    await run(page, 'sound')
    const audio = result(page).locator('audio')
    const length = await audio.evaluate(async (node: HTMLAudioElement) => {
      if (node.readyState === 0)
        await new Promise((resolve, reject) => {
          node.addEventListener('loadedmetadata', resolve)
          node.addEventListener('error', reject)
        })
      return node.duration
    })
    expect(length).toBeGreaterThan(0)
    expect(complaints).toEqual([])
  })
})

describe('copies', { timeout: TIMEOUT_MS }, () => {
  test('the copied curl, TypeScript and JSON do what the page does', async () => {
    await using opened = await open()
    const { page, complaints } = opened
    await choose(page, 'echo')
    await work(page).getByLabel('word').fill(`it's "$HOME" \u263a`)
    const command = await copyAs(page, 'curl')
    const { stdout } = await execute('sh', ['-c', command])
    const data = /^data: (.*)$/m.exec(stdout)?.[1] ?? stdout
    expect(JSON.parse(data).result.structuredContent).toEqual({ word: `it's "$HOME" \u263a`, times: 1 })

    const program = await copyAs(page, 'TypeScript')
    await using project = new Project()
    await mkdir(join(project.folder, 'node_modules'))
    await symlink(ROOT, join(project.folder, 'node_modules/mayfly-mcp'))
    project.write('package.json', '{"type":"module"}')
    project.write('call.ts', program)
    const ran = await execute(process.execPath, ['call.ts'], { cwd: project.folder })
    expect(ran.stdout).toContain(`word: \`it's "$HOME" \u263a\``)

    expect(JSON.parse(await copyAs(page, 'JSON'))).toEqual({
      method: 'tools/call',
      params: { name: 'echo', arguments: { word: `it's "$HOME" \u263a`, times: 1 } },
    })
    expect(complaints).toEqual([])
  })

  test('in the legacy era, the copied curl runs, too', async () => {
    await using opened = await open()
    const { page } = opened
    await page.locator('#era-legacy').check({ force: true })
    await page.getByRole('status').getByText('Connected').waitFor()
    await choose(page, 'echo')
    await work(page).getByLabel('word').fill('old')
    const command = await copyAs(page, 'curl')
    expect(command).toContain('mcp-protocol-version: 2025-11-25')
    const { stdout } = await execute('sh', ['-c', command])
    expect(stdout).toContain('{"word":"old","times":1}')
  })

  test('mayfly inspect: a copy has the URL of the server, and a key in it as a variable', async () => {
    const inspecting = await startInspectServer({
      server: new URL(`${origin}/mcp?key=the-key`),
      headers: {},
      token: 'the-token',
      port: 0,
    })
    try {
      await using opened = await openPage(browser, inspecting.url, {
        permissions: ['clipboard-read', 'clipboard-write'],
      })
      const { page } = opened
      await page.getByRole('status').getByText('Connected').waitFor()
      await choose(page, 'echo')
      await work(page).getByLabel('word').fill('inspected')
      const command = await copyAs(page, 'curl')
      expect(command).not.toMatch(/the-key|the-token/)
      expect(command).toContain(`'${origin}/mcp?key='"$MCP_KEY"`)
      const env = { ...process.env, MCP_KEY: 'the-key' }
      const { stdout } = await execute('sh', ['-c', command], { env })
      expect(stdout).toContain('{"word":"inspected","times":1}')
    } finally {
      await inspecting.close()
    }
  })

  test('a request of the wire is copied as curl, and the wire is saved; a token is in neither', async () => {
    await using opened = await open()
    const { page } = opened
    const token = 'a-token-of-some-length'
    await page.locator('#token-summary').click()
    await page.getByLabel('Access token').fill(token)
    await page.getByRole('button', { name: 'Use the token' }).click()
    await page.getByRole('status').getByText('Connected').waitFor()
    await choose(page, 'echo')
    await work(page).getByLabel('word').fill(`mine is ${token}`)
    await work(page).getByRole('button', { name: 'Call', exact: true }).click()
    await result(page).getByRole('heading', { name: 'Result' }).waitFor()
    const call = wire(page).first()
    await call.locator('summary').click()
    await call.getByRole('button', { name: 'Copy as curl' }).click()
    await said(page).getByText('Copied').waitFor()
    const command = await copied(page)
    expect(command).toContain('-H "authorization: Bearer $MCP_TOKEN"')
    const { stdout } = await execute('sh', ['-c', command], { env: { ...process.env, MCP_TOKEN: token } })
    expect(stdout).toContain('"structuredContent"')

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ])
    const text = await readFile(await download.path(), 'utf8')
    expect(download.suggestedFilename()).toBe('mayfly-wire.har')
    expect(text).not.toContain(token)
    const { entries } = JSON.parse(text).log
    const [entry] = entries.filter(({ request }: { request: { postData: { text: string } } }) =>
      request.postData.text.includes('"tools/call"'),
    )
    expect(entry.request.url).toBe(`${origin}/mcp`)
    expect(entry.response.content.text).toContain('mine is •••')
    await page.getByRole('button', { name: 'Clear' }).click()
    expect(await wire(page).count()).toBe(0)
  })
})

describe('history', { timeout: TIMEOUT_MS }, () => {
  test('a call is made again with its arguments, from another tool', async () => {
    await using opened = await open()
    const { page, complaints } = opened
    await choose(page, 'echo')
    await work(page).getByLabel('word').fill('first')
    await work(page).getByLabel('times').fill('3')
    await work(page).getByRole('button', { name: 'Call', exact: true }).click()
    await result(page).getByRole('heading', { name: 'Result' }).waitFor()
    await run(page, 'count')
    await result(page).getByRole('heading', { name: 'Result' }).waitFor()
    await history(page).getByText('History').click()
    const last = history(page).getByRole('button', { name: /^Call again: echo/ })
    expect(await last.textContent()).toMatch(/echo \{ "word": "first", "times": 3 \} ok · \d+ ms$/)
    await last.click()
    const structured = result(page).getByLabel('Structured content')
    expect(JSON.parse((await structured.textContent())!)).toEqual({ word: 'first', times: 3 })
    expect(await work(page).getByLabel('word').inputValue()).toBe('first')
    expect(complaints).toEqual([])
  })

  test('a saved call is there after the page is loaded again, and until it is deleted', async () => {
    await using opened = await open()
    const { page } = opened
    await choose(page, 'echo')
    await work(page).getByLabel('word').fill('kept')
    await work(page).getByRole('button', { name: 'Save', exact: true }).first().click()
    await page.getByLabel('Save this call as').fill('My call')
    await page.keyboard.press('Enter')
    await history(page).getByRole('button', { name: 'Open My call' }).waitFor()
    await page.reload()
    await page.getByRole('status').getByText('Connected').waitFor()
    await choose(page, 'count')
    await history(page).getByText('History').click()
    await history(page).getByRole('button', { name: 'Open My call' }).click()
    // Shown, and not yet called.
    expect(await work(page).getByLabel('word').inputValue()).toBe('kept')
    expect(await result(page).textContent()).toBe('')
    await history(page).getByText('History').click()
    await history(page).getByRole('button', { name: 'Delete My call' }).click()
    await page.reload()
    await page.getByRole('status').getByText('Connected').waitFor()
    await history(page).getByText('History').click()
    expect(
      await history(page)
        .getByRole('button', { name: /^Open / })
        .count(),
    ).toBe(0)
  })

  test('a storage with anything in it is read as no more than 50 calls', async () => {
    await using opened = await open()
    const { page, complaints } = opened
    const hostile = [
      ...[null, 5, {}, { title: 'x', id: 'tool=echo', name: 'x', values: 5 }],
      ...Array.from({ length: 2000 }, (_, at) => ({
        title: `<img src=x onerror=alert(1)> ${at}`,
        id: 'tool=nothing',
        name: '<b>x</b>',
        values: {},
      })),
    ]
    await page.evaluate((text) => {
      localStorage.setItem(`mayfly-calls ${location.origin}/mcp`, text)
    }, JSON.stringify(hostile))
    await page.reload()
    await page.getByRole('status').getByText('Connected').waitFor()
    await history(page).getByText('History').click()
    const saved = history(page).getByRole('button', { name: /^Open / })
    expect(await saved.count()).toBe(50)
    await saved.first().click()
    await said(page).getByText('The server does not offer <b>x</b> now').waitFor()
    expect(complaints).toEqual([])
  })
})

test.for(VIEWS)(
  '%s, %i px wide: axe finds nothing while a call runs, asks, fails, and in its menus',
  { timeout: TIMEOUT_MS },
  async ([colorScheme, width, height]) => {
    await using opened = await open({ colorScheme, viewport: { width, height }, bypassCSP: true })
    const { page } = opened
    const check = async (state: string): Promise<void> => expect(await violations(page), state).toEqual([])
    await run(page, 'watch')
    await result(page).getByText('7 of 10').waitFor()
    await check('running')
    await run(page, 'asks')
    await result(page).getByRole('heading', { name: 'The server asks you' }).waitFor()
    await check('asks')
    await run(page, 'fails')
    await result(page).getByRole('heading', { name: 'The tool failed' }).waitFor()
    await check('failed')
    await run(page, 'refuses')
    await result(page).getByRole('heading', { name: 'The call failed' }).waitFor()
    await check('refused')
    await run(page, 'linked')
    await result(page).getByRole('button', { name: 'Read notes://one' }).click()
    await result(page).getByText('The mill weir is best.').first().waitFor()
    await check('linked')
    await run(page, 'sound')
    await result(page).locator('audio').waitFor()
    await check('sound')
    await run(page, 'text')
    await result(page).getByLabel('Text', { exact: true }).waitFor()
    await check('JSON')
    await history(page).getByText('History').click()
    await check('history')
    await page.keyboard.press('Escape')
    await work(page).getByText('Copy as').click()
    await check('copies')
    const { scrollWidth, clientWidth } = await page.evaluate(() => document.documentElement)
    expect(scrollWidth).toBe(clientWidth)
  },
)

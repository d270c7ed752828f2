/**
 * The pages of sign-in in a real Chromium, under their own Content-Security-Policy. `SIGN_IN_SCREENSHOTS=<folder>` also writes a picture
 * of each page, theme and width there.
 */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ConsentPage, SignInPage } from '../../src/sign-in/pages/model.ts'
import { pagePolicy, renderPage } from '../../src/sign-in/pages/pages.ts'
import { CONNECTIONS, CONSENT, ERROR, FIRST, UNKNOWN, WHO } from '../unit/sign-in/_pages.ts'
import { violations } from './_axe.ts'
import { launchChromium, openPage } from './_chromium.ts'

/** A name that would be another's, runs over everything, or covers what is beside it. */
const HOSTILE_NAMES: readonly string[] = [
  `Claude\u202e.ai yb deifireV\u202c`,
  'W'.repeat(5000),
  `Z\u0353${'\u0353\u0301\u0316'.repeat(300)}algo`,
  'Claude\u200b\u200d\u2060\ufeff',
  'שלום עולם — Claude',
  '</title></style><script>alert(1)</script><h1>Allow</h1>',
  '\u{1f600}'.repeat(200),
  ' '.repeat(500),
]

const hostile = (name: string): ConsentPage => ({
  ...UNKNOWN,
  server: name,
  client: {
    ...UNKNOWN.client,
    name,
    host: 'сlaude.ai',
    redirectHost: `accounts.google.com.${'a'.repeat(60)}.${'b'.repeat(60)}.evil.example`,
    redirectUri: `https://сlaude.ai/${'x'.repeat(3000)}`,
    isLoopback: false,
  },
  person: { name, email: `${'e'.repeat(200)}@example.com` },
  scopes: [{ name: 's'.repeat(300), sentence: name }],
})

const PAGES: { readonly [name: string]: SignInPage } = {
  consent: CONSENT,
  first: FIRST,
  unknown: UNKNOWN,
  connections: CONNECTIONS,
  none: { ...CONNECTIONS, connections: [], isRemoved: false },
  error: ERROR,
  who: WHO,
  ...Object.fromEntries(HOSTILE_NAMES.map((name, index) => [`hostile-${index}`, hostile(name)])),
}

let browser: Browser
let site: Site
let client: Site
beforeAll(async () => {
  client = await startSite(() => ({ status: 200, body: '<!doctype html><title>Arrived</title>' }))
  site = await startSite((url, form) => {
    if (form !== undefined || url.searchParams.has('state')) {
      received.push(form ?? url.searchParams)
      return { status: 303, location: `${client.url}/cb?code=c` }
    }
    const name = url.pathname.slice(1)
    const page = name.endsWith('-local') ? local(PAGES[name.replace('-local', '')]!) : PAGES[name]!
    return { status: 200, body: renderPage(page), policy: pagePolicy(page) }
  })
  browser = await launchChromium()
})
afterAll(async () => {
  await browser?.close()
  await site?.stop()
  await client?.stop()
})

/** The same, with its form and its client on this machine. */
function local(page: SignInPage): SignInPage {
  const here = { ...page, ...('action' in page && { action: `${site.url}/form` }) } as SignInPage
  return here.page === 'consent'
    ? { ...here, client: { ...here.client, redirectUri: `${client.url}/cb` } }
    : here
}

/** The forms that were sent. */
const received: URLSearchParams[] = []

interface Answer {
  readonly status: number
  readonly body?: string
  readonly location?: string
  readonly policy?: string
}

interface Site {
  readonly url: string
  stop(): Promise<void>
}

async function startSite(answer: (url: URL, form: URLSearchParams | undefined) => Answer): Promise<Site> {
  const http = createServer(async (request, response) => {
    const form = request.method === 'POST' ? new URLSearchParams(await textOf(request)) : undefined
    const { status, body, location, policy } = answer(new URL(request.url!, url), form)
    response.writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      ...(policy !== undefined && { 'content-security-policy': policy }),
      ...(location !== undefined && { location }),
    })
    response.end(body)
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  return {
    url,
    stop: () =>
      new Promise((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}

const WIDTHS = [320, 390, 768, 1280]
/** What axe says of the contrast is asked in both schemes. */
const VIEWS = WIDTHS.map((width, index) => [index % 2 === 0 ? 'light' : 'dark', width] as const)
const FEW_VIEWS = [VIEWS[0]!, VIEWS.at(-1)!]
const isHostile = (name: string): boolean => name.startsWith('hostile')

describe.each(Object.keys(PAGES))('%s', (name) => {
  test.each(isHostile(name) ? FEW_VIEWS : VIEWS)(
    'in %s at %i px: axe finds nothing, and nothing overflows',
    async (colorScheme, width) => {
      await using opened = await openPage(browser, `${site.url}/${name}`, {
        colorScheme,
        viewport: { width, height: 844 },
        bypassCSP: true,
      })
      const { page, complaints } = opened
      const folder = process.env.SIGN_IN_SCREENSHOTS
      if (folder !== undefined)
        await page.screenshot({ path: join(folder, `${name}-${colorScheme}-${width}.png`), fullPage: true })
      expect(await violations(page)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
      expect(complaints).toEqual([])
    },
  )

  test('with its policy and without scripts: styled, and nothing is refused', async () => {
    await using opened = await openPage(browser, `${site.url}/${name}`, { javaScriptEnabled: true })
    const { page, complaints } = opened
    await page.locator('main').waitFor()
    expect(await page.locator('main').evaluate((main) => getComputedStyle(main).display)).toBe('grid')
    expect(complaints).toEqual([])
  })

  test('text at 200 % on a phone: nothing overflows or is cut', async () => {
    await using opened = await openPage(browser, `${site.url}/${name}`, {
      viewport: { width: 390, height: 844 },
      bypassCSP: true,
    })
    const { page } = opened
    await page.addStyleTag({ content: 'html{font-size:200%}' })
    const folder = process.env.SIGN_IN_SCREENSHOTS
    if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}-200.png`), fullPage: true })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    expect(await clipped(page)).toEqual([])
  })

  test('in forced colours every button and field has an edge', async () => {
    await using opened = await openPage(browser, `${site.url}/${name}`, { forcedColors: 'active' })
    const { page } = opened
    const folder = process.env.SIGN_IN_SCREENSHOTS
    if (folder !== undefined)
      await page.screenshot({ path: join(folder, `${name}-forced.png`), fullPage: true })
    const edges = await page
      .locator('button:not(.person), .button, input:not([type=hidden]), .card')
      .evaluateAll((all) => all.map((one) => getComputedStyle(one).borderTopWidth))
    expect(edges.filter((width) => width === '0px')).toEqual([])
  })

  test('every link, field and button is reached by Tab, in order, with a visible focus and room for a finger', async () => {
    await using opened = await openPage(browser, `${site.url}/${name}`, {
      viewport: { width: 390, height: 844 },
    })
    const { page } = opened
    const all = page.locator('a, button, input:not([type=hidden])')
    for (let index = 0; index < (await all.count()); index++) {
      await page.keyboard.press('Tab')
      const one = all.nth(index)
      expect(await one.evaluate((element) => element === document.activeElement)).toBe(true)
      const { outline, height, isInline } = await one.evaluate((element) => ({
        outline: getComputedStyle(element).outlineStyle,
        height: element.getBoundingClientRect().height,
        isInline: getComputedStyle(element).display === 'inline',
      }))
      expect(outline).toBe('solid')
      // WCAG 2.2 §2.5.8 leaves out links in text.
      if (!isInline) expect(height).toBeGreaterThanOrEqual(24)
    }
  })
})

/** Elements that are wider than there is room in what they are in. */
function clipped(page: Page): Promise<string[]> {
  return page.locator('main *').evaluateAll((all) =>
    all
      .filter((one) => {
        const parent = one.parentElement!
        const { paddingLeft, paddingRight, display } = getComputedStyle(parent)
        const [inner, outer] = [one.getBoundingClientRect(), parent.getBoundingClientRect()]
        if (display === 'inline' || inner.width === 0) return false
        const left = outer.left + Number.parseFloat(paddingLeft) - 1
        const right = outer.right - Number.parseFloat(paddingRight) + 1
        return inner.left < left || inner.right > right
      })
      .map((one) => one.outerHTML.slice(0, 80)),
  )
}

describe('the consent', () => {
  test('says who wants what, as whom, and where it leads', async () => {
    await using opened = await openPage(browser, `${site.url}/consent`)
    const text = await opened.page.locator('main').innerText()
    expect(await opened.page.getByRole('heading', { level: 1 }).innerText()).toBe(
      'Let Claude use Notes as you?',
    )
    for (const part of [
      'This app is from claude.ai',
      'Ada Lovelace',
      'ada@example.com, signed in with Google',
      'Read your notes',
      'Change your notes',
      'notes:write',
      'Notes asks Google for openid profile email',
      'You return to claude.ai',
      'https://claude.ai/api/mcp/auth_callback',
    ])
      expect(text).toContain(part)
    expect(await opened.page.getByRole('link', { name: 'Not you?' }).getAttribute('href')).toBe(
      '/mcp/oauth/authorize?switch=abc',
    )
  })

  test('warns of a name that nobody verified, and of a program on this computer', async () => {
    await using opened = await openPage(browser, `${site.url}/unknown`)
    const text = await opened.page.locator('main').innerText()
    expect(text).toContain('Not verified. Any app can give itself this name.')
    expect(text).toContain('You return to 127.0.0.1:6274')
    expect(text).toContain('Go on only if you have just started it.')
  })

  test.each([
    ['Allow', 'approve'],
    ['Cancel', 'deny'],
  ])(
    '%s by keyboard, without scripts → a form by POST, which leads to the client',
    async (button, decision) => {
      const { browserPage, close } = await openWithPolicy('consent')
      received.length = 0
      await browserPage.getByRole('button', { name: button }).focus()
      await browserPage.keyboard.press('Enter')
      await browserPage.waitForURL(`${client.url}/cb?code=c`)
      expect(received.map((form) => Object.fromEntries(form))).toEqual([{ consent: 'handle', decision }])
      await close()
    },
  )
})

/** Its forms lead here, and the redirect URI is the client's. */
async function openWithPolicy(name: string): Promise<{ browserPage: Page; close(): Promise<void> }> {
  const context = await browser.newContext({ javaScriptEnabled: false })
  const browserPage = await context.newPage()
  await browserPage.goto(`${site.url}/${name}-local`)
  return { browserPage, close: () => context.close() }
}

describe('a hostile name', () => {
  test.each(HOSTILE_NAMES.map((name, index) => [index, name.slice(0, 12)] as const))(
    '%i %j: the buttons stay what and where they are, and the address is spelled out',
    async (index) => {
      await using opened = await openPage(browser, `${site.url}/hostile-${index}`, {
        viewport: { width: 390, height: 844 },
      })
      const { page, complaints } = opened
      expect(await page.getByRole('heading').allInnerTexts()).toHaveLength(2)
      const allow = page.getByRole('button', { name: 'Allow', exact: true })
      expect(await allow.count()).toBe(1)
      const isOnTop = await allow.evaluate((button) => {
        button.scrollIntoView()
        const { left, top, width, height } = button.getBoundingClientRect()
        return document.elementFromPoint(left + width / 2, top + height / 2) === button
      })
      expect(isOnTop).toBe(true)
      const text = await page.locator('main').innerText()
      expect(text).toContain('xn--laude-0ye.ai')
      expect(text).toContain('letters that can look like others')
      expect(text).not.toContain('сlaude.ai')
      expect(text).not.toMatch(/\u200d|[\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff]/)
      expect(text.replaceAll(/\s/g, '')).toContain('.evil.example')
      expect(text.length).toBeLessThan(2200)
      expect(complaints).toEqual([])
    },
  )
})

describe('the connections', () => {
  test('each is disconnected by its own button, which says what it is for', async () => {
    const { browserPage, close } = await openWithPolicy('connections')
    received.length = 0
    await browserPage.getByRole('button', { name: 'Disconnect Inspector' }).press('Enter')
    await expect
      .poll(() => received.map((form) => Object.fromEntries(form)))
      .toEqual([{ form: 'token', revoke: 'inspector' }])
    await close()
  })

  test('sign out sends the same token', async () => {
    const { browserPage, close } = await openWithPolicy('connections')
    received.length = 0
    await browserPage.getByRole('button', { name: 'Sign out' }).press('Enter')
    await expect
      .poll(() => received.map((form) => Object.fromEntries(form)))
      .toEqual([{ form: 'token', sign_out: '1' }])
    await close()
  })

  test('dates are for people and for programs', async () => {
    await using opened = await openPage(browser, `${site.url}/connections`)
    const time = opened.page.getByText('14 November 2026')
    expect(await time.getAttribute('datetime')).toBe('2026-11-14T09:30:00.000Z')
    expect(await opened.page.getByRole('status').innerText()).toContain('It is disconnected')
  })
})

describe('who are you?', () => {
  test('a made-up person by one key → the callback', async () => {
    const { browserPage, close } = await openWithPolicy('who')
    received.length = 0
    await browserPage.keyboard.press('Tab')
    await browserPage.keyboard.press('Enter')
    await browserPage.waitForURL(`${client.url}/cb?code=c`)
    expect(received.map((form) => Object.fromEntries(form))).toEqual([
      { state: 's', code: 'stand-in', name: 'Ada Lovelace', email: 'ada@example.com' },
    ])
    await close()
  })

  test('anybody by name and email; without them the form is not sent', async () => {
    const { browserPage, close } = await openWithPolicy('who')
    received.length = 0
    await browserPage.getByLabel('Name').fill('Zoë')
    await browserPage.keyboard.press('Enter')
    expect(received).toEqual([])
    await browserPage.getByLabel('Email').fill('zoe@example.com')
    await browserPage.keyboard.press('Enter')
    await browserPage.waitForURL(`${client.url}/cb?code=c`)
    expect(Object.fromEntries(received[0]!)).toMatchObject({ name: 'Zoë', email: 'zoe@example.com' })
    await close()
  })
})

/** Signing in from the playground in Chromium, with a real authorization server: discovery, registration, PKCE, a token, a call. */
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testPort } from '../_port.ts'
import { MayflyProcess, stopAll } from '../cli/_dev-process.ts'
import { type AuthorizationServer, startAuthorizationServer } from '../runtimes/auth/_provider.ts'
import { launchChromium, openPage } from './_chromium.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TIMEOUT_MS = 120_000

let browser: Browser
let authorizationServer: AuthorizationServer
let origin: string
beforeAll(async () => {
  browser = await launchChromium()
  authorizationServer = await startAuthorizationServer()
  const port = String(await testPort())
  const args = ['dev', 'test/runtimes/auth/fixture.ts', '--target', 'node', '--port', port]
  const served = new MayflyProcess(args, ROOT, undefined, { ISSUER: authorizationServer.issuer })
  await served.ready()
  origin = `http://127.0.0.1:${port}`
}, TIMEOUT_MS)
afterAll(async () => {
  await browser?.close()
  await stopAll()
  await authorizationServer?.[Symbol.asyncDispose]()
})

test('401 → sign in → the tool knows the user, and the token is in no address and no storage', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using opened = await openPage(browser, `${origin}/#tool=chosen`)
  const { page } = opened
  await page.getByRole('status').getByText('The server asks for authorization').waitFor()
  await page.getByRole('button', { name: 'Sign in with OAuth' }).click()
  await page.waitForURL(`${authorizationServer.issuer}/**`)
  const asked = new URL(page.url())
  expect(asked.origin).toBe(authorizationServer.issuer)
  await page.locator('input[name=login]').fill('ann')
  await page.locator('input[name=password]').fill('any')
  await page.locator('button[type=submit]').click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.waitForURL(`${origin}/**`)
  await page.getByRole('status').getByText('Connected').waitFor()
  // What was chosen before is still in the URL.
  expect(new URL(page.url()).hash).toBe('#tool=chosen')
  await page.getByRole('navigation').getByRole('button', { name: 'who', exact: true }).click()
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  const structured = page.getByLabel('Structured content')
  expect(JSON.parse((await structured.textContent())!)).toMatchObject({ subject: 'ann' })
  const stored = await page.evaluate(() =>
    JSON.stringify([sessionStorage, localStorage, document.cookie, location.href]),
  )
  expect(stored).toBe(JSON.stringify([{}, {}, '', `${origin}/#tool=who`]))
  // Each step of the sign-in, without what is secret in it.
  await page.locator('#token-summary').click()
  const steps = page.getByRole('list', { name: 'Steps of the sign-in' }).getByRole('listitem')
  const names = await steps.locator('summary').allTextContents()
  expect(names.slice(0, 2)).toEqual(['The server asks for a token 401', 'The metadata of the server 200'])
  expect(names[2]).toMatch(/^The metadata of the authorization server \d+$/)
  expect(names.slice(-4)).toEqual([
    'This page registers as a client 201',
    'The browser opens the sign-in page ',
    'The browser comes back ',
    'The code is exchanged for a token 200',
  ])
  for (const summary of await steps.locator('summary').all()) await summary.click()
  const stepTexts = (await steps.allTextContents()).join('\n')
  expect(stepTexts).toContain('www-authenticate: Bearer')
  expect(stepTexts).toContain('code_verifier=•••')
  expect(stepTexts).toContain('"access_token": "•••"')
  await page.keyboard.press('Escape')
  // The log shows that there is a token, and not which.
  for (const summary of await page.locator('#exchanges summary').all()) await summary.click()
  const wire = await page.locator('#exchanges').textContent()
  const token = await page.getByLabel('Access token').inputValue()
  expect(token.length).toBeGreaterThan(20)
  expect(wire).toContain('Bearer •••')
  expect(wire).not.toContain(token)
  expect(stepTexts).not.toContain(token)
})

test('a response that this tab has not asked for is not taken', { timeout: TIMEOUT_MS }, async () => {
  await using opened = await openPage(browser, `${origin}/?code=stolen&state=guessed`)
  await opened.page.getByRole('alert').getByText('the state does not match').waitFor()
  expect(opened.page.url()).toBe(`${origin}/`)
  expect(await opened.page.getByLabel('Access token').inputValue()).toBe('')
})

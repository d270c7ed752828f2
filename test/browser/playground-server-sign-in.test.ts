/** Signing in from the playground in Chromium, to a server that signs people in itself, with a real OpenID provider behind it. */
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testPort } from '../_port.ts'
import { MayflyProcess, stopAll } from '../cli/_dev-process.ts'
import { type OpenIdProvider, startOpenIdProvider } from '../unit/sign-in/_provider.ts'
import { launchChromium, openPage } from './_chromium.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TIMEOUT_MS = 120_000

let browser: Browser
let provider: OpenIdProvider
let origin: string
beforeAll(async () => {
  browser = await launchChromium()
  const port = String(await testPort())
  origin = `http://127.0.0.1:${port}`
  provider = await startOpenIdProvider({ redirectUri: `${origin}/oauth/callback` })
  const args = ['dev', 'test/runtimes/auth/sign-in-fixture.ts', '--target', 'node', '--port', port]
  await new MayflyProcess(args, ROOT, undefined, { ISSUER: provider.issuer }).ready()
}, TIMEOUT_MS)
afterAll(async () => {
  await browser?.close()
  await stopAll()
  await provider?.[Symbol.asyncDispose]()
})

/** To the question, through the provider, where the person is signed in, and back. */
async function signIn(page: Page, person: string): Promise<void> {
  await page.getByRole('button', { name: 'Sign in with OAuth' }).click()
  await page.getByRole('heading', { name: 'Let Mayfly playground use Shop as you?' }).waitFor()
  expect(await page.locator('main').innerText()).toContain(person)
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.waitForURL(`${origin}/#**`)
  await page.getByRole('status').getByText('Connected').waitFor()
}

async function callWho(page: Page): Promise<unknown> {
  await page.getByRole('navigation').getByRole('button', { name: 'who', exact: true }).click()
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  return JSON.parse((await page.getByLabel('Structured content').textContent())!)
}

test('401 → sign in → a call; without its token → 401 → sign in → a call', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using opened = await openPage(browser, `${origin}/#tool=who`)
  const { page } = opened
  await page.getByRole('status').getByText('The server asks for authorization').waitFor()
  await signIn(page, 'Next, you sign in with Example.')
  expect(await callWho(page)).toMatchObject({ caller: 'Ada Lovelace', scopes: ['shop'] })
  const first = await page.getByLabel('Access token').inputValue()

  // The page keeps no refresh token: whoever loads it again signs in again.
  await page.reload()
  await page.getByRole('status').getByText('The server asks for authorization').waitFor()
  await signIn(page, 'signed in with Example')
  expect(await callWho(page)).toMatchObject({ caller: 'Ada Lovelace', scopes: ['shop'] })
  expect(await page.getByLabel('Access token').inputValue()).not.toBe(first)

  // Both are there for the person.
  await page.goto(`${origin}/connections`)
  await page.getByRole('heading', { name: 'Your connections' }).waitFor()
  expect(await page.getByRole('button', { name: 'Disconnect Mayfly playground' }).count()).toBe(2)
})

/** What docs/sign-in.md says of `mayfly dev`: the playground signs in with the stand-in, on the target's own runtime, without an account. */
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { testPort } from '../_port.ts'
import { MayflyProcess, stopAll } from '../cli/_dev-process.ts'
import { launchChromium, openPage } from './_chromium.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TIMEOUT_MS = 120_000

let browser: Browser
beforeAll(async () => {
  browser = await launchChromium()
})
afterEach(stopAll)
afterAll(async () => {
  await browser?.close()
})

test.each(['node', 'cloudflare'])(
  '%s: sign in, agree, and the tool knows the person',
  {
    timeout: TIMEOUT_MS,
  },
  async (target) => {
    const port = String(await testPort())
    await new MayflyProcess(
      ['dev', 'examples/sign-in/server.ts', '--target', target, '--port', port],
      ROOT,
    ).ready()

    await using opened = await openPage(browser, `http://127.0.0.1:${port}/`)
    const { page } = opened
    await page.getByRole('button', { name: 'Sign in with OAuth' }).click()
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.getByRole('heading', { name: 'Who are you?' }).waitFor()
    await page.getByLabel('Name').fill('Zoë')
    await page.getByLabel('Email').fill('zoe@example.com')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('status').getByText('Connected').waitFor()
    await page.getByRole('navigation').getByRole('button', { name: 'whoami', exact: true }).click()
    await page.getByRole('button', { name: 'Call', exact: true }).click()

    const structured = page.getByLabel('Structured content')
    expect(JSON.parse((await structured.textContent())!)).toMatchObject({
      name: 'Zoë',
      email: 'zoe@example.com',
    })
  },
)

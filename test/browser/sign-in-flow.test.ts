/** Sign-in as a person of `mayfly dev` sees it: in Chromium, over http on loopback, with the stand-in for an identity provider. */
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { google } from '../../src/sign-in/google.ts'
import { createSignIn } from '../../src/sign-in/sign-in.ts'
import { createMemoryGrants } from '../../src/sign-in/store/memory.ts'
import { violations } from './_axe.ts'
import { launchChromium, openPage } from './_chromium.ts'

const VERIFIER = 'v'.repeat(64)

let browser: Browser
let server: { readonly url: string; stop(): Promise<void> }
let app: { readonly url: string; stop(): Promise<void> }
beforeAll(async () => {
  const signIn = createSignIn('createSignIn', {
    upstream: google({ clientId: (env) => env.GOOGLE_ID, clientSecret: (env) => env.GOOGLE_SECRET }),
    store: createMemoryGrants(),
    scopes: { 'notes:read': 'Read your notes', 'notes:write': 'Change your notes' },
  })
  server = await startSite(async (request) => {
    const { origin, pathname } = new URL(request.url)
    const context = { env: { MAYFLY_DEV: '1' }, resource: `${origin}/mcp`, name: 'Notes' }
    return (await signIn.serve(request, pathname, { ...context, address: '127.0.0.1' })) ?? new Response('')
  })
  app = await startSite(
    async () => new Response('<title>App</title>', { headers: { 'content-type': 'text/html' } }),
  )
  browser = await launchChromium()
})
afterAll(async () => {
  await browser?.close()
  await server?.stop()
  await app?.stop()
})

async function startSite(
  answer: (request: Request) => Promise<Response>,
): Promise<{ url: string; stop(): Promise<void> }> {
  const http = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const headers = Object.entries(incoming.headers).map(
      ([name, value]) => [name, String(value)] as [string, string],
    )
    const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}
    const request = new Request(`${url}${incoming.url}`, {
      method: incoming.method ?? 'GET',
      headers,
      ...body,
    })
    const response = await answer(request)
    outgoing.writeHead(response.status, [
      ...[...response.headers].filter(([name]) => name !== 'set-cookie').flat(),
      ...response.headers.getSetCookie().flatMap((cookie) => ['set-cookie', cookie]),
    ])
    outgoing.end(await response.text())
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

/** As an app does it: registers, and sends the browser. */
async function startUrl(): Promise<string> {
  const registration = await fetch(`${server.url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'Editor',
      redirect_uris: [`${app.url}/cb`],
      token_endpoint_auth_method: 'none',
    }),
  })
  const { client_id } = (await registration.json()) as { client_id: string }
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id, redirect_uri: `${app.url}/cb`, state: 's' },
    code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
    ...{ code_challenge_method: 'S256', resource: `${server.url}/mcp`, scope: 'notes:read' },
  })
  return `${server.url}/oauth/authorize?${query}`
}

test('an app → the question → who are you → the app; then the connections, and out', async () => {
  await using opened = await openPage(browser, await startUrl(), { bypassCSP: false })
  const { page } = opened
  await page.getByRole('heading', { name: 'Let Editor use Notes as you?' }).waitFor()
  expect(await page.locator('main').innerText()).toContain('Next, you sign in with the stand-in.')
  await page.getByRole('button', { name: 'Allow' }).click()

  await page.getByRole('heading', { name: 'Who are you?' }).waitFor()
  await page.getByRole('button', { name: 'Grace Hopper' }).click()
  await page.waitForURL(`${app.url}/cb?**`)
  const back = new URL(page.url())
  expect(back.searchParams.get('state')).toBe('s')
  expect(back.searchParams.get('code')).toMatch(/.{20}/)

  await page.goto(`${server.url}/connections`)
  expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Your connections')
  expect(await page.locator('main').innerText()).toContain('Grace Hopper')
  expect(opened.complaints.filter((one) => !one.startsWith(`requested ${app.url}`))).toEqual([])
})

test('Cancel → the app learns that it was refused', async () => {
  await using opened = await openPage(browser, await startUrl())
  const { page } = opened
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.waitForURL(`${app.url}/cb?**`)
  expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied')
})

test('who signed in before is named; “Not you?” asks again who it is', async () => {
  await using opened = await openPage(browser, await startUrl())
  const { page } = opened
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByRole('button', { name: 'Ada Lovelace' }).click()
  await page.waitForURL(`${app.url}/cb?**`)
  await page.goto(await startUrl())
  expect(await page.locator('main').innerText()).toContain('ada@example.com, signed in with the stand-in')
  await page.getByRole('link', { name: 'Not you?' }).click()
  await page.getByText('Next, you sign in').waitFor()
  expect(await page.locator('main').innerText()).not.toContain('ada@example.com')
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByLabel('Name').fill('Zoë')
  await page.getByLabel('Email').fill('zoe@example.com')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(`${app.url}/cb?**`)
  await page.goto(`${server.url}/connections`)
  expect(await page.locator('main').innerText()).toContain('zoe@example.com')
})

test('“Do not sign in” → the app learns it, and nobody is signed in', async () => {
  await using opened = await openPage(browser, await startUrl())
  const { page } = opened
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByRole('link', { name: 'Do not sign in' }).click()
  await page.waitForURL(`${app.url}/cb?**`)
  expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied')
})

test('the page of an error says what to do', async () => {
  await using opened = await openPage(browser, `${server.url}/oauth/callback?state=unknown&code=a`, {
    bypassCSP: true,
  })
  expect(await opened.page.locator('main').innerText()).toContain('Start again in your app.')
  expect(await violations(opened.page)).toEqual([])
})

/** The real Inspector in Chromium signs in to a server that signs people in, calls a tool, and refreshes when its token is no longer taken. */
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { testPort } from '../../_port.ts'
import { launchChromium } from '../../browser/_chromium.ts'
import { MayflyProcess, Project, stopAll } from '../../cli/_dev-process.ts'
import { startOpenIdProvider } from '../../unit/sign-in/_provider.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const INSPECTOR = join(import.meta.dirname, '../tasks/inspector/node_modules/@modelcontextprotocol/inspector')
const SHOP = join(import.meta.dirname, '_sign-in-shop.ts')

/** Writes down the last token, which the Inspector does not show. */
const SERVER = `import { writeFileSync } from 'node:fs'
import { createMemoryGrants } from 'mayfly-mcp/sign-in'
import { createShop, shopSignIn } from ${JSON.stringify(SHOP)}
const auth = shopSignIn(createMemoryGrants())
const admit = (request, context) => {
  writeFileSync(process.env.TOKEN_FILE, request.headers.get('authorization') ?? '')
  return auth.admit(request, context)
}
export default createShop({ ...auth, admit })
`

afterAll(stopAll)

async function callWho(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Execute Tool' }).click()
  await page.getByText('Structured Output').waitFor()
  const shown = await page.locator('main').innerText()
  await page.getByRole('button', { name: 'Close results' }).click()
  return shown
}

test('401 → sign in → a call → its token is revoked → it refreshes, and calls again', {
  timeout: 180_000,
}, async () => {
  await using project = new Project()
  await using secrets = new Project()
  mkdirSync(join(project.folder, 'node_modules/@modelcontextprotocol'), { recursive: true })
  symlinkSync(INSPECTOR, join(project.folder, 'node_modules/@modelcontextprotocol/inspector'))
  symlinkSync(ROOT, join(project.folder, 'node_modules/mayfly-mcp'))
  symlinkSync(join(ROOT, 'node_modules/@hono'), join(project.folder, 'node_modules/@hono'))
  project.write('server.mjs', SERVER)
  const port = String(await testPort())
  const origin = `http://127.0.0.1:${port}`
  await using provider = await startOpenIdProvider({ redirectUri: `${origin}/oauth/callback` })
  // Outside of what is watched for changes.
  const TOKEN_FILE = join(secrets.folder, 'token')
  const args = ['dev', 'server.mjs', '--inspector', '--target', 'node', '--port', port]
  const env = { HOME: project.folder, ISSUER: provider.issuer, TOKEN_FILE }
  await using mayfly = new MayflyProcess(args, project.folder, join(ROOT, 'dist/deploy/cli.js'), env)
  const line = /Inspector {3,}(\S+)\n/
  const address = line.exec(await mayfly.says(line))![1]!
  const token = (): string => readFileSync(TOKEN_FILE, 'utf8').replace(/^Bearer /, '')
  const browser = await launchChromium()
  try {
    const page = await browser.newPage()
    const asked: URL[] = []
    page.on('request', (request) => {
      const url = new URL(request.url())
      if (url.href.startsWith(`${origin}/oauth/authorize?response_type`)) asked.push(url)
    })
    await page.goto(address)
    await page.getByRole('heading', { name: 'Let MCP Inspector use Shop as you?' }).waitFor()
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.getByText('Tools', { exact: true }).click()
    await page.getByText('who', { exact: true }).first().click()
    expect(await callWho(page)).toContain('"caller": "Ada Lovelace"')
    const [first, clientId] = [token(), asked[0]?.searchParams.get('client_id')]
    const body = new URLSearchParams({ token: first, client_id: clientId ?? '' })
    expect((await fetch(`${origin}/oauth/token`, { method: 'POST', body })).status).toBe(200)

    expect(await callWho(page)).toContain('"caller": "Ada Lovelace"')

    expect(token()).not.toBe(first)
    expect(token()).toMatch(/.{40}/)
    expect(asked).toHaveLength(1)
  } finally {
    await browser.close()
  }
})

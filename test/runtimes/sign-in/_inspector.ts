/** The real Inspector in Chromium, which signs in by itself: `MAYFLY_INSPECTOR=1` has it visit every target. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { untilListening } from '../../../deploy/run/port.ts'
import { testPort } from '../../_port.ts'
import { launchChromium } from '../../browser/_chromium.ts'

const MODULES = join(import.meta.dirname, '../tasks/inspector/node_modules/@modelcontextprotocol/inspector')
// It needs Node 22.19 or later.
const NODE = join(import.meta.dirname, '../../../node_modules/node/bin/node')
const START_MS = 60_000

/** Connects, is asked, agrees, signs in, and calls `who`. */
export async function visitWithInspector(serverUrl: string): Promise<void> {
  const [port, sandbox] = [await testPort(), await testPort()]
  const token = randomBytes(32).toString('hex')
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-inspector-'))
  const catalog = join(folder, 'servers.json')
  writeFileSync(catalog, '{ "mcpServers": {} }')
  const env = {
    ...process.env,
    HOME: folder,
    CLIENT_PORT: String(port),
    MCP_SANDBOX_PORT: String(sandbox),
    MCP_INSPECTOR_API_TOKEN: token,
    MCP_AUTO_OPEN_ENABLED: 'false',
  }
  const args = [join(MODULES, 'clients/launcher/build/index.js'), '--web', '--catalog', catalog]
  const inspector = spawn(NODE, args, { env, stdio: 'ignore', detached: true })
  const browser = await launchChromium()
  try {
    await untilListening(port, AbortSignal.timeout(START_MS))
    const page = await browser.newPage()
    const query = { MCP_INSPECTOR_API_TOKEN: token, serverUrl, transport: 'http', autoConnect: token }
    await page.goto(`http://127.0.0.1:${port}/?${new URLSearchParams(query)}`)
    await page.getByRole('heading', { name: 'Let MCP Inspector use Notes as you?' }).waitFor()
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.getByText('Tools', { exact: true }).click()
    await page.getByText('who', { exact: true }).first().click()
    await page.getByRole('button', { name: 'Execute Tool' }).click()
    await page.getByText('Structured Output').waitFor()
    expect(await page.locator('main').innerText()).toContain('"name": "Ada Lovelace"')
  } finally {
    await browser.close()
    const ended = once(inspector, 'exit')
    process.kill(-inspector.pid!)
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The playground on a server that only speaks the legacy era, such as one of SDK v1: the page finds that out by itself. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startInspectServer } from '../../deploy/playground/inspect-server.ts'
import { launchChromium, openPage } from './_chromium.ts'

let browser: Browser
beforeAll(async () => {
  browser = await launchChromium()
})
afterAll(() => browser?.close())

type Handler = (req: IncomingMessage, res: ServerResponse, method: string) => void | Promise<void>

async function inspect(handle: Handler): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString() || '{}') as { readonly method?: string }
    Object.assign(req, { body })
    await handle(req, res, String(body.method))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  const inspecting = await startInspectServer({
    server: new URL(address),
    headers: {},
    token: 'the-token',
    port: 0,
  })
  return {
    url: inspecting.url,
    async [Symbol.asyncDispose]() {
      await inspecting.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function answerBySdk(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const server = new McpServer({ name: 'shop', version: '1.0.0' })
  server.registerTool('opens', {}, () => ({ content: [{ type: 'text', text: 'At 8.' }] }))
  const transport = new StreamableHTTPServerTransport({})
  res.on('close', () => void server.close())
  await server.connect(transport as Parameters<McpServer['connect']>[0])
  await transport.handleRequest(req, res, (req as IncomingMessage & { body?: unknown }).body)
}

const refuse =
  (status: number, body: string): Handler =>
  (req, res, method) =>
    method === 'server/discover'
      ? void res.writeHead(status, { 'content-type': 'application/json' }).end(body)
      : answerBySdk(req, res)

test.each<[refusal: string, handle: Handler]>([
  ['SDK v1’s 400, -32000', answerBySdk],
  ['404 with a text', refuse(404, 'Not found')],
  ['200, -32601', refuse(200, '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"unknown"}}')],
])('%s: connected in the legacy era', async (_refusal, handle) => {
  await using server = await inspect(handle)
  await using opened = await openPage(browser, server.url)
  const { page } = opened
  await page
    .getByRole('status')
    .getByText(/^Connected/)
    .waitFor()
  expect(await page.getByRole('radio', { name: 'Auto: 2025-11-25' }).isChecked()).toBe(true)
  await page.getByRole('navigation').getByRole('button', { name: 'opens', exact: true }).click()
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await page.locator('.result').getByText('At 8.').first().waitFor()

  // Whoever then chooses the modern era is shown what it does.
  await page.getByRole('radio', { name: '2026-07-28', exact: true }).check()
  await page
    .getByRole('status')
    .getByText(/^The server (?:answers|refuses)/)
    .waitFor()
  await page.getByRole('radio', { name: 'Auto', exact: true }).check()
  await page.getByRole('radio', { name: 'Auto: 2025-11-25' }).waitFor()
})

test.each<[failure: string, reason: string, handle: Handler]>([
  ['500', 'Oops', refuse(500, 'Oops')],
  [
    '-32603',
    'Internal error',
    refuse(200, '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error"}}'),
  ],
])('%s of a modern server: its error is shown', async (_failure, reason, handle) => {
  await using server = await inspect(handle)
  await using opened = await openPage(browser, server.url)
  const { page } = opened
  await page.locator('.trouble').getByText(reason).waitFor()
  expect(await page.locator('#exchanges li').count()).toBe(1)
})

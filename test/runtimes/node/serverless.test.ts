/** `startHTTP` as other frameworks' documentation uses it: in a fetch handler, over fetch-to-node, and behind `auth`. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toFetchResponse, toReqRes } from 'fetch-to-node'
import { expect, it, onTestFinished } from 'vitest'
import { startHTTP } from '../../../adapters/node.ts'
import { jwt } from '../../../src/auth.ts'
import { createTool, MCPServer, type MCPServerConfig } from '../../../src/index.ts'

const hello = createTool({ id: 'hello', execute: () => 'hi' })

const create = (config: Partial<MCPServerConfig> = {}): MCPServer =>
  new MCPServer({ id: 'a', name: 'A', version: '1.0.0', log: false, tools: { hello }, ...config })

it('in a fetch handler: answered, and its promise resolves', async () => {
  const server = create()
  const handle = async (request: Request): Promise<Response> => {
    const { req, res } = toReqRes(request)
    const url = new URL(request.url)
    await startHTTP({ server, url, httpPath: '/mcp', req, res, options: { serverless: true } })
    return toFetchResponse(res)
  }
  const call = (path: string): Promise<Response> =>
    handle(
      new Request(`https://shop.example${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hello"}}',
      }),
    )
  const response = await call('/mcp')
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ result: { content: [{ text: 'hi' }] } })
  expect((await call('/elsewhere')).status).toBe(404)
})

it('behind auth: the metadata that its challenge names is there', async () => {
  const auth = jwt({ issuer: 'https://issuer.example', audience: 'shop' })
  const server = create({ auth })
  const http = createServer((req, res) => {
    const url = new URL(req.url ?? '', 'http://localhost')
    void startHTTP({ server, url, httpPath: '/mcp', req, res, options: { serverless: true } })
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void http.close())
  const refused = await fetch(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  })
  expect(refused.status).toBe(401)
  const [, named = ''] =
    /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? []
  const metadata = await fetch(named)
  expect(metadata.status).toBe(200)
  expect(await metadata.json()).toMatchObject({ authorization_servers: ['https://issuer.example'] })
})

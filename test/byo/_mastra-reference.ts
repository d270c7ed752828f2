/** The same project behind Mastra's own MCP servers, to compare with. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { MCPServer as Server1 } from 'mastra-mcp-1'
import { MCPServer as Server2 } from 'mastra-mcp-2'
import { deliver, refund, transfer, weather, working } from './mastra-project.ts'

const PATH = '/mcp'

export interface Reference {
  readonly url: string
  close(): Promise<void>
}

/** `@mastra/mcp` 1.x: sessions. */
export async function serveMastra1(): Promise<Reference> {
  const server = new Server1({
    id: 'reference',
    name: 'Reference',
    version: '1.0.0',
    tools: { weather, working, refund },
  })
  return listen((url, req, res) =>
    server.startHTTP({
      url,
      httpPath: PATH,
      req,
      res,
      options: { sessionIdGenerator: () => crypto.randomUUID() },
    }),
  )
}

/** `@mastra/mcp` 2.x: 2026-07-28 alone. */
export async function serveMastra2(): Promise<Reference> {
  const server = new Server2({
    id: 'reference',
    name: 'Reference',
    version: '1.0.0',
    tools: { weather, working, transfer, deliver },
  })
  return listen((url, req, res) => server.startHTTP({ url, httpPath: PATH, req, res }))
}

type Handle = (
  url: URL,
  ...[req, res]: Parameters<NonNullable<Parameters<typeof createServer>[1]>>
) => Promise<void>

async function listen(handle: Handle): Promise<Reference> {
  const http = createServer((req, res) => {
    handle(new URL(req.url ?? '/', 'http://127.0.0.1'), req, res).catch((error: unknown) => {
      res.statusCode = 500
      res.end(String(error))
    })
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}${PATH}`,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  }
}

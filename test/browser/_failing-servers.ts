/** The playground of `mayfly inspect` in front of servers that are down, hang, or answer anything but MCP. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startInspectServer } from '../../deploy/playground/inspect-server.ts'

export interface Inspected extends AsyncDisposable {
  readonly url: string
}

export type Answer = (
  response: ServerResponse,
  message: { readonly method?: string; readonly id?: unknown; readonly params?: { readonly name?: unknown } },
) => void

/** Opens the playground in front of a server that answers each message by `answer`. Undefined: nothing listens. */
export async function inspectServer(answer: Answer | undefined): Promise<Inspected> {
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    answer?.(response, JSON.parse(Buffer.concat(chunks).toString() || '{}') as object)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  if (answer === undefined) await close()
  const inspecting = await startInspectServer({
    server: new URL(`http://127.0.0.1:${port}/api`),
    headers: {},
    token: 'the-token',
    port: 0,
  })
  return {
    url: inspecting.url,
    async [Symbol.asyncDispose]() {
      await inspecting.close()
      if (answer !== undefined) await close()
    },
  }
}

const write =
  (status: number, headers: Record<string, string>, body: string): Answer =>
  (response) =>
    void response.writeHead(status, headers).end(body)

const html = { 'content-type': 'text/html; charset=utf-8' }
const json = { 'content-type': 'application/json' }

export interface Failing {
  readonly answer: Answer | undefined
  readonly title: string
  readonly reason: string
  readonly advice: string
}

/** Each with what the page says. */
export const FAILING: { readonly [state: string]: Failing } = {
  down: {
    answer: undefined,
    title: 'The server is down',
    reason: 'ECONNREFUSED',
    advice: 'Is the server running, and is the URL right?',
  },
  hangs: {
    answer: () => {},
    title: 'The server does not answer',
    reason: 'no answer within 20 s',
    advice: 'Look at its log for what it waits for',
  },
  html: {
    answer: write(
      200,
      html,
      '<!doctype html><title>Acme intranet</title><style>a{}</style><h1>Welcome &gt; you</h1>',
    ),
    title: 'This is a web page, not an MCP server',
    reason: 'Acme intranet Welcome > you',
    advice: 'The path of the URL is /api. The endpoint is often at /mcp.',
  },
  'not found': {
    answer: write(404, html, '<!doctype html><title>404 Nothing here</title>'),
    title: 'This is a web page, not an MCP server',
    reason: '404: 404 Nothing here',
    advice: 'The endpoint is often at /mcp.',
  },
  401: {
    answer: write(
      401,
      {
        ...json,
        'www-authenticate': 'Bearer error="invalid_token", error_description="The token is of last year"',
      },
      '{}',
    ),
    title: 'The server asks for authorization',
    reason: 'The token is of last year',
    advice: 'Sign in with OAuth, or paste an access token.',
  },
  502: {
    answer: write(502, html, '<html><body><center><h1>502 Bad Gateway</h1></center><hr>nginx</body></html>'),
    title: 'The server answers 502',
    reason: '502 Bad Gateway nginx',
    advice: 'it may be starting, restarting or out of memory',
  },
  500: {
    answer: write(500, json, '{"error":"the DATABASE_URL is missing"}'),
    title: 'The server answers 500',
    reason: 'the DATABASE_URL is missing',
    advice: 'its log has the error',
  },
  text: {
    answer: write(200, { 'content-type': 'text/plain' }, 'It works!'),
    title: 'The answer is not MCP',
    reason: '200: It works!',
    advice: 'Check the URL',
  },
  empty: {
    answer: write(200, {}, ''),
    title: 'The answer is not MCP',
    reason: 'The body is empty.',
    advice: 'Check the URL',
  },
}

/** A server of 2026-07-28 whose tools are `tools`. `called` is the JSON that each call is answered with. */
export const serveTools =
  (
    tools: readonly object[],
    called: (name: string) => string = () => '{"content":[{"type":"text","text":"done"}]}',
  ): Answer =>
  (response, { id, method, params }) => {
    const result =
      method === 'server/discover'
        ? { serverInfo: { name: 'many', version: '1.0.0' }, capabilities: { tools: {} } }
        : method === 'tools/list'
          ? { tools }
          : undefined
    // As text: numbers keep their digits.
    const body = result === undefined ? called(String(params?.name)) : JSON.stringify(result)
    response.writeHead(200, json).end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${body}}`)
  }

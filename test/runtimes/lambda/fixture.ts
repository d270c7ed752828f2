/**
 * The server that the tests in this folder run on Lambda: an MCP server whose tools strain the platform, and a few plain
 * paths that show what the function was given. What two calls have to agree on goes through files, since they may run in
 * two processes.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { createMemoryBus, createTool, type FetchServer, MCPServer, type RequestPlatform } from 'mayfly-mcp'
import * as z from 'zod'

let calls = 0
const secretWhileLoading = process.env.API_KEY ?? null

const delay = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

async function untilExists(file: string): Promise<void> {
  while (!existsSync(file)) await delay(10)
}

const file = z.object({ file: z.string() })

const server = new MCPServer({
  id: 'lambda-fixture',
  name: 'Lambda fixture',
  version: '1.0.0',
  bus: createMemoryBus(),
  tools: {
    echo: createTool({
      id: 'echo',
      description: 'Says the same.',
      inputSchema: z.object({ text: z.string() }),
      execute: ({ text }) => text,
    }),
    fill: createTool({
      id: 'fill',
      description: 'Says one character many times.',
      inputSchema: z.object({ character: z.string(), times: z.int() }),
      execute: ({ character, times }) => character.repeat(times),
    }),
    hang: createTool({
      id: 'hang',
      description: 'Never ends, whatever it is told.',
      execute: () => new Promise<string>(() => {}),
    }),
    spin: createTool({
      id: 'spin',
      description: 'Reports progress, and once a file exists never ends and lets nothing else run.',
      inputSchema: z.object({ file: z.string().optional() }),
      execute: async (input, ctx) => {
        ctx.reportProgress({ progress: 1 })
        if (input.file !== undefined) await untilExists(input.file)
        for (;;) if (calls < 0) return 'never'
      },
    }),
    wait: createTool({
      id: 'wait',
      description:
        'Reports progress, and ends once a file exists; says in another whether it was told to stop.',
      inputSchema: z.object({ file: z.string(), written: z.string().optional() }),
      execute: async (input, ctx) => {
        ctx.reportProgress({ progress: 1 })
        await untilExists(input.file)
        if (input.written !== undefined)
          writeFileSync(input.written, ctx.signal.aborted ? 'aborted' : 'not aborted')
        return 'it exists'
      },
    }),
    write_later: createTool({
      id: 'write_later',
      description: 'Answers at once, and writes a file a moment later.',
      inputSchema: file,
      execute: (input, ctx) => {
        ctx.waitUntil(delay(200).then(() => writeFileSync(input.file, 'written')))
        return 'answered'
      },
    }),
    follow: createTool({
      id: 'follow',
      description: 'Answers at once, and writes a file after another has appeared.',
      inputSchema: z.object({ after: z.string(), file: z.string() }),
      execute: (input, ctx) => {
        ctx.waitUntil(untilExists(input.after).then(() => writeFileSync(input.file, 'written')))
        return 'answered'
      },
    }),
    process: createTool({
      id: 'process',
      description: 'Which process this is, and what it knows.',
      execute: (_input, { env }) => ({
        pid: process.pid,
        calls,
        secret: (env as { API_KEY?: string }).API_KEY ?? null,
        secretWhileLoading,
        secretsVariable: process.env.MAYFLY_SECRETS ?? null,
      }),
    }),
    guarded: createTool({
      id: 'guarded',
      description: 'For keepers.',
      enabled: false,
      execute: () => 'open',
    }),
  },
  setup: (requestServer, request) => {
    if (request.headers.get('x-keeper') === 'yes') requestServer.tool('guarded').enable()
  },
  log: false,
  http: { streamAfterMs: 250, keepAliveMs: 100, maxBodyBytes: 100_000 },
})

/** What the function was given, as JSON. */
async function show(request: Request, platform: RequestPlatform): Promise<Response> {
  const { prefix, clientAddress, canStream, maxResponseBytes, deadline, deadlineName } = platform
  const { method, url, headers } = request
  const body = Buffer.from(await request.arrayBuffer()).toString('base64')
  const remainingMs = deadline === undefined ? null : deadline - Date.now()
  const facts = { prefix, clientAddress, canStream, maxResponseBytes, remainingMs, deadlineName }
  return Response.json({ method, url, headers: [...headers], body, ...facts })
}

export const PICTURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0, 255, 254)

const fixture: FetchServer = {
  fetch: server.fetch,
  handle: async (request, platform) => {
    calls++
    const { pathname } = new URL(request.url)
    if (pathname.endsWith('/show')) return show(request, platform)
    if (pathname.endsWith('/picture'))
      return new Response(PICTURE, { headers: { 'content-type': 'image/png' } })
    if (pathname.endsWith('/cookies')) {
      const headers = new Headers({ 'x-seen': request.headers.get('cookie') ?? '' })
      for (const cookie of ['a=1; Path=/', 'b=2; Path=/']) headers.append('set-cookie', cookie)
      return new Response(null, { status: 204, headers })
    }
    return server.handle(request, platform)
  },
}

export default fixture

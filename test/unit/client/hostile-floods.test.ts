/** Servers that send more than anybody asked for, and make a client do what they like again and again. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createMemoryOAuthStorage, createOAuthProvider } from '../../../src/client.ts'
import { failing, onCall } from '../../hostile/server/answers.ts'
import { wantingToken } from '../../hostile/server/authorization.ts'
import { dropping, endingSubscriptions, FLOODS, flooding } from '../../hostile/server/floods.ts'
import { type Exchange, startHostile } from '../../hostile/server/server.ts'
import { visit } from './_hostile.ts'
import { createClient } from './_servers.ts'

const PROCESS = fileURLToPath(new URL('../../hostile/server/process.ts', import.meta.url))

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'mayfly-hostile-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe('a flood', () => {
  it.each(Object.entries(FLOODS))('of %s: a few are acted on, and calls go on', async (_what, make) => {
    const heard = { logs: 0, tools: 0, updates: new Set<string>(), calls: 0 }
    const { server, client, reported, call } = await visit(flooding(make), { log: () => heard.logs++ })
    client.resources.onUpdated('evil', ({ uri }) => {
      heard.calls++
      heard.updates.add(uri)
    })
    await client.tools.onListChanged('evil', () => {
      heard.tools++
      // As programs do: each change is one more request. The client may be disconnected before the last has its answer.
      client.listTools().catch((error) => expect(error).toMatchObject({ code: 'DISCONNECTED' }))
    })
    const startedAt = Date.now()
    await server.flood(20_000)
    await pause(300)
    const requests = server.seen.length

    expect(await call()).toMatchObject({ content: [{ text: 'Hello' }] })

    const seconds = Math.ceil((Date.now() - startedAt) / 1000)
    expect(heard.tools).toBeLessThan(2 + 2 * seconds)
    expect(heard.calls).toBeLessThan(1000 * (1 + 2 * seconds))
    expect(heard.logs).toBeLessThan(1100 + 200 * seconds)
    expect(reported.length).toBeLessThan(12 + seconds)
    expect(requests).toBeLessThan(100 + 10 * seconds)
  })

  it('the last of many changes is heard of', async () => {
    const { server, client } = await visit(
      flooding((index) =>
        index % 2 === 0 ? FLOODS['changes of the tools']!(index) : FLOODS['updates of a resource']!(index),
      ),
    )
    const heard: string[] = []
    await client.tools.onListChanged('evil', () => heard.push('tools'))
    client.resources.onUpdated('evil', ({ uri }) => heard.push(uri))

    // At once: the first of each is passed on, and the last of those that come within half a second of it.
    await server.flood(202)

    await expect.poll(() => [...heard].sort()).toEqual(['news://today', 'news://today', 'tools', 'tools'])
    await pause(1200)
    expect(heard).toHaveLength(4)
  })
})

describe('what is asked for again', () => {
  it('a call is not, for an error that speaks of a session', async () => {
    let runs = 0
    const server = startHostile(({ message, json, response }) => {
      if (message?.method === 'initialize') {
        const result = {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'x', version: '1' },
        }
        json({ jsonrpc: '2.0', id: message.id, result }, 200, { 'mcp-session-id': 'one' })
        return true
      }
      if (message?.method !== 'tools/call') return false
      runs++
      response.writeHead(400).end('Paid. The checkout session is closed.')
      return true
    })
    const { call } = await visit(server)

    await expect(call()).rejects.toMatchObject({ code: 'REQUEST_FAILED' })

    expect(runs).toBe(1)
  })

  it('a subscription that the server ends at once is opened ever later', async () => {
    const { server, client } = await visit(endingSubscriptions())
    await client.tools.onListChanged('evil', () => {}).catch(() => {})
    await pause(2500)

    const listens = server.seen.filter(({ body }) => body.includes('subscriptions/listen'))
    expect(listens.length).toBeLessThan(6)
  })

  it('a stream that the server drops once it is subscribed to is opened ever later', async () => {
    const { server, client } = await visit(dropping())
    await client.resources.subscribe('evil', 'news://today')
    await pause(2500)

    expect(server.seen.filter(({ method }) => method === 'GET').length).toBeLessThan(6)
  })

  it('a process that ends once it is subscribed to is started ever later', async () => {
    const file = join(folder, 'starts')
    const args = [PROCESS, 'ending once subscribed', file]
    const client = createClient({
      servers: { evil: { command: process.execPath, args, timeoutMs: 5000 } },
      onError: () => {},
    })
    await client.resources.subscribe('evil', 'news://today')
    await pause(4000)

    expect(readFileSync(file, 'utf8').length).toBeLessThan(5)
  })

  it('a server that fails is asked no more often than it is needed', async () => {
    const { server, client } = await visit(
      startHostile(({ response }) => {
        response.writeHead(503).end()
        return true
      }),
    )

    await client.listTools()
    await pause(500)

    expect(server.seen.length).toBeLessThan(4)
  })
})

describe('the console', () => {
  it('gets errors on one line, without control characters, and not too long', async () => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => printed.mockRestore())
    const text = `\u001b[2J\u001b]0;owned\u0007\nERROR all is lost\r\u202e${'x'.repeat(5000)}`
    const server = await startHostile(({ message, json }) => {
      if (message?.method !== 'tools/list') return false
      json({ jsonrpc: '2.0', id: message.id, error: { code: -32000, message: text } })
      return true
    })
    onTestFinished(() => server[Symbol.asyncDispose]())
    const client = createClient({ servers: { evil: { url: server.url } } })

    await client.listTools()

    expect(printed).toHaveBeenCalledTimes(1)
    const [line] = printed.mock.calls[0] as [string]
    expect(line).toContain('MCP server "evil"')
    expect(line.length).toBeLessThan(600)
    expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  })

  const TEXT = `\u001b[2J\u009b2J\u202e\n${'x'.repeat(100_000)}`
  it.each<[what: string, refusal: (exchange: Exchange) => unknown]>([
    ['a text', ({ response }) => response.writeHead(500).end(TEXT)],
    ['a text with status 200', ({ response }) => response.writeHead(200).end(TEXT)],
    ['a list', ({ json }) => json([TEXT], 400)],
    ['an error', ({ json }) => json({ error: 'invalid_grant', error_description: TEXT }, 400)],
    ['an error with status 200', ({ json }) => json({ error: 'server_error', error_description: TEXT })],
    ['an error of no form', ({ json }) => json({ error: { TEXT }, error_description: TEXT }, 400)],
    ['an error of no form with status 200', ({ json }) => json({ error: { TEXT }, more: TEXT })],
    ['an error with a page', ({ json }) => json({ error: 'invalid_client', error_uri: [TEXT] }, 401)],
  ])('gets a short line where a token cannot be refreshed: %s', async (_what, refresh) => {
    const spies = (['log', 'info', 'warn', 'error'] as const).map((name) =>
      vi.spyOn(console, name).mockImplementation(() => {}),
    )
    onTestFinished(() => {
      for (const spy of spies) spy.mockRestore()
    })
    const redirects: URL[] = []
    const authProvider = createOAuthProvider({
      storage: createMemoryOAuthStorage(),
      redirectUrl: 'http://127.0.0.1:9/callback',
      onRedirect: (url) => redirects.push(url),
    })
    const { client } = await visit(wantingToken({ refresh }), { authProvider })
    await client.listTools()
    const state = redirects[0]?.searchParams.get('state') ?? ''
    await client.finishAuth('evil', new URLSearchParams({ code: 'code', state }))

    await client.listTools()

    expect(redirects).toHaveLength(2)
    const lines = spies.flatMap(({ mock }) => mock.calls.map(([line]) => String(line)))
    expect(lines).toHaveLength(1)
    expect(lines[0]!.length).toBeLessThan(1000)
    expect(lines[0]).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  })

  it('gets nothing else, whatever a server sends', async () => {
    const spies = (['log', 'info', 'warn', 'error'] as const).map((name) =>
      vi.spyOn(console, name).mockImplementation(() => {}),
    )
    onTestFinished(() => {
      for (const spy of spies) spy.mockRestore()
    })
    for (const make of Object.values(FLOODS)) {
      const { server, client, call } = await visit(flooding(make))
      await client.listTools()
      await server.flood(50)
      await call()
    }
    const { call } = await visit(failing(500, '\u001b[2J'))
    await call().catch(() => {})
    const { call: other } = await visit(onCall(({ response }) => response.destroy()))
    await other().catch(() => {})

    for (const spy of spies) expect(spy).not.toHaveBeenCalled()
  })
})

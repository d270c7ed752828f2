/** How often a call is sent, whatever its server answers: a payment must not be made twice. */
import { describe, expect, it } from 'vitest'
import type { MCPClientConfig } from '../../../src/client.ts'
import { onCall } from '../../hostile/server/answers.ts'
import { type Exchange, startHostile } from '../../hostile/server/server.ts'
import { visit } from './_hostile.ts'

const STATUSES = [400, 401, 403, 405, 408, 409, 410, 415, 425, 429, 500, 502, 503, 504]

const ANSWERS: readonly (readonly [string, (exchange: Exchange) => unknown])[] = [
  ...STATUSES.map(
    (status) =>
      [
        `HTTP ${status}`,
        ({ response }: Exchange) => response.writeHead(status, { 'retry-after': '0' }).end('No session.'),
      ] as const,
  ),
  ['404 without a session', ({ response }) => response.writeHead(404).end('No such session.')],
  ...[307, 308].flatMap((status) =>
    ['/mcp', '/elsewhere'].map(
      (location) =>
        [
          `HTTP ${status} to ${location}`,
          ({ response }: Exchange) => response.writeHead(status, { location }).end(),
        ] as const,
    ),
  ),
  ['a connection that breaks', ({ response }) => response.destroy()],
  [
    'an answer that breaks off',
    ({ response }) =>
      response.writeHead(200, { 'content-type': 'application/json' }).write('{') && response.destroy(),
  ],
  ['a stream without an answer', ({ events, response }) => events() && response.end()],
  ['202 and nothing', ({ response }) => response.writeHead(202).end()],
  ['no JSON', ({ response }) => response.writeHead(200, { 'content-type': 'application/json' }).end('paid')],
  ...[-32000, -32001, -32002, -32021, -32022, -32600, -32601, -32602, -32603].map(
    (code) =>
      [
        `the error ${code}`,
        ({ json, message }: Exchange) =>
          json({ jsonrpc: '2.0', id: message?.id, error: { code, message: 'Session not found' } }),
      ] as const,
  ),
]

const CONFIG: Pick<MCPClientConfig, 'timeoutMs'> = { timeoutMs: 1500 }

async function timesSent(answer: (exchange: Exchange) => unknown, era: 'modern' | 'legacy'): Promise<number> {
  const { server, call } = await visit(onCall(answer, era), CONFIG)
  await call().catch(() => {})
  await new Promise((resolve) => setTimeout(resolve, 50))
  return server.seen.filter(({ body }) => body.includes('"tools/call"')).length
}

describe.each(['modern', 'legacy'] as const)('a %s server', (era) => {
  it.each(ANSWERS)('that answers a call with %s → it is sent once', async (_what, answer) => {
    expect(await timesSent(answer, era)).toBe(1)
  })

  // The Fetch standard sends such a request again by itself: it reached the wrong server.
  it('that answers a call with HTTP 421 again and again → it is sent twice', async () => {
    expect(await timesSent(({ response }) => response.writeHead(421).end(), era)).toBe(2)
  })
})

describe.each(['modern', 'legacy'] as const)('a %s server that has moved', (era) => {
  const moved = (status: number) =>
    startHostile(
      ({ path, response }) => {
        if (path === '/mcp/') return false
        response.writeHead(status, { location: '/mcp/' }).end()
        return true
      },
      { era },
    )

  it.each([307, 308])('all of it, by HTTP %i → a call goes to the new address at once', async (status) => {
    const { server, call } = await visit(moved(status), CONFIG)
    for (let calls = 1; calls <= 2; calls++)
      expect(await call()).toMatchObject({ content: [{ text: 'Hello' }] })
    const sent = server.seen.filter(({ body }) => body.includes('"tools/call"'))
    expect(sent.map(({ path }) => path)).toEqual(['/mcp/', '/mcp/'])
  })

  it('while it was connected → the call fails with what to do, and the next one arrives', async () => {
    let hasMoved = false
    const { server, call } = await visit(
      startHostile(
        ({ path, message, response }) => {
          hasMoved ||= message?.method === 'tools/call'
          if (!hasMoved || path === '/mcp/') return false
          response.writeHead(308, { location: '/mcp/' }).end()
          return true
        },
        { era },
      ),
      CONFIG,
    )
    await expect(call()).rejects.toMatchObject({
      code: 'REQUEST_FAILED',
      message: expect.stringContaining('sent once'),
    })
    expect(await call()).toMatchObject({ content: [{ text: 'Hello' }] })
    expect(server.seen.filter(({ body }) => body.includes('"tools/call"'))).toHaveLength(2)
  })
})

it('a legacy server that loses its sessions (404) again and again → it is sent twice', async () => {
  const { server, call } = await visit(
    startHostile(({ message, json, response }) => {
      if (message?.method === 'initialize') {
        const result = {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'forgetful', version: '1' },
        }
        json({ jsonrpc: '2.0', id: message.id, result }, 200, { 'mcp-session-id': 'one' })
      } else if (message?.method === 'tools/call') response.writeHead(404).end()
      else return false
      return true
    }),
    CONFIG,
  )
  await call().catch(() => {})
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(server.seen.filter(({ body }) => body.includes('"tools/call"'))).toHaveLength(2)
})

it('a modern server that refuses a call for its headers (-32020) again and again → it is sent twice', async () => {
  const error = { code: -32020, message: 'The headers contradict the body.' }
  expect(
    await timesSent(({ json, message }) => json({ jsonrpc: '2.0', id: message?.id, error }, 400), 'modern'),
  ).toBe(2)
})

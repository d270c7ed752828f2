/** Speaks to sessions without a client and without a socket: anything can be sent, and what is not read stays where it is. */
import { createSessions, type Sessions, type SessionsOptions } from '../../../adapters/node.ts'
import type { MCPServerConfig } from '../../../src/index.ts'
import { createFixture } from './_session-server.ts'

const running: Sessions[] = []

/** Ends those that `start` has begun. */
export const endSessions = (): Promise<unknown> =>
  Promise.all(running.splice(0).map((sessions) => sessions.close()))

export const CLIENT = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'raw', version: '1' },
}

/** Sessions without a socket, so that what is not read stays where it is. */
export function start(options: SessionsOptions = {}, config: Partial<MCPServerConfig> = {}, token?: string) {
  const { server } = createFixture(config)
  const sessions = createSessions(server, options)
  running.push(sessions)
  const send = (init: RequestInit, id?: string): Promise<Response> => {
    const headers = {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(id !== undefined && { 'mcp-session-id': id }),
    }
    return sessions.fetch(new Request('http://localhost/mcp', { headers, ...init })) as Promise<Response>
  }
  const post = (id: string | undefined, method: string, params: object, rpcId: unknown = 1) =>
    send({ method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: rpcId, method, params }) }, id)
  const open = async (more: object = {}): Promise<string> => {
    const opened = await post(undefined, 'initialize', { ...CLIENT, ...more })
    await opened.text()
    return opened.headers.get('mcp-session-id')!
  }
  return { server, sessions, send, post, open }
}

/** The message in an answer, be it JSON or an event. */
export async function read(response: Response): Promise<{ result?: unknown; error?: { code: number } }> {
  return JSON.parse((await response.text()).replace(/^[\s\S]*?(?:data: |(?=\{))/, ''))
}

/** What the clients of sessions hear of changes: as long as their token holds, what it allows, and never all at once. */

import { afterEach, describe, expect, it, vi } from 'vitest'
import { startHonoSSE } from '../../../adapters/node-mastra.ts'
import { bearer } from '../../../src/auth.ts'
import { createMemoryBus, createResource, MCPServer, type MCPServerConfig } from '../../../src/index.ts'
import { eventually } from '../../_eventually.ts'
import { endSessions, read, start } from './_raw-sessions.ts'

afterEach(endSessions)

const open = createResource({ uriTemplate: 'open://{name}', read: () => '' })
const secret = createResource({ uriTemplate: 'secret://{name}', scopes: ['admin'], read: () => '' })

/** Tokens of one client: `admin` has the scope, and holds for `seconds` from each request on. */
function guarded(seconds: number): Partial<MCPServerConfig> {
  const auth = bearer((token) => ({
    clientId: 'c',
    scopes: token === 'admin' ? ['admin'] : [],
    ...(token === 'admin' && { expiresAt: Date.now() / 1000 + seconds }),
  }))
  return { auth, resources: [open, secret] }
}

/** Reads a stream until it ends. */
function hear({ body }: Response): { text: string; hasEnded: boolean } {
  const heard = { text: '', hasEnded: false }
  const reading = async () => {
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) heard.text += chunk
    heard.hasEnded = true
  }
  void reading().catch(() => {})
  return heard
}

const updates = ({ text }: { text: string }): number =>
  text.split('notifications/resources/updated').length - 1

describe('a stream of notifications is bound to its token', () => {
  const accept = 'application/json, text/event-stream'
  const as = (token: string, id: string) => ({
    method: 'GET',
    headers: { accept, authorization: `Bearer ${token}`, 'mcp-session-id': id },
  })

  it('and ends with it [listen.graceful]', async () => {
    const { server, send, post, open } = start({}, guarded(1.5), 'admin')
    const id = await open()
    await read(await post(id, 'resources/subscribe', { uri: 'secret://1' }))
    const heard = hear(await send(as('admin', id)))
    await server.resources.notifyUpdated({ uri: 'secret://1' })
    await eventually(() => expect(updates(heard)).toBe(1))
    await eventually(() => expect(heard.hasEnded).toBe(true))
    // Its place is free for the client's next token.
    expect((await send(as('user', id))).status).toBe(200)
  })

  it('a token with fewer scopes than the one that subscribed hears less [listen.delivery] [auth.scopes]', async () => {
    const { server, send, post, open } = start({}, guarded(60), 'admin')
    const id = await open()
    for (const uri of ['secret://1', 'open://1']) await read(await post(id, 'resources/subscribe', { uri }))
    const heard = hear(await send(as('user', id)))
    for (const uri of ['secret://1', 'open://1']) await server.resources.notifyUpdated({ uri })
    await eventually(() => expect(heard.text).toContain('open://1'))
    expect(heard.text).not.toContain('secret://1')
  })

  it('that of startHonoSSE ends with it, too [listen.graceful]', async () => {
    const server = new MCPServer({ id: 's', name: 'S', version: '1', log: false, ...guarded(1) })
    const url = new URL('http://localhost/sse')
    const raw = new Request(url, { headers: { authorization: 'Bearer admin' } })
    const route = { url, ssePath: '/sse', messagePath: '/message', context: { req: { raw } } }
    const heard = hear(await startHonoSSE({ server, ...route }))
    await eventually(() => expect(heard.text).toContain('event: endpoint'))
    expect(heard.hasEnded).toBe(false)
    await eventually(() => expect(heard.hasEnded).toBe(true))
  })
})

it('canSubscribe decides what a session subscribes to [listen.can-subscribe]', async () => {
  const owned = createResource({
    uriTemplate: 'order://{owner}',
    read: () => '',
    canSubscribe: ({ variables }, { auth }) => variables.owner === auth?.clientId,
  })
  const auth = bearer((token) => ({ clientId: token }))
  const { server, send, post, open } = start({}, { auth, resources: [owned] }, 'ann')
  const id = await open()
  for (const uri of ['order://bob', 'order://ann']) await read(await post(id, 'resources/subscribe', { uri }))
  const heard = hear(await send({ method: 'GET' }, id))
  for (const uri of ['order://bob', 'order://ann']) await server.resources.notifyUpdated({ uri })
  await eventually(() => expect(heard.text).toContain('order://ann'))
  expect(heard.text).not.toContain('order://bob')
})

describe('after a gap', () => {
  const SESSIONS = 6
  const URIS = 300

  it('sessions are told in turns, and calls are answered meanwhile; one without a stream is skipped [bus.sessions]', async () => {
    const bus = createMemoryBus()
    const { send, post, open } = start(
      {},
      { bus, resources: [createResource({ uriTemplate: 'a://{x}', read: () => '' })] },
    )
    const streams = await Promise.all(
      Array.from({ length: SESSIONS }, async (_, index) => {
        const id = await open()
        for (let uri = 0; uri < URIS; uri++)
          await read(await post(id, 'resources/subscribe', { uri: `a://${uri}` }))
        return index === 0 ? { text: '' } : hear(await send({ method: 'GET' }, id))
      }),
    )
    // A clock that moves by a millisecond for each look at it: how many turns are needed depends on no machine.
    let now = performance.now()
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now++)
    let turns = 0
    let isDone = false
    const count = (): void => {
      turns++
      if (!isDone) setImmediate(count)
    }
    setImmediate(count)

    for (let time = 0; time < 10; time++) void bus.publish({ type: 'gap' })

    // Before, everything left in one turn.
    const [, ...listening] = streams
    const told = () => listening.map(updates)
    for (let turn = 0; turn < 100_000 && told().some((count) => count < URIS); turn++)
      await new Promise((resolve) => setImmediate(resolve))
    isDone = true
    clock.mockRestore()
    expect(told()).toEqual(listening.map(() => URIS))
    // At most ten messages in each.
    expect(turns).toBeGreaterThan(((SESSIONS - 1) * URIS) / 10)
    expect(streams[0]!.text).toBe('')
  })
})

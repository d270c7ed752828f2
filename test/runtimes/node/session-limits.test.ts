/** What one client can make a session keep. */
import { afterEach, describe, expect, it } from 'vitest'
import { createResource, createTool } from '../../../src/index.ts'
import { eventually } from '../../_eventually.ts'
import { CLIENT, endSessions, read, start } from './_raw-sessions.ts'

afterEach(endSessions)

describe('what a session keeps of its client', () => {
  const long = 'x'.repeat(40_000)
  it.each([
    ['clientInfo', { clientInfo: { name: long, version: '1' } }],
    ['capabilities', { capabilities: { experimental: { mine: { value: long } } } }],
  ])('%s of more than 32 768 characters → -32602, and no session', async (_what, params) => {
    const { sessions, post } = start()
    const refused = await read(await post(undefined, 'initialize', { ...CLIENT, ...params }))
    expect(refused.error?.code).toBe(-32602)
    await eventually(() => expect(sessions.size).toBe(0))
  })

  it('what clients say of themselves fits', async () => {
    const { sessions, open } = start()
    const icons = [{ src: `data:image/png;base64,${'A'.repeat(20_000)}` }]
    await open({ clientInfo: { name: 'raw', version: '1', icons } })
    expect(sessions.size).toBe(1)
  })

  it('URIs of subscriptions have 100 000 characters in all', async () => {
    const { post, open } = start()
    const id = await open()
    const uri = (n: number) => `note://${n}`.padEnd(30_000, '0')
    const subscribe = async (n: number, method = 'resources/subscribe') =>
      (await read(await post(id, method, { uri: uri(n) }))).error?.code
    expect([await subscribe(1), await subscribe(2), await subscribe(3)]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    expect(await subscribe(4)).toBe(-32602)
    // One that is there already takes no more room, and one that goes gives it back.
    expect(await subscribe(3)).toBeUndefined()
    await subscribe(1, 'resources/unsubscribe')
    expect(await subscribe(4)).toBeUndefined()
  })
})

describe.each([true, false])(
  'a batch of which all answers are large, enableJsonResponse: %s',
  (enableJsonResponse) => {
    it('gets 4 MiB of them, and an error for each other request', async () => {
      const manual = createResource({ uri: 'docs://manual', read: () => 'x'.repeat(1_000_000) })
      const { open, send } = start({ enableJsonResponse }, { resources: [manual] })
      const id = await open({ protocolVersion: '2025-03-26' })
      const message = { jsonrpc: '2.0', method: 'resources/read', params: { uri: 'docs://manual' } }
      const body = JSON.stringify(Array.from({ length: 20 }, (_, at) => ({ ...message, id: at + 10 })))
      const text = await (await send({ method: 'POST', body }, id)).text()
      expect(text.length).toBeLessThan(4_300_000)
      expect(text.match(/"contents"/g)).toHaveLength(4)
      expect(text.match(/"limit":"responseBytes"/g)).toHaveLength(16)
    })
  },
)

const MEGABYTE = 'x'.repeat(1024 * 1024)

/** A tool that sends 100 messages of a megabyte, and remembers how it ended. */
function createFlood() {
  const ended: string[] = []
  const flood = createTool({
    id: 'flood',
    execute: async (_input, ctx) => {
      for (let sent = 0; sent < 100 && !ctx.signal.aborted; sent++) {
        ctx.log('info', MEGABYTE)
        await new Promise((resolve) => setImmediate(resolve))
      }
      ended.push(ctx.signal.aborted ? 'aborted' : 'done')
      return 'flooded'
    },
  })
  return { tools: { flood }, ended }
}
const FLOOD = { name: 'flood', arguments: {} }

/** What can be read of a body until it ends, breaks or holds `last`, in characters. */
async function readable(
  { body }: Response,
  last?: string,
): Promise<{ characters: number; error: unknown; text: string }> {
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader()
  let [characters, text] = [0, '']
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return { characters, error: undefined, text }
      characters += value.length
      text = value.slice(-200)
      if (last !== undefined && text.includes(last)) return { characters, error: undefined, text }
    }
  } catch (error) {
    return { characters, error, text }
  }
}

describe('streams that nobody reads are cut at 8 MB', () => {
  it('that of a call; the call itself goes on, as its client may come again [limits.slow-reader]', async () => {
    const { tools, ended } = createFlood()
    const { post, open } = start({}, { tools })
    const id = await open()
    const response = await post(id, 'tools/call', FLOOD)
    await eventually(() => expect(ended).toEqual(['done']))
    const { characters, error } = await readable(response)
    expect(error).toMatchObject({ message: expect.stringContaining('too slowly') })
    expect(characters).toBeLessThan(10 * MEGABYTE.length)
    expect((await read(await post(id, 'ping', {}))).result).toEqual({})
  })

  it('one that is read is not', async () => {
    const { tools } = createFlood()
    const { post, open } = start({}, { tools })
    const { characters, error, text } = await readable(await post(await open(), 'tools/call', FLOOD))
    expect(error).toBeUndefined()
    expect(characters).toBeGreaterThan(100 * MEGABYTE.length)
    expect(text).toContain('flooded')
  })

  it('that of notifications', async () => {
    const uri = `note://${'x'.repeat(90_000)}`
    const { server, send, post, open } = start()
    const id = await open()
    await read(await post(id, 'resources/subscribe', { uri }))
    const stream = await send({ method: 'GET' }, id)
    for (let told = 0; told < 200; told++) {
      await server.resources.notifyUpdated({ uri })
      // What is published before the transport takes it is sent once.
      await new Promise((resolve) => setImmediate(resolve))
    }
    // A second stream is refused until the first is cut off.
    await eventually(async () => expect((await send({ method: 'GET' }, id)).status).toBe(200))
    expect((await readable(stream)).error).toMatchObject({ message: expect.stringContaining('too slowly') })
  })

  it('what is replayed to a client that comes again may be larger', async () => {
    const { tools, ended } = createFlood()
    const eventStore = createStore()
    const { send, post, open } = start({ eventStore }, { tools })
    const id = await open()
    const response = await post(id, 'tools/call', FLOOD)
    await eventually(() => expect(ended).toEqual(['done']))
    await readable(response)
    await eventually(() => expect(eventStore.events.at(-1)).toContain('flooded'))
    const headers = { 'mcp-session-id': id, accept: 'text/event-stream', 'last-event-id': eventStore.first() }
    const { characters, error } = await readable(await send({ method: 'GET', headers }, id), 'flooded')
    expect(error).toBeUndefined()
    expect(characters).toBeGreaterThan(90 * MEGABYTE.length)
  })

  it('what a slow store of events has not taken yet counts, too, and the call is ended', async () => {
    const { tools, ended } = createFlood()
    const eventStore = createStore()
    let gate: Promise<unknown> | undefined
    const storeEvent = async (stream: string, message: never): Promise<string> => {
      await gate
      return eventStore.storeEvent(stream, message)
    }
    const { post, open } = start({ eventStore: { ...eventStore, storeEvent } }, { tools, onError: () => {} })
    const id = await open()
    let release = (): void => {}
    gate = new Promise<void>((resolve) => {
      release = resolve
    })
    await post(id, 'tools/call', FLOOD)
    await eventually(() => expect(ended).toEqual(['aborted']))
    release()
  })
})

/** Keeps the events of one stream at a time: enough for one client. */
function createStore() {
  const kept: { id: string; streamId: string; message: never }[] = []
  return {
    get events() {
      return kept.map(({ message }) => JSON.stringify(message).slice(-200))
    },
    first: () => kept.find(({ message }) => JSON.stringify(message).includes('notifications/message'))!.id,
    async storeEvent(streamId: string, message: never) {
      const id = `${streamId}/${kept.length}`
      kept.push({ id, streamId, message })
      return id
    },
    async replayEventsAfter(
      lastEventId: string,
      { send }: { send: (id: string, message: never) => Promise<void> },
    ) {
      const last = kept.findIndex(({ id }) => id === lastEventId)
      const { streamId } = kept[last]!
      for (const event of kept.slice(last + 1)) {
        if (event.streamId === streamId) await send(event.id, event.message)
      }
      return streamId
    },
  }
}

/** `cursors` of `client.events.stream`: where a stream continues, stored by the user. */
import { describe, expect, it, vi } from 'vitest'
import type { EventStream, EventStreamSettings } from '../../../src/client.ts'
import { begin, event, idOf, NOTE, start, startScripted } from './_event-servers.ts'

const FAKED: Parameters<typeof vi.useFakeTimers>[0] = { toFake: ['setTimeout', 'clearTimeout', 'Date'] }

/** A storage that counts. */
function createStorage(entries: [string, string][] = []) {
  const map = new Map(entries)
  return {
    map,
    get: vi.fn((key: string): unknown => map.get(key)),
    set: vi.fn((key: string, value: string): unknown => void map.set(key, value)),
    settings(this: unknown): EventStreamSettings {
      return { cursors: this as NonNullable<EventStreamSettings['cursors']> }
    },
  }
}

/** Takes events until the server has no more of these. */
async function takeUntil(stream: EventStream, last: string): Promise<string[]> {
  const seen: string[] = []
  for (;;) {
    const { value } = await stream.next()
    seen.push(value!.eventId)
    if (value!.eventId === last) return seen
  }
}

describe('cursors', () => {
  it('another process continues after the last event that was processed [events.client-cursors]', async () => {
    const server = await start()
    const storage = createStorage()
    const stream = server.stream(storage.settings())
    const { first } = await begin(stream, server)
    for (const text of ['one', 'two', 'three']) await server.emit(text)
    expect(idOf(await first)).toBe('one')
    expect(await takeUntil(stream, 'three')).toEqual(['two', 'three'])
    await server.client.disconnect()

    const second = server.connect().events.stream('notes', NOTE, storage.settings())
    const third = await second.next()
    expect(idOf(third)).toBe('three')
    await second.return()
    expect([...storage.map.values()]).toEqual([third.value!.cursor])

    await server.emit('four')
    const { value } = await server.connect().events.stream('notes', NOTE, storage.settings()).next()
    expect(value?.eventId).toBe('four')
  })

  it('what is emitted before the first event was seen is in the next stream', async () => {
    const server = await start()
    const storage = createStorage()
    const { first } = await begin(server.stream(storage.settings()), server)
    await vi.waitFor(() => expect(storage.map.size).toBe(1))
    await server.client.disconnect()
    await expect(first).rejects.toMatchObject({ code: 'DISCONNECTED' })
    await server.emit('one')
    const stream = server.connect().events.stream('notes', NOTE, storage.settings())
    expect(idOf(await stream.next())).toBe('one')
  })

  it.each([
    ['break', ['two'], ['two']],
    ['throw', ['two'], ['two']],
    ['throw, then return', ['two'], ['two']],
    ['return', ['two'], ['three']],
  ] as const)('after %s in a loop: %j, then %j', async (how, before, after) => {
    const server = await start()
    const { cursor } = await server.client.events.poll('notes', NOTE)
    for (const text of ['one', 'two', 'three']) await server.emit(text)
    const storage = createStorage()
    const begun = server.stream(storage.settings(), { cursor })
    expect(idOf(await begun.next())).toBe('one')
    const seen: string[] = []
    const loop = async (): Promise<void> => {
      for await (const { eventId } of begun) {
        seen.push(eventId)
        if (how.startsWith('throw')) throw new Error('not processed')
        if (how === 'break') break
        await begun.return()
      }
    }
    await loop().catch(() => {})
    if (how === 'throw, then return') await begun.return()
    expect(seen).toEqual(before)
    await vi.waitFor(() => expect(server.front.open.size).toBe(0))
    const next = await server.connect().events.stream('notes', NOTE, storage.settings()).next()
    expect([idOf(next)]).toEqual(after)
  })

  it('calls of next() that wait at the same time store nothing that is not processed', async () => {
    const server = await start()
    const storage = createStorage()
    const stream = server.stream(storage.settings())
    const all = Promise.all([stream.next(), stream.next(), stream.next()])
    await vi.waitFor(() => expect(server.front.open.size).toBe(1))
    await vi.waitFor(() => expect(storage.set).toHaveBeenCalledTimes(1))
    for (const text of ['one', 'two', 'three']) await server.emit(text)
    expect((await all).map(idOf)).toEqual(['one', 'two', 'three'])
    expect(storage.set).toHaveBeenCalledTimes(1)
  })

  it('writes each cursor once, and reads only without a cursor of the call', async () => {
    const server = await start()
    const { cursor } = await server.client.events.poll('notes', NOTE)
    for (const text of ['one', 'two']) await server.emit(text)
    const storage = createStorage()
    const stream = server.stream(storage.settings(), { cursor })
    await takeUntil(stream, 'two')
    expect(storage.get).not.toHaveBeenCalled()
    await stream.return()
    await stream.return()
    expect(storage.set).toHaveBeenCalledTimes(2)
  })

  it('the key is that of the server, the event and its arguments in any order, and quotes none of them', async () => {
    const keyOf = async (name: string, args: object, server = notes): Promise<string> => {
      const storage = createStorage()
      storage.get.mockImplementation(() => {
        throw new Error('seen')
      })
      const stream = server.stream(storage.settings(), { name, arguments: args })
      await expect(stream.next()).rejects.toMatchObject({ code: 'STORAGE_FAILED' })
      return storage.get.mock.calls[0]![0]
    }
    const notes = await start()
    const key = await keyOf('secret-name', { a: 1, b: { c: [1], d: 2 } })
    expect(key).toMatch(/^mayfly-cursor:[\w-]{43}$/)
    expect(await keyOf('secret-name', { b: { d: 2, c: [1] }, a: 1 })).toBe(key)
    const others = [
      await keyOf('secret-name', { a: 1 }),
      await keyOf('other', { a: 1, b: { c: [1], d: 2 } }),
      await keyOf('secret-name', { a: 1, b: { c: [1], d: 2 } }, await start()),
    ]
    expect(new Set([key, ...others]).size).toBe(4)
  })

  it.each([
    ['get', 'throws'],
    ['set', 'throws'],
    ['get', 'hangs'],
    ['set', 'hangs'],
  ] as const)(
    'a storage whose %s %s → STORAGE_FAILED in 10 seconds, and nothing is lost',
    async (which, how) => {
      const server = await start()
      const storage = createStorage()
      const { cursor } = await server.client.events.poll('notes', NOTE)
      for (const text of ['one', 'two']) await server.emit(text)
      const key = await stored(server, storage, cursor!)
      const stream = server.stream(storage.settings())
      if (which === 'set') expect(idOf(await stream.next())).toBe('one')
      if (how === 'hangs') vi.useFakeTimers(FAKED)
      storage[which].mockImplementation(() => {
        if (how === 'hangs') return new Promise(() => {})
        throw new Error('no\nstorage')
      })
      const failed = expect(stream.next()).rejects.toMatchObject({
        code: 'STORAGE_FAILED',
        server: 'notes',
        operation: 'events/stream',
        message: expect.stringMatching(
          /^"cursors\.[gs]et" failed, .*: (?:no storage|The storage did not answer within 10000 ms\.)$/,
        ),
      })
      if (how === 'hangs') {
        await vi.waitFor(() => expect(storage[which].mock.calls.length).toBeGreaterThan(1))
        await vi.advanceTimersByTimeAsync(10_000)
        vi.useRealTimers()
      }
      await failed
      expect(await stream.next()).toEqual({ done: true, value: undefined })
      await vi.waitFor(() => expect(server.front.open.size).toBe(0))
      expect(storage.map.get(key)).toBe(cursor)
      const again = createStorage([...storage.map])
      expect(await takeUntil(server.stream(again.settings()), 'two')).toEqual(['one', 'two'])
    },
  )

  it.each([
    ['a number', 1],
    ['an empty text', ''],
    ['a long text', 'x'.repeat(8193)],
    ['an object', {}],
  ])('%s in the storage → from now on, and onTruncated', async (_what, value) => {
    const { asked, stream } = await startScripted((send) => {
      send('active', { cursor: 'c0', truncated: false })
      send('event', event('e1', { cursor: 'c1' }))
      return 'stay'
    })
    const storage = createStorage()
    storage.get.mockImplementation(() => Promise.resolve(value))
    const onTruncated = vi.fn()
    const iterator = stream({ ...storage.settings(), onTruncated })
    expect(idOf(await iterator.next())).toBe('e1')
    expect(asked).toEqual([null])
    expect(onTruncated).toHaveBeenCalledTimes(1)
    await iterator.return()
  })

  it('a cursor that is too long to store → STORAGE_FAILED', async () => {
    const { stream } = await startScripted((send) => {
      send('event', event('e1', { cursor: 'x'.repeat(8193) }))
      return 'stay'
    })
    const storage = createStorage()
    const iterator = stream(storage.settings())
    expect(idOf(await iterator.next())).toBe('e1')
    await expect(iterator.next()).rejects.toMatchObject({ code: 'STORAGE_FAILED' })
    expect(storage.set).not.toHaveBeenCalled()
  })

  it('a server that moves the cursor without events causes a write in 30 seconds', async () => {
    let move = (_cursor: string): void => {}
    const { stream } = await startScripted((send) => {
      move = (cursor) => send('heartbeat', { cursor })
      send('active', { cursor: 'c0', truncated: false })
      return 'stay'
    })
    vi.useFakeTimers(FAKED)
    const storage = createStorage()
    const iterator = stream(storage.settings())
    const next = iterator.next()
    await vi.waitFor(() => expect([...storage.map.values()]).toEqual(['c0']))
    const heard = async (cursor: string) => {
      move(cursor)
      await vi.waitFor(() => expect(iterator.cursor).toBe(cursor))
    }
    for (let count = 1; count < 50; count++) await heard(`c${count}`)
    expect(storage.set).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(30_000)
    await heard('c50')
    await vi.waitFor(() => expect([...storage.map.values()]).toEqual(['c50']))
    await iterator.return()
    await next
    expect(storage.set).toHaveBeenCalledTimes(2)
    vi.useRealTimers()
  })

  it('what is no storage is refused', async () => {
    const { stream } = await start()
    for (const cursors of [true, {}, { get() {} }, { get() {}, put() {} }, { get: 1, set: 2 }, null])
      expect(() => stream({ cursors } as never)).toThrow(TypeError)
    expect(() => stream({ cursor: new Map() } as never)).toThrow(TypeError)
  })
})

/** The key under which a stream of these events finds `cursor`. */
async function stored(
  server: Awaited<ReturnType<typeof start>>,
  storage: ReturnType<typeof createStorage>,
  cursor: string,
): Promise<string> {
  const stream = server.stream(storage.settings())
  const next = stream.next()
  await vi.waitFor(() => expect(storage.map.size).toBe(1))
  await stream.return()
  await next
  const [key] = storage.map.keys()
  storage.map.set(key!, cursor)
  return key!
}

/** `client.events.stream`: with our server over HTTP, whose processes come and go, and with servers that answer otherwise. */
import { describe, expect, it, vi } from 'vitest'
import type { MCPClientError } from '../../../src/client.ts'
import { begin, event, idOf, NOTE, start, startScripted } from './_event-servers.ts'

describe('events.stream', () => {
  it('has the events as they happen, and leaving its loop ends it at the server [events.client-stream]', async () => {
    const server = await start()
    const stream = server.stream()
    expect(server.front.asked).toEqual([])
    const { first: next } = await begin(stream, server)
    await server.emit('one')
    const first = await next
    expect(first.value).toMatchObject({ eventId: 'one', name: 'note.created', data: { text: 'one' } })
    expect(stream.cursor).toBe(first.value?.cursor)
    for (const text of ['two', 'three']) await server.emit(text)
    const seen: string[] = []
    for await (const { eventId } of stream) {
      seen.push(eventId)
      if (eventId === 'three') break
    }
    expect(seen).toEqual(['two', 'three'])
    await vi.waitFor(() => expect(server.front.open.size).toBe(0))
    expect(await stream.next()).toEqual({ done: true, value: undefined })
  })

  it.each(['restart', 'cut'] as const)(
    'after a %s it continues at the last cursor: none lost, none twice',
    async (how) => {
      const server = await start()
      const stream = server.stream()
      const { first } = await begin(stream, server)
      await server.emit('one')
      expect(idOf(await first)).toBe('one')
      for (const text of ['two', 'three']) {
        await server[how]()
        await server.emit(text)
        expect(idOf(await stream.next())).toBe(text)
      }
      expect(server.front.asked.length).toBeGreaterThanOrEqual(3)
      expect(server.front.asked[0]).toMatchObject({ cursor: null })
      for (const { cursor } of server.front.asked.slice(1)) expect(cursor).toEqual(expect.any(String))
      await stream.return()
    },
  )

  it('what is emitted between the end of a stream and the next one is in it', async () => {
    const server = await start()
    const stream = server.stream()
    const { first } = await begin(stream, server)
    await server.emit('one')
    await first
    await server.restart()
    for (const text of ['two', 'three']) await server.emit(text)
    expect([idOf(await stream.next()), idOf(await stream.next())]).toEqual(['two', 'three'])
    await stream.return()
  })

  it('a consumer that is slower than the server gets all, each once, in order', async () => {
    const server = await start({ maxEvents: 5000 })
    const { cursor } = await server.client.events.poll('notes', NOTE)
    const all = Array.from({ length: 1200 }, (_none, index) => `n${index}`)
    for (const text of all) await server.emit(text)
    const seen: string[] = []
    for await (const { eventId } of server.stream({}, { cursor })) {
      if (seen.length === 0) await vi.waitFor(() => expect(server.front.open.size).toBe(0))
      seen.push(eventId)
      if (seen.length === all.length) break
    }
    expect(seen).toEqual(all)
    expect(server.front.asked.length).toBeGreaterThan(1)
  })

  it('its signal ends it with ABORTED, at the server too', async () => {
    const server = await start()
    const controller = new AbortController()
    const { first: next } = await begin(server.stream({ signal: controller.signal }), server)
    controller.abort()
    await expect(next).rejects.toMatchObject({ code: 'ABORTED', operation: 'events/stream' })
    await vi.waitFor(() => expect(server.front.open.size).toBe(0))
    await expect(server.stream({ signal: controller.signal }).next()).rejects.toMatchObject({
      code: 'ABORTED',
    })
  })

  it('return() ends a next() that waits', async () => {
    const server = await start()
    const stream = server.stream()
    const { first: next } = await begin(stream, server)
    expect(await stream.return()).toEqual({ done: true, value: undefined })
    expect(await next).toEqual({ done: true, value: undefined })
    await vi.waitFor(() => expect(server.front.open.size).toBe(0))
  })

  it('disconnect() ends it with DISCONNECTED', async () => {
    const server = await start()
    const { first: next } = await begin(server.stream(), server)
    await server.client.disconnect()
    await expect(next).rejects.toMatchObject({ code: 'DISCONNECTED' })
    await vi.waitFor(() => expect(server.front.open.size).toBe(0))
  })

  it('of an event that the server does not have → REQUEST_FAILED with its error, at once', async () => {
    const server = await start()
    await expect(server.stream({}, { name: 'other' }).next()).rejects.toMatchObject({
      code: 'REQUEST_FAILED',
      cause: { code: -32011 },
    })
    expect(server.front.asked.length).toBeLessThanOrEqual(1)
  })

  it('unknown options are refused', async () => {
    const { stream } = await start()
    expect(() => stream({}, { since: 1 })).toThrow(TypeError)
    // @ts-expect-error No such option.
    expect(() => stream({ timeout: 1 })).toThrow(TypeError)
    expect(() => stream({ timeoutMs: -1 })).toThrow(TypeError)
    expect(() => stream({}, { name: undefined })).toThrow(TypeError)
  })
})

describe('events.stream with another server', () => {
  it('leaves out what comes again and what is invalid, and reports what the server says', async () => {
    const { asked, reported, stream } = await startScripted((send, { cursor }) => {
      if (cursor !== null) {
        for (const id of ['e1', 'e2', 'e3']) send('event', event(id, { cursor: `c-${id}` }))
        return 'stay'
      }
      send('active', { cursor: 'c0', truncated: false })
      send('event', event('e1'))
      send('event', { eventId: 1, name: 'a' })
      send('error', { error: { code: -32603, message: 'no store' } })
      send('event', event('e1'))
      send('event', event('e2'))
      send('heartbeat', { cursor: 'c1' })
      return undefined
    })
    const iterator = stream()
    const ids = [await iterator.next(), await iterator.next(), await iterator.next()].map(idOf)
    expect(ids).toEqual(['e1', 'e2', 'e3'])
    expect(asked).toEqual([null, 'c1'])
    expect(iterator.cursor).toBe('c-e3')
    expect(reported.map(({ code }) => code)).toEqual(['MALFORMED', 'REQUEST_FAILED'])
    expect(reported[1]).toMatchObject({ cause: { code: -32603 } })
    await iterator.return()
  })

  it('an error that the server repeats is reported once, until something else comes', async () => {
    const { reported, stream } = await startScripted((send) => {
      const fail = (code: number, message: string): void => send('error', { error: { code, message } })
      send('active', { cursor: 'c0', truncated: false })
      for (let count = 0; count < 5; count++) fail(-32603, 'no store')
      for (let count = 0; count < 5; count++) fail(-32603, 'no index')
      for (let count = 0; count < 5; count++) fail(-32000, 'no index')
      send('event', event('e1'))
      for (let count = 0; count < 5; count++) fail(-32000, 'no index')
      send('heartbeat', { cursor: 'c1' })
      for (let count = 0; count < 5; count++) fail(-32000, 'no index')
      send('event', event('e2'))
      return 'stay'
    })
    const iterator = stream()
    expect([idOf(await iterator.next()), idOf(await iterator.next())]).toEqual(['e1', 'e2'])
    expect(reported.map(({ cause }) => (cause as { code: number }).code)).toEqual([
      -32603, -32603, -32000, -32000, -32000,
    ])
    expect(reported[0]).toMatchObject({ code: 'REQUEST_FAILED', operation: 'events/stream', server: 'other' })
    expect(reported[0]!.message).toContain('no store')
    await iterator.return()
  })

  it.each([
    ['at once', 0],
    ['later', 100],
  ])('an event that is larger than maxResponseBytes ends the stream: %s', async (_when, ms) => {
    const { asked, reported, stream } = await startScripted(
      async (send) => {
        send('active', { cursor: 'c0', truncated: false })
        send('event', event('e1'))
        await new Promise((resolve) => setTimeout(resolve, ms))
        send('event', event('e2', { data: { text: 'x'.repeat(20_000) } }))
        return 'stay'
      },
      { maxResponseBytes: 10_000 },
    )
    const iterator = stream()
    const all = async () => {
      for (;;) await iterator.next()
    }
    await expect(all()).rejects.toMatchObject({ code: 'RESPONSE_TOO_LARGE', operation: 'events/stream' })
    expect(asked).toEqual([null])
    expect(reported.length).toBeLessThanOrEqual(1)
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
  })

  it('of thousands of different errors a few are reported', async () => {
    const { reported, stream } = await startScripted((send) => {
      send('active', { cursor: 'c0', truncated: false })
      for (let count = 0; count < 5000; count++)
        send('error', { error: { code: -32603, message: `fault ${count}` } })
      send('event', event('e1'))
      return 'stay'
    })
    const iterator = stream()
    expect(idOf(await iterator.next())).toBe('e1')
    expect(reported.length).toBeGreaterThan(0)
    expect(reported.length).toBeLessThan(20)
    await iterator.return()
  })

  it('an error as the answer after active is reported once, and the stream is opened again', async () => {
    const { asked, reported, stream } = await startScripted((send) => {
      send('active', { cursor: 'c0', truncated: false })
      if (asked.length < 4) return { code: -32603, message: 'no store' }
      send('event', event('e1'))
      return 'stay'
    })
    const iterator = stream()
    expect(idOf(await iterator.next())).toBe('e1')
    expect(reported).toMatchObject([
      { code: 'REQUEST_FAILED', operation: 'events/stream', server: 'other', cause: { code: -32603 } },
    ])
    await iterator.return()
  })

  it('the end of a stream in order, and a connection that breaks, are not reported', async () => {
    const { asked, reported, stream } = await startScripted((send, _params, response) => {
      send('active', { cursor: 'c0', truncated: false })
      if (asked.length === 3) send('event', event('e1'))
      if (asked.length === 2) response.destroy()
      return asked.length === 1 ? undefined : 'stay'
    })
    const iterator = stream()
    expect(idOf(await iterator.next())).toBe('e1')
    expect(reported).toEqual([])
    await iterator.return()
  })

  it('terminated → REQUEST_FAILED with its error, after the events before it', async () => {
    const { asked, stream } = await startScripted((send) => {
      send('active', { cursor: 'c0', truncated: false })
      send('event', event('e1'))
      send('terminated', { error: { code: -32012, message: 'No longer\u001b[31m' } })
    })
    const iterator = stream()
    expect(idOf(await iterator.next())).toBe('e1')
    const failed = await iterator.next().catch((error: unknown) => error as MCPClientError)
    expect(failed).toMatchObject({ code: 'REQUEST_FAILED', cause: { code: -32012 } })
    expect((failed as MCPClientError).message).not.toContain('\u001b')
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
    expect(asked).toHaveLength(1)
  })

  it('terminated with an error whose text cannot be read → REQUEST_FAILED, too', async () => {
    const { stream } = await startScripted((send) => {
      send('active', { cursor: 'c0', truncated: false })
      send('error', { error: { code: -32603, message: { toString: 1, valueOf: 1 } } })
      send('terminated', { error: { code: -32012, message: { toString: 1, valueOf: 1 } } })
      return 'stay'
    })
    await expect(stream().next()).rejects.toMatchObject({ code: 'REQUEST_FAILED', cause: { code: -32012 } })
  })

  it('tells of events that were left out: by the server, and where it has no cursor', async () => {
    let at = 0
    const { stream } = await startScripted((send, { cursor }) => {
      send('active', { cursor: null, truncated: at === 0 })
      expect(cursor).toBeNull()
      send('event', event(`e${at++}`))
    })
    const seen: unknown[] = []
    const iterator = stream({ onTruncated: () => void seen.push('truncated') })
    for (let count = 0; count < 2; count++) seen.push(idOf(await iterator.next()))
    expect(seen).toEqual(['truncated', 'e0', 'truncated', 'e1'])
    await iterator.return()
  })

  it('a stream that is silent too long is opened again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    const { asked, stream } = await startScripted((send, { cursor }) => {
      send('active', { cursor: 'c0', truncated: false })
      if (cursor !== null) send('event', event('e1'))
      return 'stay'
    })
    const next = stream().next()
    await vi.waitFor(() => expect(asked).toEqual([null]))
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(10_000)
      expect(asked).toEqual([null, 'c0'])
    })
    expect(idOf(await next)).toBe('e1')
    vi.useRealTimers()
  })

  it('a stream that always ends at once is opened with growing pauses', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    const { asked, stream } = await startScripted((send) =>
      send('active', { cursor: 'c0', truncated: false }),
    )
    const iterator = stream()
    const next = iterator.next()
    await vi.waitFor(() => expect(asked).toHaveLength(1))
    for (let second = 0; second < 60; second++) {
      await vi.advanceTimersByTimeAsync(1000)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(asked.length).toBeGreaterThan(2)
    expect(asked.length).toBeLessThan(12)
    await iterator.return()
    expect(await next).toMatchObject({ done: true })
    vi.useRealTimers()
  })

  it('so is one that brings an event and ends at once, until one lasts [events.client-stream]', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    const pass = async (ms: number): Promise<void> => {
      for (let at = 0; at < ms; at += 250) {
        await vi.advanceTimersByTimeAsync(250)
        for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
      }
    }
    let lastsMs = 0
    const { asked, stream } = await startScripted(async (send) => {
      send('active', { cursor: 'c0', truncated: false })
      send('event', event(`e${asked.length}`))
      if (lastsMs > 0) await new Promise((resolve) => setTimeout(resolve, lastsMs))
    })
    const seen: unknown[] = []
    const iterator = stream()
    const consumed = (async () => {
      for (let next = await iterator.next(); !next.done; next = await iterator.next()) seen.push(idOf(next))
    })()
    await vi.waitFor(() => expect(asked).toHaveLength(1))
    await pass(60_000)
    expect(asked.length).toBeGreaterThan(5)
    expect(asked.length).toBeLessThan(12)
    expect(seen).toEqual(asked.map((_cursor, index) => `e${index + 1}`))

    lastsMs = 6000
    await pass(31_000)
    const { length } = asked
    await pass(21_000)
    expect(asked.length).toBeGreaterThanOrEqual(length + 3)
    await iterator.return()
    await consumed
    vi.useRealTimers()
  })

  it('the time in which a consumer handles an event is part of the pause', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    const { asked, stream } = await startScripted((send) => {
      send('active', { cursor: 'c0', truncated: false })
      send('event', event(`e${asked.length}`))
    })
    const iterator = stream()
    for (let count = 1; count <= 8; count++) {
      const at = Date.now()
      const next = iterator.next()
      await vi.waitFor(async () => {
        await vi.advanceTimersByTimeAsync(5)
        expect(asked).toHaveLength(count)
      })
      expect(Date.now() - at).toBeLessThan(1000)
      await next
      await new Promise((resolve) => setImmediate(resolve))
      await vi.advanceTimersByTimeAsync(30_000)
    }
    await iterator.return()
    vi.useRealTimers()
  })

  it('a flood of events with a consumer that stops is cut off', async () => {
    let sent = 0
    let isOpen = true
    const { stream } = await startScripted(async (send, _params, response) => {
      response.on('close', () => {
        isOpen = false
      })
      send('active', { cursor: 'c0', truncated: false })
      for (; isOpen && sent < 200_000; sent++) {
        send('event', event(`e${sent}`, { data: { text: 'x'.repeat(1000) } }))
        if (sent % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      return 'stay'
    })
    const iterator = stream()
    await iterator.next()
    await vi.waitFor(() => expect(isOpen).toBe(false), 5000)
    expect(sent).toBeLessThan(200_000)
    await iterator.return()
  })

  it('cursors count as part of what is kept for a consumer that stops, and all events come once', async () => {
    const large = 'c'.repeat(100_000)
    let open = 0
    const sent: number[] = []
    const { stream } = await startScripted(async (send, { cursor }, response) => {
      let isOpen = true
      open++
      response.on('close', () => {
        isOpen = false
        open--
      })
      send('active', { truncated: false })
      let at = Number.parseInt(String(cursor ?? '0'), 10)
      for (; isOpen && at < 120; at++) {
        send('event', event(`e${at}`))
        send('heartbeat', { cursor: `${at + 1}${large}` })
        await new Promise((resolve) => setImmediate(resolve))
      }
      sent.push(at)
      return 'stay'
    })
    const iterator = stream()
    const seen = [idOf(await iterator.next())]
    await vi.waitFor(() => expect(open).toBe(0), 5000)
    await vi.waitFor(() => expect(sent[0]).toBeLessThan(120))
    while (seen.length < 120) seen.push(idOf(await iterator.next()))
    expect(seen).toEqual(Array.from({ length: 120 }, (_none, at) => `e${at}`))
    await iterator.return()
  })
})

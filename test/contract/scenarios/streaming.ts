/** What arrives while a call is still running. */
import { describe, expect, it } from 'vitest'
import { CLIENTS, LEGACY_CLIENTS, MODERN_CLIENTS } from '../clients.ts'
import type { Endpoint } from '../contract.ts'
import { modernRequest, readStream, readWholeStream, type StreamBlock } from '../wire.ts'

export function streaming(endpoint: Endpoint, sharesMemory: boolean): void {
  it.skipIf(!sharesMemory).each(CLIENTS)(
    '$kind sees progress while the call runs [progress.token]',
    async ({ connect }) => {
      await using connection = await connect(endpoint())
      const id = crypto.randomUUID()
      const seen: (string | undefined)[] = []
      const releases: Promise<unknown>[] = []

      // Each step waits for the release that only its own report brings about: buffered, this would never end.
      const { content } = await connection.call(
        'steps',
        { id, steps: 3 },
        {
          onProgress: ({ progress, message }) => {
            seen.push(message)
            releases.push(connection.call('release', { id, step: progress }))
          },
        },
      )

      await Promise.all(releases)
      expect(seen).toEqual(['step 1', 'step 2', 'step 3'])
      expect(content).toEqual([{ type: 'text', text: 'all steps done' }])
    },
  )

  describe('log messages', () => {
    it.each(MODERN_CLIENTS)(
      '$kind gets those from the level it named up [logging.level]',
      async ({ connect }) => {
        await using connection = await connect(endpoint())

        await connection.call('speak', {}, { logLevel: 'info' })

        expect(connection.logged).toMatchObject([
          { level: 'info', data: { said: 'a word' }, logger: 'pond' },
          { level: 'warning', data: 'a shout' },
        ])
      },
    )

    it.each(MODERN_CLIENTS)(
      '$kind gets none when it named no level [logging.silent]',
      async ({ connect }) => {
        await using connection = await connect(endpoint())

        await connection.call('speak')

        expect(connection.logged).toEqual([])
      },
    )

    it.each(LEGACY_CLIENTS)('$kind gets those from info up [legacy.set-level]', async ({ connect }) => {
      await using connection = await connect(endpoint())

      await connection.call('speak')

      expect(connection.logged.map(({ level }) => level)).toEqual(['info', 'warning'])
    })
  })

  it.skipIf(!sharesMemory)(
    'a stream is sent piece by piece, the result last [streaming.notify] [streaming.unbuffered]',
    async () => {
      const id = crypto.randomUUID()
      const params = { name: 'steps', arguments: { id, steps: 2 } }
      const response = await fetch(
        modernRequest(endpoint(), 'tools/call', params, { meta: { progressToken: 'p' } }),
      )
      const blocks: StreamBlock[] = []

      for await (const block of readStream(response)) {
        if (block.comment !== undefined) continue
        blocks.push(block)
        const step = block.message?.params?.progress
        if (step === undefined) continue
        // What was read is held on to for a while: the next event may only come after it.
        await new Promise((resolve) => setTimeout(resolve, 120))
        await fetch(modernRequest(endpoint(), 'tools/call', { name: 'release', arguments: { id, step } }))
      }

      expect(response.headers.get('content-type')).toBe('text/event-stream')
      expect(response.headers.get('x-accel-buffering')).toBe('no')
      expect(blocks.map(({ message }) => message?.params?.progress ?? message?.result?.content)).toEqual([
        1,
        2,
        [{ type: 'text', text: 'all steps done' }],
      ])
      const [first, second, last] = blocks.map(({ atMs }) => atMs)
      expect(second! - first!).toBeGreaterThanOrEqual(100)
      expect(last! - second!).toBeGreaterThanOrEqual(100)
    },
  )

  it('a slow, silent call becomes a stream with keep-alives [streaming.slow]', async () => {
    const params = { name: 'echo', arguments: { text: 'at last', afterMs: 1500 } }

    const response = await fetch(modernRequest(endpoint(), 'tools/call', params))
    const headersAtMs = performance.now()
    const blocks = await readWholeStream(response)

    expect(blocks.filter(({ comment }) => comment === 'keep-alive').length).toBeGreaterThan(1)
    expect(blocks.at(-1)?.message).toMatchObject({ id: 1, result: { content: [{ text: 'at last' }] } })
    expect(blocks.at(-1)!.atMs - headersAtMs).toBeGreaterThan(100)
    expect(blocks.at(-1)!.atMs - blocks[0]!.atMs).toBeGreaterThan(100)
  })

  it('a quick, silent call is JSON [streaming.json]', async () => {
    const response = await fetch(
      modernRequest(endpoint(), 'tools/call', { name: 'echo', arguments: { text: 'x' } }),
    )

    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toMatchObject({ id: 1, result: { content: [{ text: 'x' }] } })
  })

  it.each(['application/json', '*/*'])(
    'Accept: %s → JSON, however long it takes and whatever is notified [streaming.accept]',
    async (accept) => {
      const params = { name: 'speak' }
      const meta = { 'io.modelcontextprotocol/logLevel': 'debug' }

      const response = await fetch(
        modernRequest(endpoint(), 'tools/call', params, { headers: { accept }, meta }),
      )

      expect(response.headers.get('content-type')).toBe('application/json')
      expect(await response.json()).toMatchObject({ result: { content: [{ text: 'spoken' }] } })
    },
  )

  it('Accept: text/event-stream alone → a stream, even where the answer is quick [streaming.accept]', async () => {
    const headers = { accept: 'text/event-stream' }

    const response = await fetch(modernRequest(endpoint(), 'tools/list', {}, { headers }))

    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const blocks = await readWholeStream(response)
    expect(blocks.at(-1)?.message).toMatchObject({ id: 1, result: { tools: expect.any(Array) } })
  })
}

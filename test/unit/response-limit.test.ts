import { describe, expect, it } from 'vitest'
import { netlify } from '../../adapters/netlify.ts'
import { createTool, ErrorCode, jsonSchema } from '../../src/index.ts'
import { createServer, legacyRequest, META, modernRequest, readAnswer } from './_client.ts'

const LIMIT = 4096

const server = createServer({
  tools: {
    report: createTool({
      id: 'report',
      inputSchema: jsonSchema<{ messages: number; size: number; answer: number }>({ type: 'object' }),
      execute: async ({ messages, size, answer }, ctx) => {
        for (let at = 1; at <= messages; at++) ctx.log('info', 'y'.repeat(size))
        return 'x'.repeat(answer)
      },
    }),
    repeat: createTool({
      id: 'repeat',
      inputSchema: jsonSchema<{ text: string; times: number; later?: boolean }>({ type: 'object' }),
      execute: async ({ text, times, later = false }) => {
        if (later) await new Promise((resolve) => setTimeout(resolve, 5))
        return text.repeat(times)
      },
    }),
  },
})

async function repeat(args: { text: string; times: number; later?: boolean }, accept?: string) {
  const headers = accept === undefined ? {} : { accept }
  const request = modernRequest('tools/call', { name: 'repeat', arguments: args }, { headers })
  return readAnswer(await server.handle(request, { maxResponseBytes: LIMIT }))
}

describe('maxResponseBytes', () => {
  it.each([false, true])(
    'a larger result → a typed error (later: %s) [platform.response-limit]',
    async (later) => {
      const { status, error } = await repeat({ text: 'x', times: LIMIT, later }, 'application/json')
      expect(status).toBe(200)
      expect(error).toMatchObject({
        code: ErrorCode.internal,
        data: { limit: 'responseBytes', maxBytes: LIMIT },
      })
    },
  )

  it('counts bytes, not characters [platform.response-limit]', async () => {
    expect((await repeat({ text: '水', times: LIMIT / 2 })).error).toBeDefined()
    expect((await repeat({ text: 'x', times: LIMIT / 2 })).error).toBeUndefined()
  })

  it('does not hold for a stream, which is sent in pieces [platform.response-limit]', async () => {
    const answer = await repeat({ text: 'x', times: LIMIT }, 'text/event-stream')
    expect([answer.isStream, answer.error]).toEqual([true, undefined])
  })

  const batchOf = async (sizes: readonly number[]) => {
    const calls = sizes.map((times, at) => ({
      jsonrpc: '2.0',
      id: at + 1,
      method: 'tools/call',
      params: { name: 'repeat', arguments: { text: 'x', times } },
    }))
    const batch = new Request(legacyRequest('ping').url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'mcp-protocol-version': '2025-03-26' },
      body: JSON.stringify(calls),
    })
    const response = await server.handle(batch, { maxResponseBytes: LIMIT })
    const text = await response.text()
    expect(text.length).toBeLessThanOrEqual(LIMIT)
    return JSON.parse(text)
  }

  it('too large a batch → the answers that fit, and an error for each other request [platform.response-limit]', async () => {
    const refused = { error: { code: ErrorCode.internal, data: { limit: 'responseBytes', maxBytes: LIMIT } } }
    expect(await batchOf([LIMIT / 2, LIMIT / 2, 10])).toMatchObject([
      { id: 1, result: { content: [{ text: 'x'.repeat(LIMIT / 2) }] } },
      { id: 2, ...refused },
      { id: 3, result: { content: [{ text: 'x'.repeat(10) }] } },
    ])
    expect(await batchOf([2 * LIMIT, 10])).toMatchObject([
      { id: 1, ...refused },
      { id: 2, result: {} },
    ])
  })

  it('a batch whose errors alone are too large → one error without an id [platform.response-limit]', async () => {
    expect(await batchOf(Array.from({ length: 40 }, () => 100))).toMatchObject({
      error: { data: { limit: 'responseBytes' } },
    })
  })
})

describe('maxStreamedBytes', () => {
  const streamed = async (args: { messages: number; size: number; answer: number }) => {
    const request = modernRequest(
      'tools/call',
      { name: 'report', arguments: args },
      { meta: { [META.logLevel]: 'info' } },
    )
    const response = await server.handle(request, { maxResponseBytes: LIMIT, maxStreamedBytes: 2 * LIMIT })
    const bytes = (await response.clone().arrayBuffer()).byteLength
    expect(bytes).toBeLessThanOrEqual(2 * LIMIT)
    return { bytes, answer: await readAnswer(response) }
  }

  it('a stream may be larger than a buffered response [platform.response-limit]', async () => {
    const { bytes, answer } = await streamed({ messages: 1, size: 10, answer: LIMIT + 1000 })
    expect([bytes > LIMIT, answer.isStream, answer.error]).toEqual([true, true, undefined])
  })

  it('an answer that no longer fits into its stream → a typed error as its last event [platform.response-limit]', async () => {
    for (const args of [
      { messages: 1, size: 10, answer: 2 * LIMIT },
      { messages: 3, size: LIMIT / 2, answer: LIMIT },
    ]) {
      const { answer } = await streamed(args)
      expect(answer.isStream).toBe(true)
      expect(answer.error).toMatchObject({ code: ErrorCode.internal, data: { limit: 'responseBytes' } })
    }
  })

  it('messages that would leave no room for the answer are dropped [platform.response-limit]', async () => {
    const { answer } = await streamed({ messages: 20, size: LIMIT / 4, answer: 10 })
    expect(answer.notifications.length).toBeLessThan(10)
    expect(answer.result).toMatchObject({ content: [{ text: 'x'.repeat(10) }] })
  })

  it('a Netlify Function streams at most 20 MB', async () => {
    const request = modernRequest(
      'tools/call',
      { name: 'report', arguments: { messages: 1, size: 10, answer: 20_000_000 } },
      { meta: { [META.logLevel]: 'info' } },
    )
    const { isStream, error } = await readAnswer(await netlify(server, { env: {} })(request))
    expect([isStream, error?.data]).toMatchObject([true, { limit: 'responseBytes' }])
  })
})

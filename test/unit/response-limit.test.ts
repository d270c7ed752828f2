import { describe, expect, it } from 'vitest'
import { createTool, ErrorCode, jsonSchema } from '../../src/index.ts'
import { createServer, legacyRequest, modernRequest, readAnswer } from './_client.ts'

const LIMIT = 4096

const server = createServer({
  tools: {
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

  it('holds for a batch as a whole [platform.response-limit]', async () => {
    const call = (id: number) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'repeat', arguments: { text: 'x', times: LIMIT / 2 } },
    })
    const request = legacyRequest('ping')
    const batch = new Request(request.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'mcp-protocol-version': '2025-03-26' },
      body: JSON.stringify([call(1), call(2)]),
    })
    const response = await server.handle(batch, { maxResponseBytes: LIMIT })
    expect(await response.json()).toMatchObject({ error: { data: { limit: 'responseBytes' } } })
  })
})

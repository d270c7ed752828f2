/** Progress, whatever a tool reports and when (MCP 2026-07-28, "Progress Flow"). */
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { MCPServer, type McpContext } from '../../src/index.ts'
import { type JsonObject, legacyRequest, modernRequest } from './_client.ts'
import { check } from './_seeded.ts'

interface Report {
  /** Milliseconds to wait before it. */
  readonly afterMs: number
  readonly progress: number
}

const INTERVAL_MS = 100

const report: fc.Arbitrary<Report> = fc.record({
  afterMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 400 })),
  progress: fc
    .oneof(
      fc.integer({ min: -5, max: 60 }),
      fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }),
    )
    .map((value) => value + 0), // JSON has no minus zero
})

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] })
})

afterEach(() => {
  vi.useRealTimers()
})

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

function createServer(reports: readonly Report[]): MCPServer {
  const server = new MCPServer({ id: 'progress', name: 'Progress', version: '1.0.0', log: false })
  server.registerTool('work', {}, async (context: McpContext) => {
    for (const { afterMs, progress } of reports) {
      if (afterMs > 0) await wait(afterMs)
      context.reportProgress({ progress })
    }
    return 'done'
  })
  return server
}

/** The messages of a call, each with the fake time of its arrival. */
async function arrivals(
  reports: readonly Report[],
  request: Request,
): Promise<{ at: number; message: JsonObject }[]> {
  const arrived: { at: number; message: JsonObject }[] = []
  const receive = (text: string): void => {
    for (const [, data] of text.matchAll(/^data: (.*)$/gm))
      arrived.push({ at: Date.now(), message: JSON.parse(data!) as JsonObject })
  }
  const call = createServer(reports)
    .fetch(request)
    .then(async (response) => {
      if (response.headers.get('content-type') === 'application/json') {
        receive(`data: ${await response.text()}`)
        return
      }
      const decoder = new TextDecoder()
      for await (const chunk of response.body!) receive(decoder.decode(chunk, { stream: true }))
    })
  await vi.runAllTimersAsync()
  await call
  return arrived
}

const request = fc.constantFrom(modernRequest, legacyRequest)

describe('progress', () => {
  test('of any values at any times → strictly increasing, paced, the highest always sent', async () => {
    await check(
      fc.asyncProperty(fc.array(report, { maxLength: 25 }), request, async (reports, toRequest) => {
        const arrived = await arrivals(
          reports,
          toRequest('tools/call', { params: { name: 'work' }, meta: { progressToken: 'token' } }),
        )
        const answer = arrived.pop()!
        expect(answer.message).toMatchObject({ id: 1, result: { content: [{ text: 'done' }] } })

        const sent = arrived.map(({ at, message }) => {
          expect(message).toMatchObject({
            method: 'notifications/progress',
            params: { progressToken: 'token', progress: expect.any(Number) },
          })
          return { at, progress: (message.params as { progress: number }).progress }
        })
        const values = sent.map(({ progress }) => progress)
        expect(values.every((value, index) => index === 0 || value > values[index - 1]!)).toBe(true)
        expect(values.every((value) => reports.some(({ progress }) => progress === value))).toBe(true)
        if (reports.length > 0) {
          expect(values.at(-1)).toBe(Math.max(...reports.map(({ progress }) => progress)))
          expect(values[0]).toBe(reports[0]!.progress)
        }
        // The last one does not wait: the answer would have to wait with it.
        const paced = sent.at(-1)?.at === answer.at ? sent.slice(0, -1) : sent
        const gaps = paced.slice(1).map(({ at }, index) => at - paced[index]!.at)
        expect(gaps.every((gap) => gap >= INTERVAL_MS)).toBe(true)
      }),
      150,
    )
  })

  test('that nobody asked for → none, and the answer is JSON', async () => {
    await check(
      fc.asyncProperty(fc.array(report, { maxLength: 10 }), request, async (reports, toRequest) => {
        const arrived = await arrivals(
          reports.map(({ progress }) => ({ progress, afterMs: 0 })),
          toRequest('tools/call', { params: { name: 'work' } }),
        )
        expect(arrived.map(({ message }) => message.method)).toEqual([undefined])
      }),
      30,
    )
  })

  test('of what is no number → an error of that tool alone', async () => {
    const noNumber = fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY)
    await check(
      fc.asyncProperty(noNumber, async (progress) => {
        vi.spyOn(console, 'error').mockImplementation(() => undefined)
        const [answer] = await arrivals(
          [{ progress, afterMs: 0 }],
          modernRequest('tools/call', { params: { name: 'work' }, meta: { progressToken: 1 } }),
        )
        expect(answer!.message).toMatchObject({ result: { isError: true } })
        vi.restoreAllMocks()
      }),
      3,
    )
  })
})

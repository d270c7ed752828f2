import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTool, ErrorCode, type LogLevel, type MCPServer, type McpContext } from '../../src/index.ts'
import {
  callTool,
  createServer,
  deferred,
  legacy,
  legacyRequest,
  META,
  modernRequest,
  StreamReader,
  type WireMessage,
} from './_client.ts'

function serverOf(execute: (ctx: McpContext) => unknown): MCPServer {
  return createServer({ tools: { tool: createTool({ id: 'tool', execute: (_input, ctx) => execute(ctx) }) } })
}

const progressOf = (notifications: readonly WireMessage[]) =>
  notifications
    .filter(({ method }) => method === 'notifications/progress')
    .map(({ params }) => params?.progress)

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const

const logAll = (ctx: McpContext) => {
  for (const level of LEVELS) ctx.log(level, { level }, 'unit')
  return 'ok'
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

describe('ctx.reportProgress', () => {
  it.each(['abc', 7, 0, ''])(
    'carries the token %j of its request [progress.token]',
    async (progressToken) => {
      const server = serverOf((ctx) => {
        ctx.reportProgress({ progress: 0.5, total: 1, message: 'Half' })
        return 'ok'
      })
      const { notifications } = await callTool(server, 'tool', {}, { meta: { progressToken } })
      expect(notifications).toEqual([
        {
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken, progress: 0.5, total: 1, message: 'Half' },
        },
      ])
    },
  )

  it('works in the legacy era [progress.token]', async () => {
    const server = serverOf((ctx) => {
      ctx.reportProgress({ progress: 1 })
      return 'ok'
    })
    const answer = await legacy(server, 'tools/call', { name: 'tool', _meta: { progressToken: 'p' } })
    expect(answer.notifications[0]?.params).toEqual({ progressToken: 'p', progress: 1 })
  })

  it('without a token nothing is sent, and the answer stays JSON [progress.token] [streaming.json]', async () => {
    const server = serverOf((ctx) => {
      ctx.reportProgress({ progress: 1 })
      return 'ok'
    })
    const { isStream, notifications } = await callTool(server, 'tool')
    expect([isStream, notifications]).toEqual([false, []])
  })

  it('1000 reports at once → the first and the last [progress.throttle]', async () => {
    const server = serverOf((ctx) => {
      for (let progress = 1; progress <= 1000; progress++) ctx.reportProgress({ progress })
      return 'ok'
    })
    const { notifications, message } = await callTool(server, 'tool', {}, { meta: { progressToken: 1 } })
    expect(progressOf(notifications)).toEqual([1, 1000])
    expect(message).toMatchObject({ result: { resultType: 'complete' } })
  })

  it('one in 100 ms, each the newest [progress.throttle]', async () => {
    const { promise, resolve } = deferred<string>()
    const started = deferred<McpContext>()
    const server = serverOf((ctx) => {
      started.resolve(ctx)
      return promise
    })
    const response = server.fetch(
      modernRequest('tools/call', { name: 'tool' }, { meta: { progressToken: 1 } }),
    )
    const ctx = await started.promise
    const arrivals: [at: number, progress: unknown][] = []
    const beganAt = Date.now()
    const report = async (upTo: number) => {
      for (let at = 0; at < upTo; at += 10) {
        ctx.reportProgress({ progress: Date.now() - beganAt + 1 })
        await vi.advanceTimersByTimeAsync(10)
      }
    }
    const reading = (async () => {
      const stream = new StreamReader(await response)
      for (let item = await stream.next(); item !== undefined; item = await stream.next()) {
        if ('params' in item) arrivals.push([Date.now() - beganAt, item.params?.progress])
      }
    })()
    await report(350)
    resolve('ok')
    await reading
    expect(arrivals.map(([at]) => at)).toEqual([0, 100, 200, 300, 350])
    expect(arrivals.map(([, progress]) => progress)).toEqual([1, 91, 191, 291, 341])
  })

  it('what does not increase is not sent [progress.increasing]', async () => {
    const server = serverOf((ctx) => {
      for (const progress of [5, 5, 3, 8, 6, 8]) ctx.reportProgress({ progress })
      return 'ok'
    })
    const { notifications } = await callTool(server, 'tool', {}, { meta: { progressToken: 1 } })
    expect(progressOf(notifications)).toEqual([5, 8])
  })

  it('nor when it comes again later [progress.increasing]', async () => {
    const server = serverOf(async (ctx) => {
      for (const progress of [5, 5, 4, 6]) {
        ctx.reportProgress({ progress })
        await vi.advanceTimersByTimeAsync(150)
      }
      return 'ok'
    })
    const { notifications } = await callTool(server, 'tool', {}, { meta: { progressToken: 1 } })
    expect(progressOf(notifications)).toEqual([5, 6])
  })

  it('starts below zero where the tool does [progress.increasing]', async () => {
    const server = serverOf((ctx) => {
      ctx.reportProgress({ progress: -3 })
      return 'ok'
    })
    const { notifications } = await callTool(server, 'tool', {}, { meta: { progressToken: 1 } })
    expect(progressOf(notifications)).toEqual([-3])
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY])(
    '%s is the tool’s mistake → isError [progress.increasing]',
    async (progress) => {
      const reported = vi.spyOn(console, 'error').mockImplementation(() => undefined)
      const server = serverOf((ctx) => ctx.reportProgress({ progress }))
      const { result } = await callTool(server, 'tool', {}, { meta: { progressToken: 1 } })
      expect(result).toMatchObject({ isError: true })
      reported.mockRestore()
    },
  )
})

describe('ctx.log', () => {
  it.each(LEVELS.map((level, index) => [level, LEVELS.slice(index)] as const))(
    'modern, level %s → %j [logging.level]',
    async (level, sent) => {
      const { notifications } = await callTool(
        serverOf(logAll),
        'tool',
        {},
        { meta: { [META.logLevel]: level } },
      )
      expect(notifications.map(({ params }) => params)).toEqual(
        sent.map((one: LogLevel) => ({ level: one, logger: 'unit', data: { level: one } })),
      )
      expect(new Set(notifications.map(({ method }) => method))).toEqual(new Set(['notifications/message']))
    },
  )

  it('modern, no level → none, and the answer stays JSON [logging.silent] [streaming.json]', async () => {
    const { isStream, notifications } = await callTool(serverOf(logAll), 'tool')
    expect([isStream, notifications]).toEqual([false, []])
  })

  it.each(['loud', 'INFO', 3, null])('modern, level %j → -32602 [logging.level]', async (level) => {
    const { error } = await callTool(serverOf(logAll), 'tool', {}, { meta: { [META.logLevel]: level } })
    expect(error?.code).toBe(ErrorCode.invalidParams)
  })

  it('legacy → from info up, as no level can be remembered [logging.level]', async () => {
    const response = await serverOf(logAll).fetch(legacyRequest('tools/call', { name: 'tool' }))
    const stream = new StreamReader(response)
    expect(await stream.next()).toMatchObject({ method: 'notifications/message', params: { level: 'info' } })
    await stream.cancel()
  })
})

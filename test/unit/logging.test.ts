import { beforeEach, describe, expect, it, vi } from 'vitest'
import {
  createMemoryBus,
  createResource,
  createTool,
  type LogEntry,
  MCPServer,
  type MCPServerConfig,
} from '../../src/index.ts'
import { accept, connect } from '../../src/testing.ts'
import {
  CLIENT,
  callTool,
  createServer,
  initialize,
  legacy,
  META,
  modern,
  modernRequest,
  post,
  StreamReader,
} from './_client.ts'

const SECRET = 'hunter2'

/** A server whose log the test reads. */
function logged(config: Partial<MCPServerConfig> = {}) {
  const entries: LogEntry[] = []
  const server = createServer({
    log: (entry) => entries.push(entry),
    tools: {
      echo: createTool({ id: 'echo', execute: () => `the ${SECRET}` }),
      chatty: createTool({
        id: 'chatty',
        execute: (_input, ctx) => {
          ctx.log('error', SECRET)
          return SECRET
        },
      }),
    },
    resources: [createResource({ uri: 'docs://readme', read: () => SECRET })],
    ...config,
  })
  return { server, entries }
}

let reported: ReturnType<typeof vi.spyOn>
beforeEach(() => {
  reported = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  return () => reported.mockRestore()
})

it('a fault that quotes what a client sent is cut, and says where it happened [log.line]', async () => {
  const long = '$& '.repeat(1_000_000)
  const onError = vi.fn()
  const quote = createTool({
    id: 'quote',
    execute: () => {
      throw new Error(`cannot find ${long}`)
    },
  })
  await callTool(createServer({ tools: { quote }, onError }), 'quote')
  const line = String(reported.mock.calls[0]?.[0])
  expect(line.length).toBeLessThan(8000)
  expect(JSON.parse(line)).toMatchObject({
    message: expect.stringMatching(/^cannot find .*…$/),
    tool: 'quote',
  })
  expect(JSON.parse(line).stack).toContain('logging.test.ts')
  // The hook is given the error itself.
  expect(onError.mock.calls[0]?.[0].message).toHaveLength(long.length + 12)
})

it('what a client makes up is cut: a line stays short [log.line]', async () => {
  const long = 'x'.repeat(1_000_000)
  const lines: object[] = []
  const server = createServer({ log: (entry) => void lines.push(entry) })
  const meta = { [META.clientInfo]: { name: long, version: long } }
  await server.fetch(modernRequest('tools/call', { name: long }, { meta }))
  await server.fetch(modernRequest('resources/read', { uri: long }))
  await server.fetch(post({ jsonrpc: '2.0', id: 1, method: long }))
  await initialize(server, { protocolVersion: long, clientInfo: { name: long, version: '1' } })
  expect(lines).toHaveLength(4)
  for (const line of lines) expect(JSON.stringify(line).length).toBeLessThan(2000)
})

describe('the log', () => {
  it('one entry a request: what was asked, by whom, and how it went [log.line]', async () => {
    const { server, entries } = logged()
    const { headers } = await callTool(server, 'echo')
    expect(entries).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        requestId: headers.get('x-request-id'),
        httpMethod: 'POST',
        path: '/mcp',
        status: 200,
        durationMs: expect.any(Number),
        method: 'tools/call',
        target: 'echo',
        era: 'modern',
        protocolVersion: '2026-07-28',
        client: `${CLIENT.name}/${CLIENT.version}`,
      },
    ])
  })

  it.each([
    ['tools/call', { name: 'nothing' }, { target: 'nothing', status: 200, code: -32_602 }],
    ['resources/read', { uri: 'docs://readme' }, { target: 'docs://readme', status: 200 }],
    ['nothing', {}, { method: 'nothing', status: 404, code: -32_601 }],
  ])('%s %j → %j [log.line]', async (method, params, entry) => {
    const { server, entries } = logged()
    await modern(server, method, params)
    expect(entries).toHaveLength(1)
    expect(entries[0]).toMatchObject(entry)
  })

  it('legacy requests, notifications and batches too [log.line]', async () => {
    const { server, entries } = logged()
    await initialize(server)
    await legacy(server, 'tools/list')
    await server.fetch(post({ jsonrpc: '2.0', method: 'notifications/initialized' }))
    await server.fetch(post([{ jsonrpc: '2.0', id: 1, method: 'ping' }]))
    expect(entries).toMatchObject([
      { method: 'initialize', era: 'legacy', client: 'unit/1.0.0' },
      { method: 'tools/list', era: 'legacy', protocolVersion: '2025-11-25' },
      { method: 'notifications/initialized', status: 202 },
      { method: 'batch', status: 200 },
    ])
  })

  it('what never became a message: by its status [log.line]', async () => {
    const { server, entries } = logged()
    await server.fetch(post('nonsense'))
    await server.fetch(post('', { headers: { 'content-type': 'text/plain' } }))
    await server.fetch(new Request('https://mcp.example/healthz'))
    await server.fetch(new Request('https://mcp.example/', { method: 'DELETE' }))
    expect(entries.map(({ status, code }) => [status, code])).toEqual([
      [400, -32_700],
      [415, undefined],
      [200, undefined],
      [405, undefined],
    ])
  })

  it('a stream is logged once, when it ends [log.line]', async () => {
    const { server, entries } = logged()
    const request = modernRequest('tools/call', { name: 'chatty' }, { meta: { [META.logLevel]: 'debug' } })
    const response = await server.fetch(request)
    await response.text()
    expect(entries).toMatchObject([{ method: 'tools/call', target: 'chatty', status: 200 }])
  })

  it('a listen stream when its client goes [log.line]', async () => {
    const { server, entries } = logged({ bus: createMemoryBus() })
    const request = modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } })
    const stream = new StreamReader(await server.fetch(request))
    await stream.next()
    expect(entries).toEqual([])
    await stream.cancel()
    expect(entries).toMatchObject([{ method: 'subscriptions/listen', status: 200 }])
  })

  it('holds no arguments, results, tokens or query strings [log.secrets]', async () => {
    const { server, entries } = logged()
    await callTool(
      server,
      'echo',
      { password: SECRET, nested: [SECRET] },
      {
        url: `https://mcp.example/mcp?token=${SECRET}`,
        headers: { authorization: `Bearer ${SECRET}`, cookie: SECRET, 'x-api-key': SECRET },
        meta: { trace: SECRET, [META.logLevel]: 'debug' },
      },
    )
    await callTool(server, 'chatty', {}, { meta: { [META.logLevel]: 'debug' } })
    await modern(server, 'resources/read', { uri: 'docs://readme' })
    await server.fetch(new Request(`https://mcp.example/healthz?token=${SECRET}`))
    expect(entries).toHaveLength(4)
    expect(JSON.stringify(entries)).not.toContain(SECRET)
  })

  it("'all' → a line of JSON on the console for every request [log.sink]", async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined)
    const server = new MCPServer({ id: 'x', name: 'X', version: '1', log: 'all' })
    await modern(server, 'server/discover', {}, { headers: { 'x-request-id': 'one' } })
    expect(log).toHaveBeenCalledOnce()
    const line = String(log.mock.calls[0]?.[0])
    expect(line).not.toContain('\n')
    expect(JSON.parse(line)).toMatchObject({
      level: 'info',
      clientRequestId: 'one',
      method: 'server/discover',
    })
    log.mockRestore()
  })

  it('false → none [log.sink]', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined)
    await modern(createServer({ log: false }), 'server/discover')
    expect(log).not.toHaveBeenCalled()
    log.mockRestore()
  })

  it.each([
    [undefined, { MAYFLY_LOG: 'all' }, 1],
    [undefined, { MAYFLY_LOG: 'problems' }, 0],
    [undefined, {}, 0],
    [undefined, null, 0],
    ['problems', { MAYFLY_LOG: 'all' }, 0],
    [false, { MAYFLY_LOG: 'all' }, 0],
    ['all', { MAYFLY_LOG: 'problems' }, 1],
  ] as const)(
    '%j in the code, %j in the environment → %i lines of a call that went well [log.sink]',
    async (setting, env, lines) => {
      const log = vi.spyOn(console, 'log').mockImplementation(() => undefined)
      const server = createServer({ log: setting as 'all' })
      await server.fetch(modernRequest('server/discover'), env)
      expect(log).toHaveBeenCalledTimes(lines)
      log.mockRestore()
    },
  )

  it.each(['problems', undefined] as const)(
    '%j → errors, refusals and slow calls alone [log.sink]',
    async (setting) => {
      vi.useFakeTimers({ toFake: ['Date'] })
      const log = vi.spyOn(console, 'log').mockImplementation(() => undefined)
      try {
        const slow = createTool({
          id: 'slow',
          execute: () => {
            vi.setSystemTime(Date.now() + 1000)
            return 'done'
          },
        })
        const server = createServer({ log: setting as 'problems', tools: { slow } })
        await modern(server, 'tools/list')
        expect(log).not.toHaveBeenCalled()
        await modern(server, 'no/such')
        await server.fetch(new Request('https://example.com/nowhere'))
        await callTool(server, 'slow', {})
        const entries = log.mock.calls.map(([line]) => JSON.parse(String(line)) as LogEntry)
        expect(entries).toMatchObject([
          { code: -32_601 },
          { status: 405 },
          { target: 'slow', durationMs: 1000 },
        ])
      } finally {
        log.mockRestore()
        vi.useRealTimers()
      }
    },
  )

  it('anything else → TypeError [log.sink]', () => {
    for (const log of [true, 'none', {}])
      expect(() => createServer({ log: log as never })).toThrow('"log" must be')
  })

  it('what the client names itself cannot forge a line [log.line]', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined)
    const server = new MCPServer({ id: 'x', name: 'X', version: '1', log: 'all' })
    const name = 'evil"}\n{"level":"error"'
    await modern(server, 'server/discover', {}, { meta: { [META.clientInfo]: { name, version: '1' } } })
    const line = String(log.mock.calls[0]?.[0])
    expect(line).not.toContain('\n')
    expect(JSON.parse(line)).toMatchObject({ level: 'info', client: `${name}/1` })
    log.mockRestore()
  })

  it('what a client sends cannot steer a terminal that shows the log [log.line]', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined)
    const steering = '\u001b[2J\u007f\u009b2J\u202e\u2066\u2028\u{e0041}é𝒜'
    const tools = {
      boom: createTool({
        id: 'boom',
        execute: () => {
          throw new Error(`There is no ${steering}.`)
        },
      }),
    }
    const server = new MCPServer({ id: 'x', name: 'X', version: '1', log: 'all', tools })
    const meta = { [META.clientInfo]: { name: steering, version: '1' } }

    await modern(server, 'server/discover', {}, { meta })
    await legacy(server, 'tools/call', { name: steering, arguments: {} })
    await legacy(server, `${steering}/x`)
    await legacy(server, 'tools/call', { name: 'boom', arguments: {} })

    const lines = [...log.mock.calls, ...reported.mock.calls].map(([line]) => String(line))
    expect(lines).toHaveLength(5)
    for (const line of lines) expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
    const [discovered, called, unknown, , fault] = lines.map((line) => JSON.parse(line))
    expect(discovered.client).toBe(`${steering}/1`)
    expect(called.target).toBe(steering)
    expect(unknown.method).toBe(`${steering}/x`)
    expect(fault.message).toBe(`There is no ${steering}.`)
    log.mockRestore()
  })
})

describe('a fault of user code', () => {
  const boom = createTool({
    id: 'boom',
    execute: () => {
      throw new RangeError('The index is off.')
    },
  })

  it('is reported to the console with its stack, as one line of JSON [faults.reported]', async () => {
    const { headers } = await callTool(createServer({ tools: { boom } }), 'boom')
    expect(reported).toHaveBeenCalledOnce()
    const line = String(reported.mock.calls[0]?.[0])
    expect(line).not.toContain('\n')
    expect(JSON.parse(line)).toEqual({
      level: 'error',
      time: expect.any(String),
      tool: 'boom',
      requestId: headers.get('x-request-id'),
      message: 'The index is off.',
      stack: expect.stringContaining('logging.test'),
    })
  })

  it('and to onError, as it was thrown [faults.reported]', async () => {
    const onError = vi.fn()
    const { headers } = await callTool(createServer({ tools: { boom }, onError }), 'boom')
    expect(onError).toHaveBeenCalledExactlyOnceWith(new RangeError('The index is off.'), {
      tool: 'boom',
      requestId: headers.get('x-request-id'),
    })
  })

  it('reaches the client without its stack [faults.hidden] [tools.thrown-error]', async () => {
    const { message, result } = await callTool(createServer({ tools: { boom } }), 'boom')
    expect(result).toMatchObject({ isError: true, content: [{ text: 'The index is off.' }] })
    expect(JSON.stringify(message)).not.toMatch(/logging\.test|at .*execute/)
  })

  it('an onError that throws changes nothing [faults.hidden]', async () => {
    const onError = () => {
      throw new Error('the reporter is down')
    }
    const { status, result } = await callTool(createServer({ tools: { boom }, onError }), 'boom')
    expect([status, result?.isError]).toEqual([200, true])
    expect(reported).toHaveBeenCalledTimes(2)
  })

  it('what is no Error is reported as text [faults.reported]', async () => {
    const odd = createTool({ id: 'odd', execute: () => Promise.reject({ toString: () => 'an object' }) })
    await callTool(createServer({ tools: { odd } }), 'odd')
    expect(JSON.parse(String(reported.mock.calls[0]?.[0]))).toMatchObject({ message: 'an object' })
  })
})

describe('a log that throws', () => {
  it('does not cost the client its answer [log.sink]', async () => {
    const log = () => {
      throw new Error('disk full')
    }
    const { status, result } = await callTool(logged({ log }).server, 'echo')
    expect([status, result?.isError]).toEqual([200, undefined])
    expect(String(reported.mock.calls[0]?.[0])).toContain('disk full')
  })

  it('nor the end of its stream [log.sink]', async () => {
    const log = () => {
      throw new Error('disk full')
    }
    const { server } = logged({ log })
    const { message } = await callTool(server, 'chatty', {}, { meta: { [META.logLevel]: 'debug' } })
    expect(message).toHaveProperty('result')
    expect(reported).toHaveBeenCalled()
  })
})

it.each(['modern', 'legacy'] as const)(
  'a %s client that comes and goes is no problem [log.line]',
  async (era) => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {})
    try {
      const server = createServer({ log: 'problems', secret: 'a-secret-of-the-tests-0123456789abcdef' })
      const handle = vi.spyOn(server, 'handle')
      const client = await connect(server, { era, answers: accept({}) })
      await client.listTools()
      const methods = (): string[] => handle.mock.calls.map(([{ method }]) => method)
      // The stream that it tries to open.
      if (era === 'legacy') await vi.waitFor(() => expect(methods()).toContain('GET'))
      await client.close()
      if (era === 'legacy') expect(methods()).toContain('DELETE')
      expect(log).not.toHaveBeenCalled()
      await server.fetch(new Request('https://mcp.example/mcp', { method: 'DELETE' }))
      expect(log).toHaveBeenCalledOnce()
    } finally {
      log.mockRestore()
    }
  },
)

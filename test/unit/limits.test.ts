import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bearer, createGate, VerifierUnavailableError } from '../../src/auth.ts'
import {
  createMemoryRateLimiter,
  createTool,
  ErrorCode,
  type HttpConfig,
  type MCPServerConfig,
  type RequestPlatform,
} from '../../src/index.ts'
import { createServer, deferred, META, modernRequest, post, readAnswer } from './_client.ts'

const discover = (
  server: ReturnType<typeof createServer>,
  { token, ...platform }: RequestPlatform & { token?: string } = {},
) => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return server.handle(modernRequest('server/discover', {}, { headers }), platform)
}

const BINDING = {}

describe('rateLimiter', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
  afterEach(() => void vi.useRealTimers())

  const limited = (config: Partial<MCPServerConfig> = {}, calls = 2) =>
    createServer({ http: { rateLimiter: createMemoryRateLimiter({ calls, windowMs: 60_000 }) }, ...config })

  it('more calls of one address → 429 with Retry-After and a JSON-RPC body; others go on [limits.rate]', async () => {
    const server = limited()
    const ann = { clientAddress: '192.0.2.1' }
    expect([(await discover(server, ann)).status, (await discover(server, ann)).status]).toEqual([200, 200])

    const refused = await discover(server, ann)

    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '30'])
    expect(await refused.json()).toMatchObject({ jsonrpc: '2.0', error: { code: ErrorCode.invalidRequest } })
    expect((await discover(server, { clientAddress: '192.0.2.2' })).status).toBe(200)
    vi.setSystemTime(Date.now() + 30_000)
    expect((await discover(server, ann)).status).toBe(200)
    expect((await discover(server, ann)).status).toBe(429)
  })

  it('a principal is counted wherever it calls from [limits.rate]', async () => {
    const server = limited({ auth: bearer((token) => ({ clientId: token, scopes: [] })) }, 1)
    expect((await discover(server, { token: 'ann', clientAddress: '192.0.2.1' })).status).toBe(200)
    expect((await discover(server, { token: 'ann', clientAddress: '192.0.2.2' })).status).toBe(429)
    expect((await discover(server, { token: 'bob', clientAddress: '192.0.2.1' })).status).toBe(200)
  })

  it('guessing tokens is counted by address [limits.rate]', async () => {
    const server = limited({ auth: bearer(() => undefined) }, 3)
    const statuses = []
    for (let guess = 0; guess < 5; guess++) {
      statuses.push((await discover(server, { token: `guess${guess}`, clientAddress: '192.0.2.1' })).status)
    }
    expect(statuses).toEqual([401, 401, 401, 429, 429])
  })

  const guarded = (calls = 3) => {
    const verify = vi.fn((token: string) =>
      token.startsWith('good') ? { clientId: token, scopes: [] } : undefined,
    )
    const server = limited({ auth: bearer(verify) }, calls)
    const from = async (clientAddress: string | undefined, token?: string) => {
      const sender = { ...(token !== undefined && { token }), ...(clientAddress && { clientAddress }) }
      return (await discover(server, sender)).status
    }
    return { verify, from }
  }

  it('a good token is always looked at, however many bad ones its address has sent [limits.rate]', async () => {
    const { from } = guarded()
    for (let guess = 0; guess < 12; guess++) {
      expect(await from('192.0.2.1', `guess${guess}`)).toBe(guess < 3 ? 401 : 429)
      expect(await from('192.0.2.1', `good${guess}`)).toBe(200)
    }
    // A client begins without a token, and needs the challenge.
    for (let client = 0; client < 12; client++) expect(await from('192.0.2.1')).toBe(401)
  })

  it('the same bad token again costs only itself, and is not verified for a while [limits.rate]', async () => {
    const { verify, from } = guarded()
    const statuses = []
    for (let call = 0; call < 7; call++) statuses.push(await from('192.0.2.1', 'expired'))
    // Once for its address, three times for itself.
    expect(statuses).toEqual([401, 401, 401, 401, 429, 429, 429])
    expect(verify).toHaveBeenCalledTimes(5)
    expect(await from('192.0.2.9', 'expired')).toBe(429)
    expect([await from('192.0.2.1', 'other'), await from('192.0.2.1', 'another')]).toEqual([401, 401])
    expect(await from('192.0.2.1', 'third')).toBe(429)
    vi.setSystemTime(Date.now() + 60_000)
    expect(await from('192.0.2.1', 'expired')).toBe(401)
  })

  it('the same bad token with more blanks before it is the same one [limits.rate]', async () => {
    const { verify, from } = guarded()
    const statuses = []
    for (let call = 0; call < 7; call++) statuses.push(await from('10.1.2.3', `${' '.repeat(call)}expired`))
    expect(statuses).toEqual([401, 401, 401, 401, 429, 429, 429])
    expect(verify).toHaveBeenCalledTimes(5)
  })

  it.each(['127.0.0.1', '::1', '10.1.2.3', '172.16.0.1', '192.168.1.9', '100.64.0.1', 'fd00::1', undefined])(
    'behind a proxy at %s, bad tokens of a stranger cost nobody else anything [limits.rate]',
    async (proxy) => {
      const { from } = guarded()
      for (let guess = 0; guess < 12; guess++) expect(await from(proxy, `guess${guess}`)).toBe(401)
      for (let user = 0; user < 12; user++) expect(await from(proxy, `good${user}`)).toBe(200)
      for (let user = 0; user < 12; user++) expect(await from(proxy, `expired${user}`)).toBe(401)
    },
  )

  it('an issuer that is down counts against nobody [limits.rate]', async () => {
    let isDown = true
    const auth = bearer(() => {
      if (isDown) throw new VerifierUnavailableError('down')
      return { clientId: 'ann', scopes: [] }
    })
    const server = limited({ auth, onError: () => {} }, 1)
    const ann = { token: 'good', clientAddress: '192.0.2.1' }
    for (let call = 0; call < 5; call++) expect((await discover(server, ann)).status).toBe(503)
    isDown = false
    expect((await discover(server, ann)).status).toBe(200)
  })

  it('a good token without the scopes of the server counts for itself alone [limits.rate]', async () => {
    const auth = bearer((token) => ({ clientId: token, scopes: token === 'ann' ? ['shop'] : [] }), {
      scopes: ['shop'],
    })
    const server = limited({ auth }, 2)
    const statusOf = async (token: string) =>
      (await discover(server, { token, clientAddress: '192.0.2.1' })).status
    const statuses = []
    for (let call = 0; call < 4; call++) statuses.push(await statusOf('bob'))
    expect(statuses).toEqual([403, 403, 429, 429])
    expect([await statusOf('cid'), await statusOf('ann')]).toEqual([403, 200])
  })

  it('the header in which a platform sends the token counts, where there is one [limits.rate]', async () => {
    const verify = vi.fn(async () => undefined)
    const auth = createGate({ authorizationServers: [], header: 'x-platform-token', verify })
    const server = limited({ auth }, 1)
    for (let call = 0; call < 5; call++) {
      const headers = { 'x-platform-token': 'bad', authorization: `Bearer ${call}` }
      await server.handle(modernRequest('server/discover', {}, { headers }), { clientAddress: '192.0.2.1' })
    }
    expect(verify).toHaveBeenCalledTimes(3)
  })

  it('says once that callers share a proxy [limits.rate]', async () => {
    const onError = vi.fn()
    const server = limited({ onError }, 100)
    const headers = { 'x-forwarded-for': '192.0.2.1' }
    for (const clientAddress of ['127.0.0.1', '10.0.0.1', '192.0.2.7']) {
      await server.handle(modernRequest('server/discover', {}, { headers }), { clientAddress })
    }
    expect(onError.mock.calls.map(([error]) => String(error))).toEqual([
      expect.stringContaining('http.trustProxy'),
    ])
  })

  it('forwarded addresses count only with trustProxy [limits.rate]', async () => {
    const call = async (trustProxy: boolean) => {
      const rateLimiter = createMemoryRateLimiter({ calls: 1, windowMs: 60_000 })
      const server = createServer({ http: { rateLimiter, trustProxy } })
      const from = (address: string) =>
        server.handle(
          modernRequest('server/discover', {}, { headers: { 'x-forwarded-for': `10.1.1.1, ${address}` } }),
          { clientAddress: '192.0.2.1' },
        )
      return [(await from('198.51.100.1')).status, (await from('198.51.100.2')).status]
    }
    expect([await call(false), await call(true)]).toEqual([
      [200, 429],
      [200, 200],
    ])
  })

  /** Whether two callers are counted as one. */
  const isOneCaller = async (
    [first, second]: readonly [string | undefined, string | undefined],
    forwarded: readonly [(string | undefined)?, (string | undefined)?] = [],
  ) => {
    const trustProxy = forwarded.length > 0
    const rateLimiter = createMemoryRateLimiter({ calls: 1, windowMs: 60_000 })
    const server = createServer({ http: { rateLimiter, trustProxy } })
    const statusOf = async (clientAddress: string | undefined, header: string | undefined) => {
      const headers = { 'x-forwarded-for': header }
      const platform = clientAddress === undefined ? {} : { clientAddress }
      return (await server.handle(modernRequest('server/discover', {}, { headers }), platform)).status
    }
    expect(await statusOf(first, forwarded[0])).toBe(200)
    return (await statusOf(second, forwarded[1])) === 429
  }

  it.each([
    ['192.0.2.1:5678', '192.0.2.1:5679'],
    ['192.0.2.1', '192.0.2.1:443'],
    ['[2001:db8::1]:123', '2001:db8::1'],
    ['2001:db8::1', '2001:0DB8:0:0:0:0:0:1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    // A proxy may be at each of these.
    ['fe80::1%eth0', '10.0.0.1'],
    ['127.0.0.1', undefined],
    // One customer has as many of these as there are grains of sand.
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
    ['2001:db8::1', '2001:db8:0:0:1::'],
    // No addresses: they cannot be told apart.
    ['', undefined],
    ['unknown', 'unix:/tmp/socket'],
  ])('%j and %j are one caller [limits.rate]', async (first, second) => {
    expect(await isOneCaller([first, second])).toBe(true)
    expect(await isOneCaller([second, first])).toBe(true)
  })

  it.each([
    ['192.0.2.1', '192.0.2.2'],
    ['192.0.2.1', '192.0.20.1'],
    ['2001:db8:1:2::1', '2001:db8:1:3::1'],
    ['2001:db8::1', '2001:db8:0:1::1'],
    ['2001:db8::', '::2001:db8'],
    ['192.0.2.1', undefined],
    ['192.0.2.1', 'unknown'],
  ])('%j and %j are two [limits.rate]', async (first, second) => {
    expect(await isOneCaller([first, second])).toBe(false)
  })

  it.each([
    ['198.51.100.1:1', '198.51.100.1:2'],
    ['10.0.0.1, 198.51.100.1', '10.0.0.2,198.51.100.1'],
    ['for=198.51.100.1', 'For="198.51.100.1:443"'],
    ['"[2001:db8::1]:4711"', '2001:db8::2'],
  ])('of a trusted proxy %j and %j are one [limits.rate]', async (first, second) => {
    expect(await isOneCaller(['10.9.9.1', '10.9.9.2'], [first, second])).toBe(true)
  })

  it.each([
    undefined,
    '',
    ' ',
    'unknown',
    '_hidden',
    '198.51.100.1,',
    '198.51.100.1, unknown',
    '198.51.100.1, unix:',
    '1 2',
    ',',
  ])(
    'what is no address at the end of a trusted proxy’s list, %j, is no caller: the connection’s counts [limits.rate]',
    async (header) => {
      expect(await isOneCaller(['192.0.2.1', '192.0.2.1'], [header, '192.0.2.1'])).toBe(true)
      expect(await isOneCaller(['192.0.2.1', '192.0.2.2'], [header, header])).toBe(false)
    },
  )

  it('a limiter that fails lets calls in, and is reported [limits.rate]', async () => {
    const onError = vi.fn()
    const rateLimiter = { limit: () => Promise.reject(new Error('The store is down.')) }
    const server = createServer({ http: { rateLimiter }, onError })
    expect((await discover(server)).status).toBe(200)
    expect(onError).toHaveBeenCalledOnce()
  })

  it.each([undefined, NaN, -5, '30', Infinity])(
    'a limiter that refuses with %s seconds → 429 with Retry-After: 1 [limits.rate]',
    async (retryAfterSeconds) => {
      const rateLimiter = { limit: () => ({ ok: false, retryAfterSeconds }) as never }
      const refused = await discover(createServer({ http: { rateLimiter } }))
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    },
  )

  it.each([undefined, null, true, 'ok', {}, { success: true }, { ok: 'yes' }, { ok: 1 }])(
    'a limiter that answers %j, which is no verdict → 429, and the log says so [limits.rate]',
    async (verdict) => {
      const onError = vi.fn()
      for (const answer of [verdict, Promise.resolve(verdict)]) {
        const rateLimiter = { limit: () => answer as never }
        const refused = await discover(createServer({ http: { rateLimiter }, onError }))
        expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
        expect(String(onError.mock.lastCall?.[0])).toContain(
          'neither { ok: true } nor { ok: false, retryAfterSeconds }',
        )
      }
    },
  )

  it('what is no limiter → TypeError; from a function → 429, and the log says so [limits.rate]', async () => {
    expect(() => createServer({ http: { rateLimiter: { check() {} } as never } })).toThrow(
      '"http.rateLimiter" must',
    )
    const onError = vi.fn()
    const server = createServer({ http: { rateLimiter: () => ({}) as never }, onError })
    expect((await discover(server)).status).toBe(429)
    expect(String(onError.mock.lastCall?.[0])).toContain('has no limit()')
  })

  it('may be made from the environment [limits.rate]', async () => {
    const strict = createMemoryRateLimiter({ calls: 1, windowMs: 60_000 })
    const server = createServer({ http: { rateLimiter: (env) => (env.STRICT ? strict : undefined) } })
    const env = { STRICT: true }
    expect([(await discover(server, { env })).status, (await discover(server, { env })).status]).toEqual([
      200, 429,
    ])
    expect((await discover(server)).status).toBe(200)
  })

  it.each<[string, () => unknown]>([
    [
      'the same object',
      (
        (env) => () =>
          env
      )({ LIMIT: '2' }),
    ],
    ['a copy for each request', () => ({ LIMIT: '2', BINDING })],
    ['none', () => undefined],
    ['null', () => null],
  ])('made by a function, is made once for an environment: %s [limits.rate]', async (_what, envOf) => {
    const create = vi.fn(({ LIMIT = 2 }) =>
      createMemoryRateLimiter({ calls: Number(LIMIT), windowMs: 60_000 }),
    )
    const server = createServer({ http: { rateLimiter: create } })
    const statuses = []
    for (let call = 0; call < 4; call++) {
      const platform = { env: envOf(), clientAddress: '192.0.2.1' }
      statuses.push((await discover(server, platform)).status)
    }
    expect(statuses).toEqual([200, 200, 429, 429])
    expect(create).toHaveBeenCalledOnce()
    const other = { env: { LIMIT: '1', BINDING: {} }, clientAddress: '192.0.2.1' }
    expect([(await discover(server, other)).status, (await discover(server, other)).status]).toEqual([
      200, 429,
    ])
    expect(create).toHaveBeenCalledTimes(2)
  })

  it('made by a function that throws → 500, and it is called again [limits.rate]', async () => {
    const onError = vi.fn()
    let isSet = false
    const rateLimiter = () => {
      if (!isSet) throw new Error('LIMITER is not set')
      return createMemoryRateLimiter({ calls: 1, windowMs: 60_000 })
    }
    const server = createServer({ http: { rateLimiter }, onError })
    const ann = { env: {}, clientAddress: '192.0.2.1' }
    expect([(await discover(server, ann)).status, (await discover(server, ann)).status]).toEqual([500, 500])
    expect(onError).toHaveBeenCalledTimes(2)
    isSet = true
    expect([(await discover(server, ann)).status, (await discover(server, ann)).status]).toEqual([200, 429])
  })

  it('forgets the longest silent of too many callers [limits.rate]', () => {
    const limiter = createMemoryRateLimiter({ calls: 1, windowMs: 60_000, maxKeys: 2 })
    for (const key of ['a', 'b', 'c']) expect(limiter.limit(key)).toEqual({ ok: true })
    expect(limiter.limit('c')).toMatchObject({ ok: false })
    expect(limiter.limit('a')).toEqual({ ok: true })
  })

  it.each([
    { calls: 0 },
    { calls: 0.5 },
    { calls: Number.POSITIVE_INFINITY },
    { calls: '5' as never },
    { windowMs: -1 },
    { windowMs: 0 },
    // No caller would ever be refused.
    { windowMs: Number.POSITIVE_INFINITY },
    { maxKeys: Number.NaN },
    { maxKeys: 0 },
  ])('%j → TypeError that names it [limits.rate]', (wrong) => {
    const create = () => createMemoryRateLimiter({ calls: 1, windowMs: 1, ...wrong })
    expect(create).toThrow(TypeError)
    expect(create).toThrow(new RegExp(`"${Object.keys(wrong)[0]}"`))
  })
})

describe('maxConcurrentCalls', () => {
  it('more at once → 503, and room again once one is over, stream or not [limits.concurrency]', async () => {
    const answers = [deferred<string>(), deferred<string>()]
    let calls = 0
    const wait = createTool({
      id: 'wait',
      execute: (_input, ctx) => {
        ctx.log('info', 'begun')
        return answers[calls++]!.promise
      },
    })
    const server = createServer({ tools: { wait }, http: { maxConcurrentCalls: 2 } })
    const meta = { 'io.modelcontextprotocol/logLevel': 'info' }
    const call = (accept: string) =>
      server.fetch(modernRequest('tools/call', { name: 'wait' }, { meta, headers: { accept } }))
    const streamed = await call('application/json, text/event-stream')
    const whole = call('application/json')
    await vi.waitUntil(() => calls === 2)

    const refused = await discover(server)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])

    answers[0]!.resolve('one')
    await streamed.text()
    expect((await discover(server)).status).toBe(200)
    answers[1]!.resolve('two')
    await whole
    expect((await Promise.all([discover(server), discover(server)])).map(({ status }) => status)).toEqual([
      200, 200,
    ])
  })

  it('a stream whose client leaves makes room once its tool has stopped [limits.concurrency]', async () => {
    const wait = createTool({
      id: 'wait',
      execute: (_input, ctx) => {
        ctx.log('info', 'begun')
        return new Promise<string>((_resolve, reject) => {
          ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))
        })
      },
    })
    const server = createServer({ tools: { wait }, http: { maxConcurrentCalls: 1 } })
    const meta = { 'io.modelcontextprotocol/logLevel': 'info' }
    const response = await server.fetch(modernRequest('tools/call', { name: 'wait' }, { meta }))
    expect((await discover(server)).status).toBe(503)
    await response.body!.cancel()
    expect((await discover(server)).status).toBe(200)
  })

  describe('a tool that never settles, once its client has left', () => {
    afterEach(() => vi.useRealTimers())

    const leave = async (executionContext?: object, http: HttpConfig = {}) => {
      vi.useFakeTimers({ toFake: ['Date'] })
      const endless = createTool({
        id: 'endless',
        execute: (_input, ctx) => {
          ctx.log('info', 'begun')
          return new Promise<string>(() => {})
        },
      })
      const config = { maxConcurrentCalls: 1, ...http }
      const server = createServer({ tools: { endless }, http: config })
      const meta = { 'io.modelcontextprotocol/logLevel': 'info' }
      const request = modernRequest('tools/call', { name: 'endless' }, { meta })
      const response = await server.fetch(request, {}, executionContext)
      await response.body!.cancel()
      const statusAfter = async (ms: number) => {
        vi.setSystemTime(Date.now() + ms)
        return (await discover(server)).status
      }
      return statusAfter
    }

    it.each([{}, { maxCallMs: 0 }])(
      'a Worker ends it → its place is free after 30 seconds, %j [limits.concurrency]',
      async (http) => {
        const waited: Promise<unknown>[] = []
        const statusAfter = await leave({ waitUntil: (work: Promise<unknown>) => waited.push(work) }, http)
        expect(waited).toHaveLength(1)
        expect(await statusAfter(29_000)).toBe(503)
        expect(await statusAfter(1000)).toBe(200)
      },
    )

    it('an earlier maxCallMs → its place is free then [limits.concurrency]', async () => {
      const statusAfter = await leave({ waitUntil() {} }, { maxCallMs: 10_000 })
      expect(await statusAfter(9000)).toBe(503)
      expect(await statusAfter(2500)).toBe(200)
    })

    it('a process does not end it → its place is taken until maxCallMs [limits.concurrency]', async () => {
      const statusAfter = await leave()
      expect(await statusAfter(31_000)).toBe(503)
      expect(await statusAfter(600_000)).toBe(200)
    })
  })
})

describe('bodies', () => {
  const statusOf = async (params: object, http: HttpConfig) => {
    const response = await createServer({ http }).fetch(modernRequest('server/discover', { ...params }))
    return response.status
  }

  it('too many members or items → 400 [limits.json]', async () => {
    const wide = { arguments: Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`k${index}`, 1])) }
    const long = { arguments: { list: Array(60).fill(0) } }
    for (const params of [wide, long]) {
      expect(await statusOf(params, { maxJsonMembers: 60 })).toBe(400)
      expect(await statusOf(params, { maxJsonMembers: 100 })).toBe(200)
    }
  })

  it('a string that is too long → 400, where there is such a limit [limits.json]', async () => {
    const params = { arguments: { deep: { text: 'x'.repeat(200) } } }
    expect(await statusOf(params, { maxStringCharacters: 199 })).toBe(400)
    expect(await statusOf(params, {})).toBe(200)
  })

  it('one that stops halfway → 408, and it is not waited for any longer [limits.slow-body]', async () => {
    const cancelled = vi.fn()
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"jsonrpc":')),
      cancel: cancelled,
    })
    const response = await createServer({ http: { bodyTimeoutMs: 30 } }).fetch(post(body))
    expect(response.status).toBe(408)
    expect(cancelled).toHaveBeenCalledOnce()
  })

  it('one that comes slowly, but in time, is served [limits.slow-body]', async () => {
    const { body } = modernRequest('server/discover')
    const slow = new TransformStream<Uint8Array, Uint8Array>({
      transform: async (chunk, controller) => {
        await new Promise((resolve) => setTimeout(resolve, 20))
        controller.enqueue(chunk)
      },
    })
    const request = modernRequest('server/discover')
    const init = { method: 'POST', headers: request.headers, body: body!.pipeThrough(slow), duplex: 'half' }
    const server = createServer({ http: { bodyTimeoutMs: 5000 } })
    expect((await server.fetch(new Request(request.url, init))).status).toBe(200)
  })
})

it('larger headers than maxHeaderBytes → 431 [limits.headers]', async () => {
  const server = createServer({ http: { maxHeaderBytes: 2000 } })
  const withHeader = (length: number) =>
    server.fetch(modernRequest('server/discover', {}, { headers: { 'x-long': 'x'.repeat(length) } }))
  expect((await withHeader(100)).status).toBe(200)
  const response = await withHeader(2000)
  expect(response.status).toBe(431)
  expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: ErrorCode.invalidRequest } })
})

describe('a stream that nobody reads', () => {
  const MEGABYTE = 'x'.repeat(1024 * 1024)
  const run = (execute: (log: () => void, signal: AbortSignal) => unknown) => {
    const tool = createTool({
      id: 'tool',
      execute: (_input, ctx) => execute(() => ctx.log('info', MEGABYTE), ctx.signal),
    })
    const _meta = { [META.logLevel]: 'debug' }
    return createServer({ tools: { tool } }).fetch(modernRequest('tools/call', { name: 'tool', _meta }))
  }

  it('is cut at 8 MB, and its call aborted [limits.slow-reader]', async () => {
    const aborted = deferred<void>()
    let logged = 0
    const response = await run((log, signal) => {
      signal.addEventListener('abort', () => aborted.resolve())
      while (!signal.aborted && logged < 100) {
        log()
        logged++
      }
      return aborted.promise
    })
    await aborted.promise
    expect(logged).toBeLessThan(11)
    const cut: unknown = await response.text().catch((error: unknown) => error)
    expect(String(cut)).toContain('too slowly')
    // As Node prints it: a client that does so over and over must not fill the log.
    expect(inspect(cut).split('\n')).toHaveLength(1)
  })

  it('may hold one message that is larger than that [limits.slow-reader]', async () => {
    const response = await run((log) => {
      log()
      return MEGABYTE.repeat(12)
    })
    expect(await response.text()).toContain('"resultType":"complete"')
  })
})

it('maxCallMs ends a call that takes longer, and names itself [limits.call]', async () => {
  const wait = createTool({ id: 'wait', execute: () => new Promise<string>(() => {}) })
  const server = createServer({ tools: { wait }, http: { maxCallMs: 40 } })
  const { error } = await readAnswer(await server.fetch(modernRequest('tools/call', { name: 'wait' })))
  expect(error).toMatchObject({ code: ErrorCode.internal, data: { limit: 'deadline' } })
  expect(error?.message).toContain('http.maxCallMs')
})

it.each(['before it arrives', 'while its tool runs'])(
  'a client that goes away %s leaves no timer behind, whatever its tool does [limits.call]',
  async (when) => {
    vi.useFakeTimers()
    try {
      const client = new AbortController()
      const started = deferred()
      const hang = createTool({
        id: 'hang',
        execute: () => {
          started.resolve()
          return new Promise<string>(() => {})
        },
      })
      const server = createServer({ tools: { hang } })
      if (when === 'before it arrives') client.abort()
      const response = server.fetch(modernRequest('tools/call', { name: 'hang' }, { signal: client.signal }))
      await started.promise
      await vi.advanceTimersByTimeAsync(1000)
      client.abort()
      expect((await response).status).toBe(499)
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  },
)

describe('maxBufferedBytes', () => {
  it.each([
    { maxBufferedBytes: 4_194_304 },
    { maxBufferedBytes: 1_000_000, maxBodyBytes: 1_000_000 },
    { maxBufferedBytes: 8_000_000, callerShare: 0.1 },
    { maxBodyBytes: 200_000_000, maxBufferedBytes: 67_108_864 },
  ])(
    '%j, into which the largest body of one caller does not fit → TypeError that says how many [limits.body]',
    (http) => {
      const least = Number(/at least (\d+)/.exec(messageOf(() => createServer({ http })))?.[1])
      expect(() => createServer({ http: { ...http, maxBufferedBytes: least } })).not.toThrow()
      expect(() => createServer({ http: { ...http, maxBufferedBytes: least - 1 } })).toThrow(
        'maxBufferedBytes',
      )
    },
  )

  it.each([
    {},
    { callerShare: 0.01 },
    { maxBodyBytes: 1_000_000, maxBufferedBytes: 1_868_928 },
    { maxBodyBytes: 100_000, maxBufferedBytes: 68_928, callerShare: 0.5 },
  ])('%j: a lone known caller may send the largest body, in pieces [limits.body]', async (http) => {
    const { maxBodyBytes = 4_194_304 } = http
    const auth = bearer((token) => ({ clientId: token, scopes: [] }))
    const server = createServer({ auth, http })
    const empty = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { _meta: { pad: '' } } })
    const bytes = new TextEncoder().encode(
      empty.replace('""}', `"${'x'.repeat(maxBodyBytes - empty.length)}"}`),
    )
    expect(bytes.length).toBe(maxBodyBytes)
    const body = new ReadableStream({
      start(controller) {
        for (let at = 0; at < bytes.length; at += 60_000) controller.enqueue(bytes.slice(at, at + 60_000))
        controller.close()
      },
    })
    const headers = { 'content-type': 'application/json', authorization: 'Bearer ann' }
    const request = new Request('https://mcp.example/mcp', {
      method: 'POST',
      headers,
      body,
      duplex: 'half',
    } as never)
    expect((await server.handle(request, {})).status).toBe(200)
  })
})

function messageOf(make: () => unknown): string {
  try {
    make()
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

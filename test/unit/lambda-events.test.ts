/** What AWS Lambda's triggers send, translated in and out: events as AWS documents them, and as an attacker would like them. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBackground } from '../../adapters/_lambda/background.ts'
import { readCall } from '../../adapters/_lambda/event-to-request.ts'
import { maxBodyBytes, respond, toAnswer, toHead, toResult } from '../../adapters/_lambda/result.ts'
import { type ResponseStream, writeResponse } from '../../adapters/_lambda/stream.ts'
import { lambda, streamingLambda } from '../../adapters/lambda.ts'

interface EventOptions {
  readonly path?: string
  readonly query?: string
  readonly method?: string
  readonly headers?: { readonly [name: string]: string }
  readonly body?: string
  readonly isBase64Encoded?: boolean
  readonly context?: object
}

/** https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-request-payload */
function functionUrlEvent(options: EventOptions = {}): object {
  const { path = '/mcp', query = '', method = 'POST', headers = {}, context = {}, ...body } = options
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: query,
    headers: {
      host: 'abc123.lambda-url.eu-central-1.on.aws',
      'x-forwarded-proto': 'https',
      'x-forwarded-for': '6.6.6.6',
      ...headers,
    },
    requestContext: {
      accountId: 'anonymous',
      apiId: 'abc123',
      domainName: 'abc123.lambda-url.eu-central-1.on.aws',
      domainPrefix: 'abc123',
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '198.51.100.7', userAgent: 'agent' },
      stage: '$default',
      ...context,
    },
    isBase64Encoded: false,
    ...body,
  }
}

const API_HOST = 'a1b2c3.execute-api.eu-central-1.amazonaws.com'

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html */
function httpApiEvent(options: EventOptions & { readonly stage?: string } = {}): object {
  const { stage = '$default', context, ...rest } = options
  return functionUrlEvent({
    ...rest,
    context: { apiId: 'a1b2c3', domainName: API_HOST, domainPrefix: 'a1b2c3', stage, ...context },
  })
}

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html */
function restApiEvent(options: EventOptions = {}): object {
  const {
    path = '/mcp',
    method = 'POST',
    headers = {},
    context = {},
    body = null,
    isBase64Encoded = false,
  } = options
  const all = { Host: API_HOST, 'X-Forwarded-Proto': 'https', ...headers }
  return {
    resource: '/{proxy+}',
    path,
    httpMethod: method,
    headers: all,
    multiValueHeaders: Object.fromEntries(Object.entries(all).map(([name, value]) => [name, [value]])),
    queryStringParameters: { q: 'last' },
    multiValueQueryStringParameters: { q: ['a b', 'last&='] },
    pathParameters: { proxy: path.slice(1) },
    requestContext: {
      apiId: 'a1b2c3',
      domainName: API_HOST,
      domainPrefix: 'a1b2c3',
      httpMethod: method,
      identity: { sourceIp: '198.51.100.7' },
      path: `/prod${path}`,
      stage: 'prod',
      ...context,
    },
    body,
    isBase64Encoded,
  }
}

/** https://docs.aws.amazon.com/elasticloadbalancing/latest/application/lambda-functions.html */
function albEvent({
  path = '/mcp',
  method = 'POST',
  headers = {},
  body = '',
  isBase64Encoded = false,
}: EventOptions = {}): object {
  return {
    requestContext: { elb: { targetGroupArn: 'arn:aws:elasticloadbalancing:x:1:targetgroup/y/z' } },
    httpMethod: method,
    path,
    queryStringParameters: { q: 'a%20b', r: '%26' },
    headers: {
      host: 'shop.example',
      'x-forwarded-proto': 'https',
      'x-forwarded-for': '6.6.6.6, 198.51.100.7',
      ...headers,
    },
    body,
    isBase64Encoded,
  }
}

const SHAPES = [
  {
    shape: 'Function URL',
    event: functionUrlEvent,
    host: 'abc123.lambda-url.eu-central-1.on.aws',
    prefix: '',
    vouches: true,
  },
  { shape: 'HTTP API', event: httpApiEvent, host: API_HOST, prefix: '', vouches: true },
  { shape: 'REST API', event: restApiEvent, host: API_HOST, prefix: '/prod', vouches: true },
  // It passes on what the client wrote.
  { shape: 'load balancer', event: albEvent, host: 'shop.example', prefix: '', vouches: false },
] as const

const context = { getRemainingTimeInMillis: () => 10_000 }

describe.each(SHAPES)('$shape', ({ event, host, prefix, vouches }) => {
  it('the request has the public URL, the method and the address the platform saw', () => {
    const { toRequest, clientAddress, ...call } = readCall(event())

    const url = new URL(toRequest()!.url)
    expect(url.protocol).toBe('https:')
    expect(url.host).toBe(host)
    expect(url.pathname).toBe(`${prefix}/mcp`)
    expect(toRequest()!.method).toBe('POST')
    expect(clientAddress).toBe('198.51.100.7')
    expect(call.prefix).toBe(prefix)
    expect(call.vouchesForHost).toBe(vouches)
  })

  it('HEAD → the headers of a GET and no body, whatever the server answers', async () => {
    const handler = lambda({ fetch: () => new Response('a body', { headers: { 'x-own': '1' } }) })
    const result = await handler(event({ method: 'HEAD' }), context)
    expect([result.statusCode, result.body]).toEqual([200, ''])
    expect(JSON.stringify(result)).toContain('x-own')
  })

  it.each([
    ['//evil.example/x'],
    ['///evil.example'],
    ['/\\evil.example'],
    ['\\\\evil.example\\x'],
    ['https://evil.example/x'],
    ['@evil.example/x'],
    ['/..//evil.example'],
    ['/x?y=1#z'],
    ['/\r\nHost: evil.example'],
    ['/\t/evil.example'],
    [':8080/x'],
    ['.evil.example'],
    [''],
    ['*'],
  ])('a path of %j changes nothing but the path', (path) => {
    const { toRequest } = readCall(event({ path }))

    const url = new URL(toRequest()!.url)
    expect({ protocol: url.protocol, host: url.host, user: url.username }).toEqual({
      protocol: 'https:',
      host,
      user: '',
    })
    expect(url.hash).toBe('')
    expect(url.search).not.toContain('y=1')
  })

  it('whatever the path and the query are, scheme and host stay', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (path, query) => {
        const { origin } = new URL(readCall(event({ path, query })).toRequest()!.url)
        expect(origin).toBe(`https://${host}`)
      }),
    )
  })

  it.each([
    { headers: { 'x-bad': 'a\r\nset-cookie: b' } },
    { headers: { 'x bad': 'a' } },
    { method: 'TRACE' },
    { method: 'G ET' },
  ])('%j is no request → 400, and the server is not asked', async (options) => {
    const handler = lambda({ fetch: () => expect.fail('asked') })

    expect(await handler(event(options), context)).toMatchObject({ statusCode: 400, body: '' })
  })

  it('a body in Base64 is decoded, one in text is UTF-8', async () => {
    const decoded = readCall(event({ body: 'AP/+', isBase64Encoded: true }))
    const text = readCall(event({ body: 'Żółw' }))

    expect(new Uint8Array(await decoded.toRequest()!.arrayBuffer())).toEqual(Uint8Array.of(0, 255, 254))
    expect(await text.toRequest()!.text()).toBe('Żółw')
    expect(text.toRequest()!.headers.get('content-type')).toBeNull()
  })

  it('GET with a body → a request without one', () => {
    expect(readCall(event({ method: 'GET', body: 'x' })).toRequest()!.body).toBeNull()
  })

  it('only http and https are schemes, and https is the default', () => {
    const protocol = (value: string) =>
      new URL(readCall(event({ headers: { 'x-forwarded-proto': value } })).toRequest()!.url).protocol

    expect(['http', 'HTTP', 'ftp', '', 'javascript', 'https, http'].map(protocol)).toEqual([
      'http:',
      'http:',
      'https:',
      'https:',
      'https:',
      'http:',
    ])
  })
})

describe('the substitute of a POST', () => {
  const post = (options: EventOptions = {}) =>
    readCall(functionUrlEvent({ body: 'Żółw', ...options })).toPost()!
  const own = { 'content-length': '7' }

  it.each(SHAPES)(
    '$shape: has the URL, the method, the headers and the body of the Request',
    async ({ event }) => {
      const call = readCall(
        event({ body: 'Żółw', headers: { Accept: 'text/plain, */*', 'x-empty': '', ...own } }),
      )
      const [substitute, request] = [call.toPost()!, call.toRequest()!]

      expect([substitute.url, substitute.method]).toEqual([request.url, request.method])
      expect([...substitute.headers]).toEqual([...request.headers])
      expect(substitute.headers.get('ACCEPT')).toBe('text/plain, */*')
      expect(new Uint8Array(await substitute.arrayBuffer())).toEqual(
        new Uint8Array(await request.arrayBuffer()),
      )
    },
  )

  it('whatever the headers are: it has those of the Request, or there is none', () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.constantFrom(' a', 'a\t', 'é', '', 'a\nb'),
    )
    const name = fc.oneof(
      text,
      fc.constantFrom('x-a', 'X-A', '__proto__', 'constructor', 'set-cookie', 'Cookie'),
    )
    let same = 0
    fc.assert(
      fc.property(fc.array(fc.tuple(name, text), { maxLength: 4 }), (pairs) => {
        const call = readCall(
          functionUrlEvent({ body: 'Żółw', headers: Object.fromEntries([...pairs, ...Object.entries(own)]) }),
        )
        const substitute = call.toPost()
        if (substitute === undefined) return
        same++
        const { headers } = call.toRequest()!
        expect([...substitute.headers]).toEqual([...headers])
        for (const [one] of pairs) expect(substitute.headers.get(one)).toBe(headers.get(one))
      }),
    )
    expect(same).toBeGreaterThan(0)
  })

  it.each([
    { method: 'GET' },
    { method: 'DELETE' },
    { body: '' },
    { headers: { 'x-bad': 'a\r\nset-cookie: b' } },
    { headers: { 'x bad': 'a' } },
    { headers: { host: 'a', Host: 'b' } },
    { headers: { 'x-latin': 'é' } },
  ])('%j: there is none', (options) => {
    expect(post(options)).toBeUndefined()
  })

  it('has every member of a Request and of Headers, and the same values', async () => {
    const members = (prototype: object) => Object.keys(Object.getOwnPropertyDescriptors(prototype))
    const [substitute, request] = [post(), readCall(functionUrlEvent({ body: 'Żółw' })).toRequest()!]
    // Node’s own.
    const own = ['attribute', 'isReloadNavigation', 'isHistoryNavigation']
    for (const name of members(Request.prototype).filter((one) => !own.includes(one))) {
      expect(name in substitute, name).toBe(true)
      const value: unknown = Reflect.get(request, name)
      const isPlain = typeof value !== 'object' && typeof value !== 'function'
      if (isPlain) expect(Reflect.get(substitute, name), name).toBe(value)
    }
    for (const name of members(Headers.prototype)) expect(name in substitute.headers, name).toBe(true)
    const all = substitute.headers
    expect([...all.keys()]).toEqual([...all].map(([name]) => name))
    expect([...all.values()]).toEqual([...all].map(([, value]) => value))
    expect(all.getSetCookie()).toEqual([])
    const seen: string[] = []
    all.forEach((value, name, given) => void seen.push(`${name}: ${value} ${given === all}`))
    expect(seen).toContain('content-length: 7 true')
    expect(() => all.get('no name')).toThrow(TypeError)
    all.append('x-a', '1')
    all.append('x-a', '2')
    all.set('x-b', '3')
    all.delete('host')
    expect([all.get('x-a'), all.get('x-b'), all.has('host')]).toEqual(['1, 2', '3', false])
    expect(new Headers([...all]).get('x-a')).toBe('1, 2')
  })

  it.each(['text', 'json', 'bytes', 'blob', 'arrayBuffer', 'clone'] as const)(
    '%s() reads the body, once',
    async (name) => {
      const substitute = post({ body: '"Żółw"' })
      const read = Reflect.get(substitute, name) as () => unknown
      const value = await read.call(substitute)
      const text =
        typeof value === 'string'
          ? value
          : await new Response(value instanceof Request ? value.body : (value as BodyInit)).text()
      expect(text).toContain('Żółw')
      if (name === 'clone') return
      expect(substitute.bodyUsed).toBe(true)
      await expect(substitute.arrayBuffer()).rejects.toThrow(TypeError)
    },
  )

  it('user code receives a real Request, always the same, without a body that was read before', async () => {
    const substitute = post()
    await substitute.arrayBuffer()
    const real = substitute.toReal()

    expect(real).toBeInstanceOf(Request)
    expect(substitute.toReal()).toBe(real)
    expect(await new Request(real).text()).toBe('')
    expect([...real.headers]).toEqual([...substitute.headers])
    expect(await post().toReal().text()).toBe('Żółw')
  })
})

describe('the substitute of a response', () => {
  const head = { 'content-type': 'application/json', 'x-a': 'b c' }
  const shapes = ['v2', 'v1', 'alb', 'alb-multi-value'] as const

  it.each(shapes)('%s: the result is that of a Response', async (shape) => {
    for (const [text, status, headers] of [
      ['{"a":"Ż"}', 200, head],
      [null, 202, { 'x-a': 'b' }],
      ['{}', 404, head],
    ] as const) {
      const substitute = toAnswer(respond(text, status, headers))
      expect(substitute).not.toBeInstanceOf(Response)
      expect(await toResult(substitute, shape)).toEqual(
        await toResult(new Response(text, { status, headers }), shape),
      )
    }
  })

  it.each([
    ['a cookie', { ...head, 'set-cookie': 'a=1' }],
    ['capitals', { ...head, 'X-A': 'd' }],
    ['blanks', { ...head, 'x-a': ' b ' }],
    ['no content type', { 'x-a': 'b' }],
    ['bytes', { 'content-type': 'image/png' }],
  ])('%s: there is none, but a Response', (_name, headers) => {
    expect(toAnswer(respond('{}', 200, headers))).toBeInstanceOf(Response)
  })

  it('a header that no Response can have is refused, as by one', () => {
    expect(() => respond('{}', 200, { ...head, 'x-a': 'a\r\nset-cookie: b' })).toThrow(TypeError)
    expect(() => respond('{}', 700, head)).toThrow(RangeError)
  })
})

describe('hosts', () => {
  it('the host of API Gateway and Function URLs is the platform’s, not the header’s', () => {
    for (const event of [functionUrlEvent, httpApiEvent, restApiEvent]) {
      const { host } = new URL(
        readCall(event({ headers: { host: 'evil.example', Host: 'evil.example' } })).toRequest()!.url,
      )
      expect(host).not.toBe('evil.example')
    }
  })

  it.each(['evil.example/x', 'user@evil.example', 'a b', '', 'evil.example#', 'x:99999', '[::1'])(
    'a load balancer’s Host of %j is not put into a URL',
    (host) => {
      expect(new URL(readCall(albEvent({ headers: { host } })).toRequest()!.url).host).toBe('localhost')
    },
  )

  it.each(['shop.example:8443', '[::1]:3000', 'localhost:3000'])('a Host of %s is kept', (host) => {
    expect(new URL(readCall(albEvent({ headers: { host } })).toRequest()!.url).host).toBe(host)
  })
})

describe('stages', () => {
  it('HTTP API, named stage: it is in the path that clients use', () => {
    const { toRequest, prefix } = readCall(httpApiEvent({ stage: 'beta', path: '/beta/mcp' }))

    expect(new URL(toRequest()!.url).pathname).toBe('/beta/mcp')
    expect(prefix).toBe('/beta')
  })

  // https://github.com/CodeGenieApp/serverless-express/issues/465: rawPath has the stage even there.
  it('HTTP API, custom domain: the stage is in the event alone', () => {
    const custom = { domainName: 'api.shop.example', domainPrefix: 'api' }
    const { toRequest, prefix } = readCall(
      httpApiEvent({ stage: 'beta', path: '/beta/mcp', context: custom }),
    )

    expect(toRequest()!.url).toBe('https://api.shop.example/mcp')
    expect(prefix).toBe('')
  })

  it('HTTP API: a path that only begins like the stage is not on it', () => {
    expect(readCall(httpApiEvent({ stage: 'beta', path: '/betamax' })).prefix).toBe('')
  })

  it.each([
    ['/', '/prod/', '/prod/'],
    ['/', '/prod', '/prod'],
    ['/mcp', '/prod/mcp', '/prod/mcp'],
  ])('REST API: path %j, public path %j', (path, publicPath, expected) => {
    const { toRequest, prefix } = readCall(restApiEvent({ path, context: { path: publicPath } }))

    expect(new URL(toRequest()!.url).pathname).toBe(expected)
    expect(prefix).toBe('/prod')
  })

  // https://github.com/localstack/localstack/pull/12296
  it('REST API, custom domain: event and context agree on the path, and there is no prefix', () => {
    const { toRequest, prefix } = readCall(
      restApiEvent({ path: '/base/mcp', context: { path: '/base/mcp', domainName: 'api.shop.example' } }),
    )

    expect(new URL(toRequest()!.url).pathname).toBe('/base/mcp')
    expect(prefix).toBe('')
  })
})

describe('queries', () => {
  it('Function URL: as it was sent', () => {
    const { toRequest } = readCall(functionUrlEvent({ query: 'q=a%20b&q=%26' }))

    expect(new URL(toRequest()!.url).search).toBe('?q=a%20b&q=%26')
  })

  it('REST API: all values, encoded again', () => {
    expect([...new URL(readCall(restApiEvent()).toRequest()!.url).searchParams]).toEqual([
      ['q', 'a b'],
      ['q', 'last&='],
    ])
  })

  it('load balancer: still encoded, and not a second time', () => {
    expect([...new URL(readCall(albEvent()).toRequest()!.url).searchParams]).toEqual([
      ['q', 'a b'],
      ['r', '&'],
    ])
  })
})

describe('other events', () => {
  it.each([
    null,
    undefined,
    'x',
    7,
    [],
    {},
    { httpMethod: 'GET' },
    { Records: [] },
    { requestContext: { connectionId: 'x' } },
  ])('%j → an error that names the triggers', async (event) => {
    const handler = lambda({ fetch: () => new Response() })

    await expect(handler(event, context)).rejects.toThrow(
      /not from an HTTP trigger.*Function URL.*API Gateway.*Load Balancer/,
    )
  })
})

describe('results', () => {
  const cookies = new Headers([
    ['content-type', 'application/json'],
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2, c'],
  ])
  const response = (body: BodyInit | null = '{}', headers: HeadersInit = cookies, status = 200): Response =>
    new Response(body, { status, headers })

  it('payload format 2.0: headers, and cookies of their own', () => {
    expect(toHead(response(), 'v2')).toEqual({
      statusCode: 200,
      headers: { 'content-type': 'application/json' },
      cookies: ['a=1', 'b=2, c'],
    })
  })

  it('REST API: values by name', () => {
    expect(toHead(response(), 'v1')).toEqual({
      statusCode: 200,
      multiValueHeaders: { 'content-type': ['application/json'], 'set-cookie': ['a=1', 'b=2, c'] },
    })
  })

  it('load balancer: with its description, and values by name only where it sends them', async () => {
    const [named, single] = [response('', cookies, 404), response('', cookies, 404)]
    expect(await toResult(named, 'alb-multi-value')).toEqual({
      statusCode: 404,
      statusDescription: '404 Not Found',
      multiValueHeaders: { 'content-type': ['application/json'], 'set-cookie': ['a=1', 'b=2, c'] },
      body: '',
      isBase64Encoded: false,
    })
    expect(await toResult(single, 'alb')).toMatchObject({
      statusCode: 404,
      statusDescription: '404 Not Found',
      headers: { 'content-type': 'application/json', 'set-cookie': 'b=2, c' },
    })
  })

  it.each([
    ['application/json', false],
    ['text/event-stream', false],
    ['text/html; charset=utf-8', false],
    ['application/problem+json', false],
    ['image/svg+xml', true],
    ['image/png', true],
    ['application/octet-stream', true],
  ])('%s as Base64: %s', async (type, isBase64Encoded) => {
    expect(await toResult(response('ü', { 'content-type': type }), 'v2')).toMatchObject({
      isBase64Encoded,
      body: isBase64Encoded ? 'w7w=' : 'ü',
    })
  })

  it('text that is compressed, or no UTF-8, goes as Base64', async () => {
    const compressed = response('x', { 'content-type': 'text/plain', 'content-encoding': 'br' })
    const latin1 = response(Uint8Array.of(0xfc), { 'content-type': 'text/plain' })

    expect(await toResult(compressed, 'v2')).toMatchObject({ isBase64Encoded: true, body: 'eA==' })
    expect(await toResult(latin1, 'v2')).toMatchObject({ isBase64Encoded: true, body: '/A==' })
  })

  it.each(['v2', 'v1', 'alb', 'alb-multi-value'] as const)(
    '%s: the largest JSON body that is allowed fits, even if it is all quotes',
    async (shape) => {
      // What JSON.stringify makes of quotes: a backslash and a quote each.
      const body = `["${'\\"'.repeat((maxBodyBytes(shape) - 4) / 2)}"]`
      const head = { 'content-type': 'application/json', 'x-filler': 'x'.repeat(8000) }

      const result = await toResult(response(body, head), shape)

      const limit = shape.startsWith('alb') ? 1_000_000 : 6_291_556
      expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(limit)
      expect(Buffer.from(result.body, result.isBase64Encoded ? 'base64' : 'utf8').toString() === body).toBe(
        true,
      )
      expect(result.isBase64Encoded).toBe(shape !== 'v1')
    },
  )
})

describe('streaming', () => {
  /** Takes `room` chunks before it wants to be waited for. */
  function fakeStream(room: number): ResponseStream & { written: string[]; drain(): void; fail(): void } {
    const listeners = new Map<string, Set<() => void>>()
    const emit = (event: string): void => {
      for (const listener of [...(listeners.get(event) ?? [])]) listener()
    }
    const stream = {
      written: [] as string[],
      destroyed: false,
      write: (chunk: Uint8Array | string) => {
        stream.written.push(typeof chunk === 'string' ? chunk : new TextDecoder().decode(chunk))
        return --room > 0
      },
      end: () => void stream.written.push('END'),
      once: (event: string, listener: () => void) => {
        if (!listeners.has(event)) listeners.set(event, new Set())
        listeners.get(event)!.add(listener)
      },
      off: (event: string, listener: () => void) => listeners.get(event)?.delete(listener),
      drain: () => {
        room = Number.POSITIVE_INFINITY
        emit('drain')
      },
      fail: () => {
        stream.destroyed = true
        emit('close')
      },
    }
    return stream
  }

  function countedResponse(): { response: Response; pulled: () => number; cancelled: () => boolean } {
    let pulled = 0
    let isCancelled = false
    const body = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          controller.enqueue(new TextEncoder().encode(String(++pulled)))
          if (pulled === 50) controller.close()
        },
        cancel: () => {
          isCancelled = true
        },
      },
      { highWaterMark: 0 },
    )
    return { response: new Response(body), pulled: () => pulled, cancelled: () => isCancelled }
  }

  const turns = () => new Promise((resolve) => setImmediate(resolve))

  it('reads no faster than it is taken', async () => {
    const { response, pulled } = countedResponse()
    const stream = fakeStream(4)

    const written = writeResponse(response, stream)
    await turns()
    await turns()
    expect(pulled()).toBe(3)
    stream.drain()
    await written

    expect(pulled()).toBe(50)
    expect(stream.written.at(-1)).toBe('END')
  })

  it('cancels what nobody takes any more', async () => {
    const { response, cancelled } = countedResponse()
    const stream = fakeStream(4)

    const written = writeResponse(response, stream)
    await turns()
    stream.fail()
    await written

    expect(cancelled()).toBe(true)
    expect(stream.written).not.toContain('END')
  })

  it('sends the head of a response without a body', async () => {
    const stream = fakeStream(4)

    await writeResponse(new Response(null, { status: 202 }), stream)

    expect(stream.written).toEqual(['', 'END'])
  })

  it('writes a buffered reply, the head with it, in one write', async () => {
    const [full, empty] = [fakeStream(1), fakeStream(1)]
    const json = { 'content-type': 'application/json' }

    await writeResponse(toAnswer(respond('{}', 200, json)), full)
    await writeResponse(toAnswer(respond(null, 202, {})), empty)

    expect(full.written).toEqual(['{}', 'END'])
    expect(empty.written).toEqual(['', 'END'])
  })

  it('outside of Lambda there is a clear error', () => {
    expect(() => streamingLambda({ fetch: () => new Response() })).toThrow(/awslambda/)
  })
})

describe('work that is left behind', () => {
  it('is waited for, with what it leaves behind itself, and may fail', async () => {
    const { waitUntil, settled } = createBackground()
    const done: string[] = []

    waitUntil(
      Promise.resolve().then(() => {
        done.push('first')
        waitUntil(Promise.resolve().then(() => void done.push('second')))
      }),
    )
    waitUntil(Promise.reject(new Error('reported')))
    await settled(Date.now() + 10_000)

    expect(done).toEqual(['first', 'second'])
  })

  it('is waited for no longer than until', async () => {
    const { waitUntil, settled } = createBackground()

    waitUntil(new Promise(() => {}))

    await expect(settled(Date.now() - 1)).resolves.toBeUndefined()
  })
})

it('the server is given what Lambda tells of the call', async () => {
  const before = Date.now()
  const handler = lambda(
    {
      fetch: () => expect.fail('handle is preferred'),
      handle: async (_request, platform) =>
        Response.json({ ...platform, env: platform.env, now: Date.now() }),
    },
    { env: { A: '1' } },
  )

  const { body } = await handler(httpApiEvent({ stage: 'beta', path: '/beta/mcp' }), context)

  const platform = JSON.parse(body) as { deadline: number }
  expect(platform).toMatchObject({
    env: { A: '1' },
    deadlineName: 'the timeout of the Lambda function',
    canStream: false,
    maxResponseBytes: 4_706_379,
    prefix: '/beta',
    vouchesForHost: true,
    clientAddress: '198.51.100.7',
  })
  expect(platform.deadline).toBeGreaterThanOrEqual(before + 10_000)
})

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type IntrospectionOptions, introspection } from '../../../src/auth.ts'
import { createMemoryRateLimiter, createTool } from '../../../src/index.ts'
import { createServer, modern } from '../_client.ts'
import { AUDIENCE, discover, type Issuer, introspectionAt, startIssuer } from './_issuer.ts'

let issuer: Issuer
beforeAll(async () => {
  issuer = await startIssuer()
})
beforeEach(() => {
  issuer.asked.clear()
  issuer.known.clear()
})
afterAll(() => issuer[Symbol.asyncDispose]())

const seconds = (fromNow: number) => Math.floor(Date.now() / 1000) + fromNow

const optionsFor = (options: Partial<IntrospectionOptions> = {}): IntrospectionOptions =>
  introspectionAt(issuer, options)

const server = (options: Partial<IntrospectionOptions> = {}) =>
  createServer({ auth: introspection(optionsFor(options)) })

describe('introspection', () => {
  it('an active token for us is let in, by our own credentials [auth.introspection]', async () => {
    issuer.known.set('good', {
      active: true,
      aud: AUDIENCE,
      iss: issuer.url,
      scope: 'shop',
      exp: seconds(60),
    })
    expect((await discover(server({ scopes: ['shop'] }), 'good')).status).toBe(200)
  })

  it.each<[string, object]>([
    ['not active', { active: false, aud: AUDIENCE }],
    ['active by another word', { active: 'true', aud: AUDIENCE }],
    ['for somebody else', { active: true, aud: 'https://other.example' }],
    ['for nobody', { active: true }],
    ['of another issuer', { active: true, aud: AUDIENCE, iss: 'https://evil.example' }],
    ['expired', { active: true, aud: AUDIENCE, exp: 1 }],
    ['with an expiry that is none', { active: true, aud: AUDIENCE, exp: 'never' }],
  ])('one that is %s → 401 [auth.introspection]', async (_what, answer) => {
    issuer.known.set('bad', answer)
    expect((await discover(server(), 'bad')).status).toBe(401)
  })

  it('answers are remembered for a while, good and bad ones [auth.introspection]', async () => {
    issuer.known.set('good', { active: true, aud: AUDIENCE })
    const one = server()
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      for (let call = 0; call < 3; call++) {
        await discover(one, 'good')
        await discover(one, 'bad')
      }
      expect(issuer.asked.get('/introspect')).toBe(2)
      issuer.known.delete('good')
      vi.setSystemTime(Date.now() + 31_000)
      expect((await discover(one, 'good')).status).toBe(401)
    } finally {
      vi.useRealTimers()
    }
  })

  it('no longer than the token lasts [auth.introspection]', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      issuer.known.set('brief', { active: true, aud: AUDIENCE, exp: seconds(5) })
      const one = server()
      expect((await discover(one, 'brief')).status).toBe(200)
      vi.setSystemTime(Date.now() + 6000)
      expect((await discover(one, 'brief')).status).toBe(401)
      expect(issuer.asked.get('/introspect')).toBe(2)
    } finally {
      vi.useRealTimers()
    }
  })

  /** Asks in this process, for very many tokens. */
  const inProcess = (isActive: (token: string) => boolean) => {
    const asked: string[] = []
    const fetchAs: typeof fetch = async (_input, init) => {
      const token = new URLSearchParams(String(init?.body)).get('token') ?? ''
      asked.push(token)
      return Response.json(isActive(token) ? { active: true, aud: AUDIENCE } : { active: false })
    }
    return { asked, one: server({ fetch: fetchAs }) }
  }

  it('for a thousand tokens at most, good ones and others [auth.introspection]', async () => {
    for (const isActive of [true, false]) {
      const { asked, one } = inProcess(() => isActive)
      const status = isActive ? 200 : 401
      for (let n = 0; n < 1000; n++) expect((await discover(one, `token-${n}`)).status).toBe(status)
      await discover(one, 'token-0')
      expect(asked).toHaveLength(1000)
      await discover(one, 'one-more')
      await discover(one, 'token-1')
      expect(asked).toHaveLength(1001)
      await discover(one, 'token-0')
      expect(asked).toHaveLength(1002)
    }
  })

  it('tokens that are not good push out none that is [auth.introspection]', async () => {
    const { asked, one } = inProcess((token) => token === 'good')
    await discover(one, 'good')
    for (let n = 0; n < 1001; n++) await discover(one, `token-${n}`)
    asked.length = 0
    expect((await discover(one, 'good')).status).toBe(200)
    expect(asked).toEqual([])
  })

  it('a token that is revoked is then remembered as that [auth.introspection]', async () => {
    let isActive = true
    const { asked, one } = inProcess(() => isActive)
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      expect((await discover(one, 'good')).status).toBe(200)
      isActive = false
      vi.setSystemTime(Date.now() + 29_000)
      expect((await discover(one, 'good')).status).toBe(200)
      vi.setSystemTime(Date.now() + 1000)
      for (let call = 0; call < 3; call++) expect((await discover(one, 'good')).status).toBe(401)
      expect(asked).toHaveLength(2)
    } finally {
      vi.useRealTimers()
    }
  })

  it('an answer is each call’s own: what a tool does to it is gone with it [auth.introspection]', async () => {
    issuer.known.set('good', { active: true, aud: AUDIENCE, scope: 'shop', address: { city: 'Rome' } })
    const rise = createTool({
      id: 'rise',
      execute: (_input, { auth }) => {
        const was = JSON.stringify([auth?.scopes, auth?.claims?.address])
        auth!.scopes.push('admin')
        ;(auth!.claims!.address as { city: string }).city = 'Oslo'
        return was
      },
    })
    const one = createServer({ auth: introspection(optionsFor()), tools: { rise } })
    const headers = { authorization: 'Bearer good' }
    for (let call = 0; call < 2; call++) {
      const { result } = await modern(one, 'tools/call', { name: 'rise' }, { headers })
      expect(result?.content).toMatchObject([{ text: '[["shop"],{"city":"Rome"}]' }])
    }
  })

  it('users of one client are told apart by sub, else by username [auth.principal]', async () => {
    const rateLimiter = createMemoryRateLimiter({ calls: 1, windowMs: 60_000 })
    const one = createServer({ auth: introspection(optionsFor()), http: { rateLimiter } })
    const client = { active: true, aud: AUDIENCE, client_id: 'desk' }
    issuer.known.set('ann', { ...client, username: 'ann' })
    issuer.known.set('bob', { ...client, username: 'bob' })
    issuer.known.set('cid', { ...client, sub: 'cid', username: 'ann' })
    issuer.known.set('ann-again', { ...client, username: 'ann' })
    const statuses = []
    for (const token of ['ann', 'bob', 'cid', 'ann-again']) statuses.push((await discover(one, token)).status)
    expect(statuses).toEqual([200, 200, 200, 429])
  })

  it('an endpoint that refuses us or is broken → 503 [auth.unavailable]', async () => {
    expect((await discover(server({ clientSecret: 'wrong' }), 'good')).status).toBe(503)
    issuer.broken = { status: 200, body: '[1]' }
    try {
      expect((await discover(server(), 'good')).status).toBe(503)
    } finally {
      delete issuer.broken
    }
  })

  it.each<[string, Partial<IntrospectionOptions>]>([
    ['an endpoint that is no URL', { endpoint: 'introspect' }],
    ['an endpoint without TLS', { endpoint: 'http://login.example/introspect' }],
    ['an audience that is not set', { audience: [undefined as never] }],
    ['an audience of nothing', { audience: [] }],
    ['an empty audience', { audience: ['https://mcp.example', ''] }],
    ['a time before now', { cacheMs: -1 }],
    ['no time', { cacheMs: Number.NaN }],
    ['all time', { cacheMs: Number.POSITIVE_INFINITY }],
  ])('%s → TypeError [auth.introspection]', (_what, options) => {
    expect(() => introspection(optionsFor(options))).toThrow(TypeError)
  })

  it.each(['endpoint', 'clientId', 'clientSecret', 'issuer', 'audience'] as const)(
    'without %s → TypeError [auth.introspection]',
    (option) => {
      expect(() => introspection(optionsFor({ [option]: '' }))).toThrow(TypeError)
    },
  )
})

describe('an issuer that fails', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
  afterEach(() => {
    vi.useRealTimers()
    delete issuer.broken
    delete issuer.crafted
  })
  const later = (ms: number) => void vi.setSystemTime(Date.now() + ms)
  const asked = () => issuer.asked.get('/introspect') ?? 0

  it.each([
    { status: 500, body: '{}' },
    { status: 502, body: '' },
    { status: 429, body: '' },
    { status: 401, body: '{}' },
    { status: 404, body: '{}' },
    { status: 302, body: '' },
    { status: 200, body: 'no JSON' },
    { status: 200, body: 'null' },
  ])('with %j is not asked about each token, and asked again later [auth.outage]', async (broken) => {
    const onError = vi.fn()
    const one = createServer({ auth: introspection(optionsFor()), onError })
    issuer.broken = broken
    for (let n = 0; n < 20; n++) {
      const response = await discover(one, `bad-${n}`)
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
    }
    // About the first token, and about one that nobody sent.
    expect(asked()).toBe(2)
    // Once for each time that it failed, not for each token.
    expect(onError).toHaveBeenCalledOnce()

    // Twice as long each time, up to 5 seconds.
    for (const [pauseMs, total] of [
      [1000, 4],
      [2000, 6],
      [4000, 8],
      [5000, 10],
      [5000, 12],
    ] as const) {
      later(pauseMs - 1)
      await discover(one, 'early')
      expect(asked()).toBe(total - 2)
      later(1)
      await discover(one, 'late')
      await discover(one, 'late too')
      expect(asked()).toBe(total)
    }
    expect(onError).toHaveBeenCalledTimes(6)

    delete issuer.broken
    issuer.known.set('good', { active: true, aud: AUDIENCE })
    later(5000)
    expect((await discover(one, 'good')).status).toBe(200)
    expect((await discover(one, 'bad')).status).toBe(401)
    issuer.broken = broken
    await discover(one, 'bad-again')
    later(1000)
    delete issuer.broken
    expect((await discover(one, 'worse')).status).toBe(401)
  })

  it('tokens that are known are served meanwhile [auth.outage]', async () => {
    const one = server()
    issuer.known.set('good', { active: true, aud: AUDIENCE })
    await discover(one, 'good')
    issuer.broken = { status: 500, body: '' }
    expect((await discover(one, 'bad')).status).toBe(503)
    expect((await discover(one, 'good')).status).toBe(200)
  })

  it('with one token alone does not keep others out [auth.outage]', async () => {
    for (const status of [302, 400, 401, 403, 404, 413, 422, 429, 500, 502, 503]) {
      const one = server()
      issuer.asked.clear()
      issuer.crafted = { status, body: '{"error":"invalid_request"}' }
      const response = await discover(one, 'crafted')
      expect([response.status, response.headers.get('retry-after')], `${status}`).toEqual([503, '5'])
      for (let n = 0; n < 8; n++) {
        issuer.known.set(`good-${n}`, { active: true, aud: AUDIENCE })
        expect((await discover(one, `good-${n}`)).status, `${status}`).toBe(200)
      }
      // That token is not asked about again for 5 seconds.
      const before = asked()
      later(4999)
      expect((await discover(one, 'crafted')).status).toBe(503)
      expect(asked()).toBe(before)
      delete issuer.crafted
      later(1)
      expect((await discover(one, 'crafted')).status).toBe(401)
      expect(asked()).toBe(before + 1)
    }
  })

  it('with many crafted tokens, at once and one by one, keeps nobody else out [auth.outage]', async () => {
    const one = server()
    issuer.crafted = { status: 500, body: '' }
    const statuses = async (count: number, name: string) => {
      const responses = Array.from({ length: count }, (_, n) => discover(one, `${name}-${n}`))
      return new Set((await Promise.all(responses)).map(({ status }) => status))
    }
    expect(await statuses(20, 'crafted')).toEqual(new Set([503]))
    for (let n = 20; n < 30; n++) expect((await discover(one, `crafted-${n}`)).status).toBe(503)
    for (let n = 0; n < 8; n++) issuer.known.set(`good-${n}`, { active: true, aud: AUDIENCE })
    expect(await statuses(8, 'good')).toEqual(new Set([200]))
  })

  it('and is well again, is not kept out by a crafted token that is the first to try [auth.outage]', async () => {
    const one = server()
    issuer.broken = { status: 500, body: '' }
    expect((await discover(one, 'first')).status).toBe(503)
    delete issuer.broken
    issuer.crafted = { status: 500, body: '' }
    issuer.known.set('good', { active: true, aud: AUDIENCE })
    later(1000)
    expect((await discover(one, 'crafted')).status).toBe(503)
    expect((await discover(one, 'good')).status).toBe(200)
  })

  it('with all tokens at once is judged once [auth.outage]', async () => {
    const onError = vi.fn()
    const one = createServer({ auth: introspection(optionsFor()), onError })
    issuer.broken = { status: 500, body: '' }
    await Promise.all(Array.from({ length: 20 }, (_, n) => discover(one, `any-${n}`)))
    const before = asked()
    expect(before).toBeLessThanOrEqual(21)
    for (let n = 0; n < 20; n++) expect((await discover(one, `late-${n}`)).status).toBe(503)
    expect(asked()).toBe(before)
    later(1000)
    delete issuer.broken
    expect((await discover(one, 'any')).status).toBe(401)
  })

  it('is tried by one question at a time, and by the next when that one is lost [auth.outage]', async () => {
    const waiting: ((response: Response) => void)[] = []
    let onAsked = (): void => {}
    let isDown = true
    const fetchAs: typeof fetch = async () => {
      if (isDown) return new Response('', { status: 500 })
      return new Promise((resolve) => {
        waiting.push(resolve)
        onAsked()
      })
    }
    const one = server({ fetch: fetchAs })
    /** Resolves when the issuer is asked, with what will be the answer. */
    const asking = async (token: string): Promise<{ response: Promise<Response> }> => {
      const asked = new Promise<void>((resolve) => {
        onAsked = resolve
      })
      const response = discover(one, token)
      await asked
      return { response }
    }
    await discover(one, 'bad')
    isDown = false
    later(1000)

    const lost = await asking('first')
    expect((await discover(one, 'second')).status).toBe(503)
    later(4999)
    expect((await discover(one, 'third')).status).toBe(503)
    later(1)
    const next = await asking('fourth')
    expect((await discover(one, 'fifth')).status).toBe(503)

    waiting[1]!(Response.json({ active: false }))
    expect((await next.response).status).toBe(401)
    const well = await asking('sixth')
    for (const answer of waiting) answer(Response.json({ active: false }))
    expect([(await well.response).status, (await lost.response).status]).toEqual([401, 401])
  })

  it('our credentials are not sent after a redirect [auth.outage]', async () => {
    const seen: (string | undefined)[] = []
    const fetchAs: typeof fetch = async (_input, init) => {
      seen.push(init?.redirect)
      return new Response('', { status: 302, headers: { location: 'https://evil.example' } })
    }
    expect((await discover(server({ fetch: fetchAs }), 'any')).status).toBe(503)
    expect(new Set(seen)).toEqual(new Set(['manual']))
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type IntrospectionOptions, introspection } from '../../../src/auth.ts'
import { createServer } from '../_client.ts'
import { AUDIENCE, discover, type Issuer, startIssuer } from './_issuer.ts'

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

const optionsFor = (options: Partial<IntrospectionOptions> = {}): IntrospectionOptions => ({
  endpoint: `${issuer.url}/introspect`,
  clientId: 'shop',
  clientSecret: 's/cret',
  issuer: issuer.url,
  audience: AUDIENCE,
  ...options,
})

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

  it('for a thousand tokens at most [auth.introspection]', async () => {
    const one = server()
    issuer.known.set('first', { active: true, aud: AUDIENCE })
    await discover(one, 'first')
    for (let n = 0; n < 1000; n++) await discover(one, `token-${n}`)
    issuer.asked.clear()
    await discover(one, 'first')
    expect(issuer.asked.get('/introspect')).toBe(1)
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

  it.each(['endpoint', 'clientId', 'clientSecret', 'issuer', 'audience'] as const)(
    'without %s → TypeError [auth.introspection]',
    (option) => {
      expect(() => introspection(optionsFor({ [option]: '' }))).toThrow(TypeError)
    },
  )
})

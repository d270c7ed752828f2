/** A token that a caller sends again: its signature is verified once, and all else each time. */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { jwt } from '../../../src/auth.ts'
import { createTool, type McpContext } from '../../../src/index.ts'
import { createServer, modernRequest } from '../_client.ts'
import { AUDIENCE, discover, type Issuer, startIssuer } from './_issuer.ts'

let issuer: Issuer
beforeAll(async () => {
  issuer = await startIssuer()
})
afterAll(() => issuer[Symbol.asyncDispose]())
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const server = (options: object = {}) =>
  createServer({ auth: jwt({ issuer: issuer.url, audience: AUDIENCE, ...options }) })

const statusOf = async (one: ReturnType<typeof server>, token: string) => (await discover(one, token)).status

/** Milliseconds later, by a clock that stands still in between. */
const later = (ms: number): void => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })
}
const seconds = (fromNow: number): number => Math.floor(Date.now() / 1000) + fromNow

describe('a token that comes again', () => {
  it('is not verified again, and every other one is', async () => {
    const one = server()
    const token = await issuer.sign()
    // The first brings the keys, and the second is the first that these have verified.
    for (let turn = 0; turn < 2; turn++) expect(await statusOf(one, token)).toBe(200)
    const verified = vi.spyOn(crypto.subtle, 'verify')
    for (let turn = 0; turn < 5; turn++) expect(await statusOf(one, token)).toBe(200)
    expect(verified).not.toHaveBeenCalled()
    expect(await statusOf(one, await issuer.sign({ other: true }))).toBe(200)
    expect(verified).toHaveBeenCalledOnce()
  })

  it('with another signature, other claims, or more at its end → 401', async () => {
    const one = server()
    const token = await issuer.sign()
    for (let turn = 0; turn < 3; turn++) expect(await statusOf(one, token)).toBe(200)
    const [header, body, signature = ''] = token.split('.')
    const changed = Buffer.from(JSON.stringify({ sub: 'root' })).toString('base64url')
    for (const forged of [
      `${header}.${body}.${signature.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))}`,
      `${header}.${changed}.${signature}`,
      `${token}A`,
      `${header}.${body}.`,
    ])
      for (let turn = 0; turn < 3; turn++) expect(await statusOf(one, forged)).toBe(401)
  })

  it('is refused once it has expired, within the tolerance', async () => {
    later(0)
    const one = server({ clockToleranceSeconds: 10 })
    const token = await issuer.sign({ exp: seconds(60) })
    for (let turn = 0; turn < 3; turn++) expect(await statusOf(one, token)).toBe(200)
    later(60_000 + 9000 - (Date.now() % 1000))
    expect(await statusOf(one, token)).toBe(200)
    later(1000)
    const refused = await discover(one, token)
    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toContain('expired')
  })

  it('of a key that was withdrawn is refused when the keys are fetched again: after ten minutes, or for an unknown key id', async () => {
    for (const fetchAgain of [
      async () => later(600_000),
      async (one: ReturnType<typeof server>, own: Issuer) => {
        later(60_001)
        await own.addKey('second')
        expect(await statusOf(one, await own.sign({}, { kid: 'second' }))).toBe(200)
      },
    ]) {
      await using own = await startIssuer()
      later(0)
      const one = createServer({ auth: jwt({ issuer: own.url, audience: AUDIENCE }) })
      const token = await own.sign({ exp: seconds(3600) })
      for (let turn = 0; turn < 3; turn++) expect(await statusOf(one, token)).toBe(200)
      own.withdrawKey('first')
      expect(await statusOf(one, token)).toBe(200)
      await fetchAgain(one, own)
      expect(await statusOf(one, token)).toBe(401)
    }
  })

  it('that was verified with keys which were replaced meanwhile is verified again', async () => {
    await using own = await startIssuer()
    later(0)
    const one = createServer({ auth: jwt({ issuer: own.url, audience: AUDIENCE }) })
    await own.addKey('second')
    const token = await own.sign({ exp: seconds(3600) })
    expect(await statusOf(one, await own.sign({}, { kid: 'second' }))).toBe(200)
    // Its check takes until other keys are there, without the one that it is signed with.
    let proceed = (): void => {}
    const waiting = new Promise<void>((resolve) => (proceed = resolve))
    const verify = crypto.subtle.verify.bind(crypto.subtle)
    vi.spyOn(crypto.subtle, 'verify').mockImplementationOnce(async (...given) => {
      await waiting
      return verify(...given)
    })
    const slow = statusOf(one, token)
    own.withdrawKey('first')
    await own.addKey('third')
    later(60_001)
    for (let turn = 0; turn < 2; turn++)
      expect(await statusOf(one, await own.sign({}, { kid: 'third' }))).toBe(200)
    proceed()
    expect(await slow).toBe(200)
    expect(await statusOf(one, token)).toBe(401)
  })

  it('of a key that was withdrawn is not remembered while the new keys arrive, however many come then', async () => {
    await using own = await startIssuer()
    later(0)
    const flood: Promise<number>[] = []
    let arrived = (): void => {}
    const fetchKeys: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      const body = await response.text()
      arrived()
      return new Response(body, response)
    }
    const one = createServer({
      auth: jwt({ issuer: own.url, audience: AUDIENCE, jwksUri: `${own.url}/jwks`, fetch: fetchKeys }),
    })
    const token = await own.sign({ exp: seconds(3600) })
    await own.addKey('second')
    expect(await statusOf(one, token)).toBe(200)
    own.withdrawKey('first')
    later(600_000)
    // Each in another turn of the microtasks: some look for their key in each step of the fetch.
    arrived = async () => {
      arrived = () => {}
      for (let turn = 0; turn < 300; turn++) {
        flood.push(statusOf(one, token))
        await undefined
      }
    }
    expect(await statusOf(one, await own.sign({}, { kid: 'second' }))).toBe(200)
    await Promise.all(flood)
    expect(flood.length).toBe(300)
    expect(await statusOf(one, token)).toBe(401)
  })

  it('of a key that was withdrawn stays refused when an older answer with that key comes last, as on workerd', async () => {
    vi.stubGlobal('WebSocketPair', class {})
    await using own = await startIssuer()
    later(0)
    const waiting: (() => void)[] = []
    let isSlow = false
    const fetchKeys: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      const body = await response.text()
      if (isSlow) await new Promise<void>((resolve) => waiting.push(resolve))
      return new Response(body, response)
    }
    const one = createServer({
      auth: jwt({ issuer: own.url, audience: AUDIENCE, jwksUri: `${own.url}/jwks`, fetch: fetchKeys }),
    })
    const token = await own.sign({ exp: seconds(3600) })
    const unknown = ['one', 'other'].map((kid) => {
      const header = Buffer.from(JSON.stringify({ alg: 'ES256', kid })).toString('base64url')
      return `${header}${token.slice(token.indexOf('.'))}`
    })
    expect(await statusOf(one, token)).toBe(200)
    later(60_000)
    isSlow = true
    const older = statusOf(one, unknown[0]!)
    await vi.waitUntil(() => waiting.length === 1)
    own.withdrawKey('first')
    await own.addKey('second')
    const newer = statusOf(one, unknown[1]!)
    await vi.waitUntil(() => waiting.length === 2)
    waiting[1]!()
    expect(await newer).toBe(401)
    waiting[0]!()
    expect(await older).toBe(401)
    isSlow = false
    for (let turn = 0; turn < 3; turn++) expect(await statusOf(one, token)).toBe(401)
  })

  it('is refused as at its first call once it has expired, before `check`, and before its time if the clock is put back', async () => {
    later(0)
    const check = vi.fn(() => undefined)
    const one = server({ check })
    const [expiring, early] = [
      await issuer.sign({ exp: seconds(60) }),
      await issuer.sign({ nbf: seconds(60) + 1, exp: seconds(600) }),
    ]
    for (let turn = 0; turn < 2; turn++) expect(await statusOf(one, expiring)).toBe(200)
    later(60_000)
    for (let turn = 0; turn < 2; turn++) expect(await statusOf(one, early)).toBe(200)
    check.mockClear()
    later(-50_000)
    expect(await statusOf(one, early)).toBe(401)
    later(100_000)
    expect(await statusOf(one, expiring)).toBe(401)
    expect(check).not.toHaveBeenCalled()
  })

  it('stays known, whatever comes that is refused: of another audience, or of another kind', async () => {
    const one = server({ audience: 'desk', audienceClaim: 'client_id' })
    const token = await issuer.sign()
    for (let turn = 0; turn < 2; turn++) expect(await statusOf(one, token)).toBe(200)
    for (let at = 0; at < 60; at++) {
      expect(await statusOf(one, await issuer.sign({ client_id: 'other', at }))).toBe(401)
      expect(await statusOf(one, await issuer.sign({ at }, { typ: 'logout+jwt' }))).toBe(401)
    }
    const verified = vi.spyOn(crypto.subtle, 'verify')
    expect(await statusOf(one, token)).toBe(200)
    expect(verified).not.toHaveBeenCalled()
  })

  it('has claims of its own in each call, and `check` is asked each time', async () => {
    const seen: unknown[] = []
    const check = vi.fn((claims: { readonly sub?: string }) =>
      claims.sub === 'ann' ? undefined : ('not Ann' as string),
    )
    const change = (_input: unknown, { auth }: McpContext): string => {
      seen.push(structuredClone([auth!.claims, auth!.extra]))
      const { groups } = auth!.claims as { groups: string[] }
      groups.push('admin')
      Object.assign(auth!.claims!, { sub: 'root' })
      return 'ok'
    }
    const one = createServer({
      auth: jwt({ issuer: issuer.url, audience: AUDIENCE, check }),
      tools: { change: createTool({ id: 'change', execute: change }) },
    })
    const headers = { authorization: `Bearer ${await issuer.sign({ groups: ['staff'] })}` }
    for (let turn = 0; turn < 4; turn++)
      expect((await one.fetch(modernRequest('tools/call', { name: 'change' }, { headers }))).status).toBe(200)
    expect(seen.map((one) => JSON.stringify(one))).toEqual(Array(4).fill(JSON.stringify(seen[0])))
    expect(JSON.stringify(seen[0])).toContain('"groups":["staff"]')
    expect(check).toHaveBeenCalledTimes(4)
    check.mockReturnValue('no longer')
    const refused = await one.fetch(modernRequest('tools/call', { name: 'change' }, { headers }))
    expect(refused.status).toBe(401)
  })

  it('stays known, however many tokens another caller has', async () => {
    for (const claims of [{ sub: 'mallory' }, { sub: undefined, client_id: 'batch' }]) {
      const one = server()
      const token = await issuer.sign({ sub: 'ann' })
      for (let turn = 0; turn < 2; turn++) expect(await statusOf(one, token)).toBe(200)
      for (let at = 0; at < 110; at++)
        expect(await statusOf(one, await issuer.sign({ ...claims, at }))).toBe(200)
      const verified = vi.spyOn(crypto.subtle, 'verify')
      expect(await statusOf(one, token)).toBe(200)
      expect(verified).not.toHaveBeenCalled()
      vi.restoreAllMocks()
    }
  })

  it('is forgotten after a hundred others: memory does not grow with callers', async () => {
    const one = server()
    const tokens = await Promise.all(
      Array.from({ length: 101 }, (_, at) => issuer.sign({ sub: `user-${at}` })),
    )
    await statusOf(one, tokens[100]!)
    for (const token of tokens.slice(0, 100)) expect(await statusOf(one, token)).toBe(200)
    const verified = vi.spyOn(crypto.subtle, 'verify')
    expect(await statusOf(one, tokens[0]!)).toBe(200)
    expect(verified).not.toHaveBeenCalled()
    expect(await statusOf(one, tokens[100]!)).toBe(200)
    expect(verified).toHaveBeenCalledTimes(1)
    expect(await statusOf(one, tokens[0]!)).toBe(200)
    expect(verified).toHaveBeenCalledTimes(2)
  })

  it('needs no timer; an issuer that never answers, and a key that is never read → 503 in 20 seconds', async () => {
    const one = server()
    const token = await issuer.sign()
    for (let turn = 0; turn < 2; turn++) expect(await statusOf(one, token)).toBe(200)
    const timers = vi.spyOn(globalThis, 'setTimeout')
    for (let turn = 0; turn < 3; turn++) expect(await statusOf(one, token)).toBe(200)
    expect(timers).not.toHaveBeenCalled()
    vi.restoreAllMocks()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const unread = server()
    const reading = vi.spyOn(crypto.subtle, 'importKey').mockReturnValue(new Promise(() => {}))
    const answers = [statusOf(unread, token)]
    await vi.waitUntil(() => reading.mock.calls.length > 0)
    reading.mockRestore()
    const silent = server({ fetch: () => new Promise(() => {}) })
    answers.push(statusOf(unread, token), statusOf(silent, token))
    await vi.advanceTimersByTimeAsync(20_000)
    expect(await Promise.all(answers)).toEqual([503, 503, 503])
  })
})

/** What a seal binds a token to, what it tells apart, and for how long. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createSeal as createSealFor } from '../../../src/interaction/seal.ts'
import { secretOf } from '../../_secrets.ts'

const createSeal = (secrets: readonly string[], id: string, stage?: string) =>
  createSealFor(secrets, id, () => stage)

const SECRET = 'a-secret-of-the-tests-that-is-long-enough'
const seal = createSeal([SECRET], 'server')
const binding = {
  era: 'modern' as const,
  method: 'tools/call',
  target: 'pay',
  arguments: { to: 'ann', sum: { amount: 2, unit: 'EUR' }, tags: ['a', 'b'] } as unknown,
  principal: 'desk ann',
}
const inAMinute = () => Date.now() + 60_000

const opens = async (made: unknown, opened: unknown): Promise<boolean> => {
  const token = await seal.seal(1, { ...binding, arguments: made }, inAMinute())
  return (await seal.open(token, { ...binding, arguments: opened })).ok
}

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

describe('a token is bound to its arguments', () => {
  it.each<[string, unknown, unknown]>([
    ['their keys in another order', { a: 1, b: 2, c: 3 }, { c: 3, a: 1, b: 2 }],
    ['keys in another order, deep down', { a: [{ b: 1, c: 2 }] }, { a: [{ c: 2, b: 1 }] }],
    ['the same object', binding.arguments, structuredClone(binding.arguments)],
  ])('%s → opens', async (_label, made, opened) => {
    expect(await opens(made, opened)).toBe(true)
    expect(await opens(opened, made)).toBe(true)
  })

  it.each<[string, unknown, unknown]>([
    ['another value', { a: 1 }, { a: 2 }],
    ['another value, deep down', { a: [{ b: 1 }] }, { a: [{ b: 2 }] }],
    ['one more', { a: 1 }, { a: 1, b: 2 }],
    ['items in another order', { a: [1, 2] }, { a: [2, 1] }],
    ['an object with the keys of a list', { a: [1, 2] }, { a: { 0: 1, 1: 2 } }],
    ['values that changed places', { a: 1, b: 2 }, { a: 2, b: 1 }],
    ['text for a number', { a: 1 }, { a: '1' }],
    ['null for an object', { a: null }, { a: {} }],
  ])('%s → refused', async (_label, made, opened) => {
    expect(await opens(made, opened)).toBe(false)
    expect(await opens(opened, made)).toBe(false)
  })
})

describe('a token ends', () => {
  it('a millisecond after the one that it was made for', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 })
    const token = await seal.seal('kept', binding, 1_005_000)
    vi.setSystemTime(1_005_000)
    expect(await seal.open(token, binding)).toMatchObject({ ok: true, value: 'kept', expiresAt: 1_005_000 })
    vi.setSystemTime(1_005_001)
    expect(await seal.open(token, binding)).toMatchObject({ ok: false })
  })
})

describe('a refusal', () => {
  const reasonOf = async (token: string, changes: object = {}): Promise<string> => {
    const opened = await seal.open(token, { ...binding, ...changes })
    return opened.ok ? 'it opens' : opened.reason
  }
  const bytesOf = (token: string) => Buffer.from(token.slice(2), 'base64url')
  const tokenOf = (bytes: Uint8Array) => `1.${Buffer.from(bytes).toString('base64url')}`

  it('says in the log which of them it is', async () => {
    const token = await seal.seal(1, binding, inAMinute())
    const foreign = createSeal(['another-secret-of-the-tests-long-enough'], 'server')
    const reasons = [
      await reasonOf(tokenOf(bytesOf(token).subarray(0, 20))),
      await reasonOf(await foreign.seal(1, binding, inAMinute())),
      await reasonOf(tokenOf(bytesOf(token).with(40, bytesOf(token)[40]! ^ 1))),
      await reasonOf(token, { method: 'prompts/get' }),
      await reasonOf(token, { target: 'refund' }),
      await reasonOf(token, { arguments: {} }),
      await reasonOf(token, { principal: 'desk bob' }),
      await reasonOf(await seal.seal(1, binding, Date.now() - 1)),
    ]

    expect(reasons).not.toContain('it opens')
    expect(new Set(reasons).size).toBe(reasons.length)
  })

  it('of a token that is cut before its end is the same, wherever it is cut', async () => {
    const bytes = bytesOf(await seal.seal(1, binding, inAMinute()))
    const cut = await reasonOf(tokenOf(bytes.subarray(0, 0)))
    for (const length of [1, 3, 4, 15, 16, 17, 31])
      expect(await reasonOf(tokenOf(bytes.subarray(0, length)))).toBe(cut)
    // From here on there is a tag, which does not fit.
    expect(await reasonOf(tokenOf(bytes.subarray(0, 32)))).not.toBe(cut)
  })

  it.each(['', '2.', '11.', 'x'])('of a token with %j instead of the version of its form', async (prefix) => {
    const token = await seal.seal(1, binding, inAMinute())
    expect(token.startsWith('1.')).toBe(true)
    expect(await seal.open(prefix + token.slice(2), binding)).toMatchObject({ ok: false })
  })
})

describe('a secret', () => {
  it('of 32 characters is taken, of 31 refused', () => {
    expect(() => createSeal([secretOf('x')], 'server')).not.toThrow()
    expect(() => createSeal(['x'.repeat(31)], 'server')).toThrow(TypeError)
  })

  it('that is short is refused behind a long one too', () => {
    expect(() => createSeal([SECRET, 'short'], 'server')).toThrow(TypeError)
  })

  it('becomes keys that nothing can export', async () => {
    const derive = vi.spyOn(crypto.subtle, 'deriveKey')
    await createSeal([SECRET], 'server').seal(1, binding, inAMinute())
    const keys = await Promise.all(derive.mock.results.map(({ value }) => value as Promise<CryptoKey>))
    expect(keys.map(({ extractable }) => extractable)).toEqual([false])
  })
})

describe('a large state', () => {
  it('is compressed, and comes back', async () => {
    const value = { rows: Array.from({ length: 200 }, (_, row) => `row ${row} of the same table`) }
    const token = await seal.seal(value, binding, inAMinute())
    expect(token.length).toBeLessThan(JSON.stringify(value).length / 2)
    expect(await seal.open(token, binding)).toMatchObject({ ok: true, value })
  })
})

/** The seal: what a token is made of, what it is bound to, and each reason for which one is refused. */
import { createDecipheriv, createHash, hkdfSync } from 'node:crypto'
import { inflateRawSync } from 'node:zlib'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Binding, createSeal as createSealFor } from '../../../src/interaction/seal.ts'
import { secretOf } from '../../_secrets.ts'

const createSeal = (secrets: readonly string[], id: string, stage?: string) =>
  createSealFor(secrets, id, () => stage)

const SECRET = 'a-secret-of-the-tests-that-is-long-enough'
const OTHER = 'another-secret-of-the-tests-long-enough'
const NOW = 1_800_000_000_000
const LATER = NOW + 60_000

const binding: Binding = {
  era: 'modern',
  method: 'tools/call',
  target: 'refund',
  arguments: { order: 1 },
  principal: 'ada',
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

const bytesOf = (token: string) => Buffer.from(token.slice(2), 'base64url')
const tokenOf = (bytes: Uint8Array) => `1.${Buffer.from(bytes).toString('base64url')}`

/** The token by another implementation of the same primitives. */
function openByHand(
  token: string,
  secret: string,
  serverId: string,
  stage = '',
): [number, string[], unknown] {
  const bytes = bytesOf(token)
  const derive = (purpose: string, length: number) =>
    Buffer.from(hkdfSync('sha256', secret, 'mayfly-mcp/seal/1', `${purpose}${stage}:${serverId}`, length))
  expect(bytes.subarray(0, 4)).toEqual(derive('id', 4))
  const decipher = createDecipheriv('aes-256-gcm', derive('key', 32), bytes.subarray(4, 16))
  decipher.setAuthTag(bytes.subarray(-16))
  const content = Buffer.concat([decipher.update(bytes.subarray(16, -16)), decipher.final()])
  const body = content.subarray(1)
  return JSON.parse((content[0] === 1 ? inflateRawSync(body) : body).toString('utf8'))
}

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

describe('a token', () => {
  it('is AES-256-GCM under a key of HKDF-SHA-256, with what it is bound to inside', async () => {
    const seal = createSeal([SECRET], 'shop')
    const token = await seal.seal({ a: 'ä' }, { ...binding, arguments: { order: 1, a: [2] } }, LATER)
    const digest = createHash('sha256').update('{"a":[2],"order":1}').digest('base64url')
    const bound = ['modern', 'tools/call', 'refund', digest, 'ada']
    expect(openByHand(token, SECRET, 'shop')).toEqual([LATER, bound, { a: 'ä' }])
  })

  it('is under another key at each stage, and in production under the one that never had a stage', async () => {
    const token = await createSeal([SECRET], 'shop', 'staging').seal(1, binding, LATER)
    expect(openByHand(token, SECRET, 'shop', '@staging')[2]).toBe(1)
  })

  it('opens at its own stage of its own server alone, whatever their names', async () => {
    const places = ['shop', 'shop@staging', 'staging:shop', '@staging:shop', ':shop', 'key:shop'].flatMap(
      (id) => [undefined, 'staging', 'Staging', 'key', 'shop'].map((stage) => [id, stage] as const),
    )
    const seals = places.map(([id, stage]) => createSeal([SECRET], id, stage))
    for (const [made, seal] of seals.entries()) {
      const token = await seal.seal(1, binding, LATER)
      const opened = await Promise.all(seals.map((other) => other.open(token, binding)))
      expect(opened.flatMap(({ ok }, index) => (ok ? [index] : []))).toEqual([made])
    }
  })

  it('is not compressed where the runtime cannot, and opens', async () => {
    vi.stubGlobal('CompressionStream', undefined)
    const seal = createSeal([SECRET], 'shop')
    const value = 'x'.repeat(5000)
    const token = await seal.seal(value, binding, LATER)
    expect(bytesOf(token).length).toBeGreaterThan(value.length)
    expect(openByHand(token, SECRET, 'shop')[2]).toBe(value)
  })

  it.each([1, 512, 513, 5000])('of %i bytes of content → is compressed above 512', async (size) => {
    const seal = createSeal([SECRET], 'shop')
    const overhead = JSON.stringify([
      LATER,
      ['modern', 'tools/call', 'refund', '.'.repeat(43), 'ada'],
      '',
    ]).length
    const value = 'x'.repeat(Math.max(0, size - overhead))
    const token = await seal.seal(value, binding, LATER)
    const plainBytes = 4 + 12 + 1 + overhead + value.length + 16
    if (size <= 512) expect(bytesOf(token)).toHaveLength(plainBytes)
    else expect(bytesOf(token).length).toBeLessThan(plainBytes)
    expect(openByHand(token, SECRET, 'shop')[2]).toBe(value)
    expect(await seal.open(token, binding)).toMatchObject({ ok: true, value })
  })

  it('has an id of its own, the same whenever it is opened, and says when it expires', async () => {
    vi.useFakeTimers({ now: NOW, toFake: ['Date'] })
    const seal = createSeal([SECRET], 'shop')
    const tokens = await Promise.all([1, 1].map((value) => seal.seal(value, binding, LATER)))
    const opened = await Promise.all([...tokens, ...tokens].map((token) => seal.open(token, binding)))
    const ids = opened.map((one) => one.ok && one.id)
    expect(ids[0]).toMatch(/^[\w-]{16}$/)
    expect(ids).toEqual([ids[0], ids[1], ids[0], ids[1]])
    expect(ids[0]).not.toBe(ids[1])
    expect(opened[0]).toEqual({ ok: true, value: 1, id: ids[0], expiresAt: LATER })
  })

  it.each([
    ['at the time', 0, true],
    ['a millisecond later', 1, false],
  ])('that expires now, opened %s → %s', async (_label, later, ok) => {
    vi.useFakeTimers({ now: NOW + later, toFake: ['Date'] })
    const seal = createSeal([SECRET], 'shop')
    const opened = await seal.open(await seal.seal(1, binding, NOW), binding)
    expect(opened.ok).toBe(ok)
    if (!ok) expect(opened).toEqual({ ok: false, reason: 'it has expired' })
  })

  it.each<[string, Partial<Binding>]>([
    ['era', { era: 'legacy' }],
    ['method', { method: 'prompts/get' }],
    ['tool, prompt or resource', { target: 'pay' }],
    ['set of arguments', { arguments: { order: 2 } }],
    ['principal', { principal: 'eve' }],
  ])('for another %s → refused, and the log is told', async (name, other) => {
    const seal = createSeal([SECRET], 'shop')
    const token = await seal.seal(1, binding, Date.now() + 1000)
    expect(await seal.open(token, { ...binding, ...other })).toEqual({
      ok: false,
      reason: `it was made for another ${name}`,
    })
  })
})

describe('arguments', () => {
  const opens = async (sealed: unknown, opened: unknown) => {
    const seal = createSeal([SECRET], 'shop')
    const token = await seal.seal(1, { ...binding, arguments: sealed }, Date.now() + 1000)
    return (await seal.open(token, { ...binding, arguments: opened })).ok
  }

  it.each([
    [
      { a: 1, b: { c: 2, d: [3] }, e: null },
      { e: null, b: { d: [3], c: 2 }, a: 1 },
    ],
    [
      { c: 1, a: 1, b: 1 },
      { b: 1, c: 1, a: 1 },
    ],
    [undefined, null],
    [undefined, undefined],
  ])('%j and %j → the same', async (a, b) => {
    expect(await opens(a, b)).toBe(true)
    expect(await opens(b, a)).toBe(true)
  })

  it.each([
    [
      [1, 2],
      [2, 1],
    ],
    [['a'], { 0: 'a' }],
    [{ a: 1 }, { b: 1 }],
    [{ a: 1 }, { a: '1' }],
    [{}, null],
    [{ a: null }, {}],
    [{ a: { b: 1 } }, { a: {} }],
    [0, null],
    [false, null],
    ['', null],
  ])('%j and %j → others', async (a, b) => {
    expect(await opens(a, b)).toBe(false)
  })
})

describe('what is no token', () => {
  const refused = async (token: string) => {
    const opened = await createSeal([SECRET], 'shop').open(token, binding)
    return !opened.ok && opened.reason
  }

  it('by its form → refused', async () => {
    const token = await createSeal([SECRET], 'shop').seal(1, binding, LATER)
    for (const text of ['', '1.', token.slice(2), `2.${token.slice(2)}`, `${token}=`, '1.!', '1.A'])
      expect(await refused(text), text).toBe('it is malformed or truncated')
  })

  it.each([0, 1, 2])('another spelling of the same %i + 3 n bytes → refused', async (more) => {
    const seal = createSeal([SECRET], 'shop')
    const token = await seal.seal('x'.repeat(more), binding, Date.now() + 60_000)
    const bytes = bytesOf(token)
    // The last character holds bits that no byte takes: decoders read past them, and past spaces.
    const spellings = Array.from(ALPHABET, (last) => token.slice(0, -1) + last)
    const standard = `1.${bytes.toString('base64')}`
    for (const other of [...spellings, standard, standard.replaceAll('=', ''), `${token} `, `${token}\n`]) {
      const expected = other === token ? { ok: true } : { ok: false }
      expect(await seal.open(other, binding), other.slice(-4)).toMatchObject(expected)
    }
  })

  it('by its length → refused before it is decrypted', async () => {
    const bytes = bytesOf(await createSeal([SECRET], 'shop').seal(1, binding, LATER))
    expect(await refused(tokenOf(bytes.subarray(0, 31)))).toBe('it is malformed or truncated')
    expect(await refused(tokenOf(bytes.subarray(0, 32)))).toBe('it was tampered with')
  })

  it('of another secret, or another server → refused', async () => {
    const reason = 'it was sealed with another secret, by another server or at another stage'
    expect(await refused(await createSeal([OTHER], 'shop').seal(1, binding, LATER))).toBe(reason)
    expect(await refused(await createSeal([SECRET], 'other').seal(1, binding, LATER))).toBe(reason)
  })

  it.each([0, 1, 2, 3])('with byte %i of the key id changed → refused', async (index) => {
    const bytes = bytesOf(await createSeal([SECRET], 'shop').seal(1, binding, LATER))
    bytes[index]! ^= 1
    expect(await refused(tokenOf(bytes))).toMatch('another secret')
  })

  it.each([4, 15, 16, 40, -1])('with byte %i changed → refused', async (index) => {
    const bytes = bytesOf(await createSeal([SECRET], 'shop').seal(1, binding, LATER))
    bytes[index < 0 ? bytes.length + index : index]! ^= 1
    expect(await refused(tokenOf(bytes))).toBe('it was tampered with')
  })
})

describe('secrets', () => {
  it('of fewer than 32 characters, or none → refused, with what to do', () => {
    expect(() => createSeal(['x'.repeat(31)], 'shop')).toThrow(
      /at least 32 characters.*openssl rand -base64 32/,
    )
    expect(() => createSeal([SECRET, 'x'.repeat(31)], 'shop')).toThrow(TypeError)
    expect(() => createSeal([secretOf('x')], 'shop')).not.toThrow()
    expect(() => createSeal([], 'shop')).toThrow(/at least one/)
  })

  it('several → the first seals, all open, in whatever order they are', async () => {
    const both = createSeal([SECRET, OTHER], 'shop')
    const later = Date.now() + 1000
    expect(openByHand(await both.seal(1, binding, later), SECRET, 'shop')[2]).toBe(1)
    for (const secret of [SECRET, OTHER]) {
      const token = await createSeal([secret], 'shop').seal(2, binding, later)
      expect(await both.open(token, binding)).toMatchObject({ ok: true, value: 2 })
    }
  })

  it('are made keys of once, at the first use', async () => {
    const importKey = vi.spyOn(crypto.subtle, 'importKey')
    const seal = createSeal([SECRET], 'shop')
    expect(importKey).not.toHaveBeenCalled()
    const token = await seal.seal(1, binding, Date.now() + 1000)
    await seal.seal(1, binding, LATER)
    await seal.open(token, binding)
    expect(importKey).toHaveBeenCalledTimes(1)
    expect(importKey.mock.calls[0]!.slice(2)).toEqual(['HKDF', false, ['deriveBits', 'deriveKey']])
  })

  it('cannot be read out of the keys', async () => {
    const deriveKey = vi.spyOn(crypto.subtle, 'deriveKey')
    await createSeal([SECRET], 'shop').seal(1, binding, LATER)
    expect(deriveKey.mock.calls[0]![3]).toBe(false)
  })
})

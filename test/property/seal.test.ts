/** Sealed state never opens wrong, and shows nothing. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createSeal } from '../../src/interaction/seal.ts'
import { check } from './_seeded.ts'

const seal = createSeal(['a-secret-of-the-property-tests-long-enough'], 'server', () => undefined)
const binding = {
  era: 'modern',
  method: 'tools/call',
  target: 't',
  arguments: { a: 1 },
  principal: '',
} as const
const later = () => Date.now() + 60_000
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.'

it('any JSON value → comes back as it was', () =>
  check(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), async (value) => {
      const opened = await seal.open(await seal.seal(value, binding, later()), binding)
      expect(opened).toMatchObject({ ok: true })
      expect(opened.ok && JSON.stringify(opened.value)).toBe(JSON.stringify(value))
    }),
    150,
  ))

it('any change of any character → never opens [state.opaque]', () =>
  check(
    fc.asyncProperty(
      fc.jsonValue({ maxDepth: 2 }),
      fc.nat(),
      fc.constantFrom(...ALPHABET),
      fc.constantFrom('replace', 'insert', 'remove'),
      async (value, position, character, change) => {
        const token = await seal.seal(value, binding, later())
        const at = position % token.length
        const mutated =
          token.slice(0, at) +
          (change === 'remove' ? '' : character) +
          token.slice(change === 'insert' ? at : at + 1)
        if (mutated !== token) expect((await seal.open(mutated, binding)).ok).toBe(false)
      },
    ),
    400,
  ))

it('arbitrary text → never opens, never throws', () =>
  check(
    fc.asyncProperty(fc.string({ maxLength: 300 }), async (text) => {
      expect((await seal.open(text, binding)).ok).toBe(false)
      expect((await seal.open(`1.${text}`, binding)).ok).toBe(false)
    }),
    200,
  ))

it('a token → shows neither value nor arguments, decoded or not [state.opaque]', () =>
  check(
    fc.asyncProperty(
      fc.string({ minLength: 12, maxLength: 60 }).map((text) => `s:${text}`),
      async (text) => {
        const token = await seal.seal({ text }, { ...binding, arguments: { text } }, later())
        const decoded = Buffer.from(token.slice(2), 'base64url').toString('latin1')
        expect(token).not.toContain(text)
        expect(decoded).not.toContain(text)
      },
    ),
    100,
  ))

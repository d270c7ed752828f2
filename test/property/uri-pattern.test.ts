/** Which forms of URIs a template covers: the same as a regular expression says, whatever both are made of. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compileUriPattern } from '../../src/definition/uri-pattern.ts'
import { check } from './_seeded.ts'

const EXPRESSIONS: { readonly [expression: string]: string } = {
  '{a}': '[^/]*',
  '{+a}': '.*',
  '{a}{b}': '[^/]*[^/]*',
  '{a}{+b}': '[^/]*.*',
  '{/a}': '.*',
}
const LITERALS = ['', '/', 'a', 'aa', 'a/', '/b/', 'ab', '-']

it('covers what its regular expression matches', async () => {
  const piece = fc.constantFrom(...Object.keys(EXPRESSIONS), ...LITERALS)
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', '-'), maxLength: 14 })
  await check(
    fc.property(fc.array(piece, { maxLength: 7 }), text, (pieces, rest) => {
      const source = pieces.map((one) => EXPRESSIONS[one] ?? one).join('')
      const covers = compileUriPattern(`x:${pieces.join('')}`)!.coversWritten(`x:${rest}`)
      expect(covers).toBe(new RegExp(`^x:${source}$`, 's').test(`x:${rest}`))
    }),
    3000,
  )
})

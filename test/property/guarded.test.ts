/** Scopes of resources hold however a URI is spelled, and however the server behind reads its templates. */
import { posix } from 'node:path'
import { UriTemplate as TemplateV1 } from '@modelcontextprotocol/sdk/shared/uriTemplate.js'
import { UriTemplate as TemplateV2 } from '@modelcontextprotocol/server'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isPlainUri } from '../../src/definition/uri.ts'
import { compileUriTemplate } from '../../src/definition/uri-template.ts'
import type { Access } from '../../src/request/access.ts'
import { isRefused, NO_SCOPES } from './_guarded.ts'
import { check } from './_seeded.ts'

const SECRET = 'vault://safe/deep/till'

/** One character, somewhere, written otherwise. */
const atSome = (change: (character: string) => string) => (uri: string, at: number) => {
  const index = at % uri.length
  return uri.slice(0, index) + change(uri[index]!) + uri.slice(index + 1)
}
const escaped = (character: string) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`
const inserted = (text: string) => atSome((character) => text + character)

const changes = fc.constantFrom(
  atSome((character) => character.toUpperCase()),
  atSome(escaped),
  atSome((character) => escaped(character).toUpperCase()),
  atSome((character) => escaped(character).replace('%', '%25')),
  atSome((character) => (character === '/' ? '\\' : character)),
  atSome((character) => (character === '/' ? '%2F' : character)),
  atSome((character) =>
    /[a-z]/.test(character) ? String.fromCharCode(character.charCodeAt(0) + 0xfee0) : character,
  ),
  inserted('\n'),
  inserted(' '),
  inserted('%0A'),
  inserted('/'),
  inserted('./'),
  inserted('/x/..'),
  inserted('x/../'),
  inserted('%2e%2e/'),
  (uri: string) => `${uri}/`,
  (uri: string) => `${uri}?x=/till`,
  (uri: string) => `${uri}#x`,
  (uri: string) => `${uri}\t`,
)

const spelling = fc
  .array(fc.tuple(changes, fc.nat(100)), { minLength: 1, maxLength: 5 })
  .map((steps) => steps.reduce((uri, [change, at]) => change(uri, at), SECRET))

const orSame = (read: (uri: string) => string) => (uri: string) => {
  try {
    return read(uri)
  } catch {
    return uri
  }
}

/** What some server somewhere does with a URI before it looks for the resource. */
const reading = fc
  .array(
    fc.constantFrom(
      (uri: string) => uri.trim(),
      (uri: string) => uri.toLowerCase(),
      (uri: string) => uri.normalize('NFKC'),
      (uri: string) => uri.replace(/[?#].*/s, ''),
      (uri: string) => uri.replace(/\/+$/, ''),
      (uri: string) => uri.replaceAll('\\', '/'),
      (uri: string) => uri.replace(/[\n\t ]/g, ''),
      (uri: string) => posix.normalize(uri),
      orSame((uri) => new URL(uri).href),
      orSame((uri) => new URL(uri).host + new URL(uri).pathname),
      orSame(decodeURIComponent),
      orSame(encodeURI),
    ),
    { maxLength: 4 },
  )
  .map((steps) => (uri: string) => steps.reduce((text, step) => step(text), uri))

describe('a guarded resource', () => {
  test('another spelling, that some server takes for the same → refused [guarded.spelling]', async () => {
    let same = 0
    await check(
      fc.property(spelling, reading, (uri, read) => {
        if (uri === SECRET || read(uri) !== read(SECRET)) return
        same++
        expect(isRefused(uri, { [SECRET]: ['vault'] })).toBe(true)
        expect(isRefused(uri, { 'vault://safe/{a}/{b}': ['vault'] })).toBe(true)
      }),
      20_000,
    )
    expect(same).toBeGreaterThan(500)
  })

  test('what an official SDK serves by a template → needs the template’s scopes [guarded.scopes]', async () => {
    let served = 0
    const literal = fc.constantFrom('', '', '/', 'a', '.', '-', '?z=', '/A/', '%20')
    const expression = fc.constantFrom(
      '{a}',
      '{+a}',
      '{/a}',
      '{.a}',
      '{#a}',
      '{?a}',
      '{&a}',
      '{a*}',
      '{;a}',
      '{?a,b}',
    )
    const template = fc.array(fc.tuple(literal, expression), { minLength: 1, maxLength: 3 }).map((parts) =>
      // Each variable has a name of its own.
      parts.reduce(
        (text, [before, one], index) => text + before + one.replace(/[ab]/g, `$&${index}`),
        'vault://x',
      ),
    )
    const value = fc.constantFrom(
      '1',
      'a/b',
      'a?b',
      'a#b',
      '..',
      'A',
      '%2F',
      '%41',
      ',',
      '=',
      '&',
      'a=1&b=2',
      '//',
      '',
    )
    await check(
      fc.property(template, fc.array(value, { maxLength: 4 }), literal, (key, values, end) => {
        const list = [...values]
        const uri = key.replace(/\{(.)([^}]*)\}/g, (_all, operator: string, name: string) => {
          const next = list.shift() ?? ''
          if (operator === '?' || operator === '&') return `${operator}${name.split(',')[0]}=${next}`
          return ('/.'.includes(operator) ? operator : '') + next
        })
        for (const spelled of [uri, uri + end]) {
          const isServed =
            new TemplateV1(key).match(spelled) !== null ||
            new TemplateV2(key).match(spelled) !== null ||
            compileUriTemplate(key).match(spelled) !== undefined
          if (!isServed) continue
          served++
          expect(isRefused(spelled, { [key]: ['vault'] })).toBe(true)
        }
      }),
      4000,
    )
    expect(served).toBeGreaterThan(300)
  })

  test('what is written plainly and is another resource → is not refused [guarded.spelling]', async () => {
    const word = fc.stringMatching(/^[a-z][a-z0-9_~.-]{0,6}[a-z0-9]$/)
    await check(
      fc.property(word, fc.array(word, { minLength: 1, maxLength: 4 }), (scheme, segments) => {
        const uri = `${scheme.replace(/[_~]/g, '-')}://${segments.join('/')}`
        fc.pre(!uri.startsWith('vault:') && URL.canParse(uri))
        expect(isPlainUri(uri)).toBe(true)
        expect(isRefused(uri, { [SECRET]: ['vault'], 'vault://{+any}': ['vault'] })).toBe(false)
      }),
      2000,
    )
  })

  test('to an anonymous caller nothing is open but the subset, however it is spelled [guarded.anonymous]', async () => {
    const anonymous: Access = { ...NO_SCOPES, isAnonymous: true, allows: ({ name }) => name === SECRET }
    await check(
      fc.property(spelling, (uri) => {
        expect(isRefused(uri, {}, anonymous)).toBe(uri !== SECRET)
        expect(isRefused(uri, { 'vault://safe/{a}/{b}': [] }, anonymous)).toBe(uri !== SECRET)
      }),
      5000,
    )
  })
})

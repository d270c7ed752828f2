/** Which URIs a template matches, and with which variables (RFC 6570), operator by operator. */
import { describe, expect, it } from 'vitest'
import { compileUriTemplate } from '../../src/definition/uri-template.ts'

const match = (template: string, uri: string) => {
  const found = compileUriTemplate(template).match(uri)
  return found && { ...found }
}

describe('a template', () => {
  it.each<[string, string, Record<string, string>]>([
    ['x://fixed', 'x://fixed', {}],
    ['', '', {}],
    ['x://{a}', 'x://1', { a: '1' }],
    ['x://{a}/end', 'x://1/end', { a: '1' }],
    ['x://{a}/{b}', 'x://1/2', { a: '1', b: '2' }],
    ['x://{a,b}', 'x://1,2', { a: '1', b: '2' }],
    ['x://{a, b}', 'x://1,2', { a: '1', b: '2' }],
    ['x://{a}-{b}', 'x://1-2-3', { a: '1-2', b: '3' }],
    ['x://{a}{b}', 'x://123', { a: '12', b: '3' }],
    ['x://{a.b_c-d%20}', 'x://1', { 'a.b_c-d%20': '1' }],
    ['x://{a*}', 'x://1', { a: '1' }],
    ['x://{a:10}', 'x://1', { a: '1' }],
    ['x://{a}', 'x://a%20b%2Fc', { a: 'a b/c' }],
    ['x://{+a}', 'x://1/2;3=4,5&6', { a: '1/2;3=4,5&6' }],
    ['x://{+a,b}', 'x://1,2,3', { a: '1,2', b: '3' }],
    ['x://a{#b}', 'x://a#1/2?3&4#5', { b: '1/2?3&4#5' }],
    ['x://a{#b,c}', 'x://a#1,2', { b: '1', c: '2' }],
    ['x://a{.b}', 'x://a.1', { b: '1' }],
    ['x://a{.b,c}', 'x://a.1.2', { b: '1', c: '2' }],
    ['x://a{/b}', 'x://a/1', { b: '1' }],
    ['x://a{/b,c}', 'x://a/1/2', { b: '1', c: '2' }],
    ['x://a{/b}', 'x://a/1.2', { b: '1.2' }],
    ['x://a{;b}', 'x://a;b=1', { b: '1' }],
    ['x://a{;b,c}', 'x://a;b=1;c=2', { b: '1', c: '2' }],
    ['x://a{;b}', 'x://a;b', { b: '' }],
    ['x://a{;b,c}', 'x://a;c=2', { c: '2' }],
    ['x://a{?b}', 'x://a?b=1', { b: '1' }],
    ['x://a{?b}', 'x://a?b=1/2?3,4;5=6', { b: '1/2?3,4;5=6' }],
    ['x://a{?b}', 'x://a?b=', { b: '' }],
    ['x://a{?b}', 'x://a?b', { b: '' }],
    ['x://a{?b}', 'x://a', {}],
    ['x://a{?b,c}', 'x://a?b=1&c=2', { b: '1', c: '2' }],
    ['x://a{?b,c}', 'x://a?c=2', { c: '2' }],
    ['x://a{?b,c}', 'x://a?b=1', { b: '1' }],
    ['x://a{?b,bc}', 'x://a?bc=1', { bc: '1' }],
    ['x://a{?b*}', 'x://a?b=1', { b: '1' }],
    ['x://a?z=0{&b}', 'x://a?z=0&b=1', { b: '1' }],
    ['x://a?z=0{&b,c}', 'x://a?z=0&b=1&c=2', { b: '1', c: '2' }],
    ['x://a?z=0{&b,c}', 'x://a?z=0&c=2', { c: '2' }],
    ['x://a?z=0{&b}', 'x://a?z=0', {}],
    ['x://{a}{?b}{#c}', 'x://1?b=2#3', { a: '1', b: '2', c: '3' }],
    ['x://{a}{?b}{#c}', 'x://1#3', { a: '1', c: '3' }],
    ['x://{+a}{?b}', 'x://1/2?b=3', { a: '1/2', b: '3' }],
    ['x://{__proto__}', 'x://1', JSON.parse('{"__proto__":"1"}') as Record<string, string>],
  ])('%s matches %s with %j', (template, uri, variables) => {
    expect(match(template, uri)).toEqual(variables)
    expect(Object.getPrototypeOf(compileUriTemplate(template).match(uri))).toBeNull()
  })

  it.each<[string, readonly string[]]>([
    ['x://fixed', ['x://fixe', 'x://fixed/', 'y://fixed', 'X://fixed', '']],
    [
      'x://{a}',
      ['x://', 'x://1/2', 'x://1?2', 'x://1#2', 'x://1&2', 'x://1,2', 'x://1=2', 'x://1;2', 'y://1'],
    ],
    ['x://{a}/end', ['x://1', 'x:///end', 'x://1/ends', 'x://1/2/end']],
    ['x://{a,b}', ['x://1', 'x://1,', 'x://,2', 'x://1,2,3', 'x://1/2']],
    ['x://{+a}', ['x://', 'x://1?2', 'x://1#2']],
    [
      'x://a{#b}',
      ['x://a', 'x://a#', 'x://a1', 'x://a#1\n2', 'x://a#1\r2', 'x://a#1\u20282', 'x://a#1\u20292'],
    ],
    [
      'x://a{.b}',
      ['x://a', 'x://a.', 'x://a.1.2', 'x://a.1/2', 'x://a.1?2', 'x://a.1;2', 'x://a.1=2', 'x://a/1'],
    ],
    ['x://a{.b,c}', ['x://a.1', 'x://a.1,2', 'x://a.1/2']],
    [
      'x://a{/b}',
      ['x://a', 'x://a/', 'x://a/1/2', 'x://a/1?2', 'x://a/1#2', 'x://a/1,2', 'x://a/1;2', 'x://a1'],
    ],
    [
      'x://a{;b}',
      ['x://a;c=1', 'x://a;bb=1', 'x://a;b1', 'x://a;b=1;b=2', 'x://a;b=1/2', 'x://a;b=1,2', 'x://ab=1'],
    ],
    ['x://a{;b,c}', ['x://a;c=2;b=1', 'x://a;b=1,c=2', 'x://a;b=1&c=2']],
    [
      'x://a{?b}',
      ['x://a?', 'x://a?c=1', 'x://a?bb=1', 'x://a?b=1&c=2', 'x://a?b=1#2', 'x://ab=1', 'x://a&b=1'],
    ],
    ['x://a{?b,c}', ['x://a?c=2&b=1', 'x://a&c=2', 'x://a?b=1&', 'x://a?&c=2']],
    [
      'x://a?z=0{&b}',
      ['x://a?z=0?b=1', 'x://a?z=0&', 'x://a?z=0&b=1&c=2', 'x://a?z=0&b=1#2', 'x://a?z=0b=1'],
    ],
    ['x://{a}', ['x://%', 'x://%zz', 'x://%ff']],
  ])('%s matches none of %j', (template, uris) => {
    for (const uri of uris) expect(match(template, uri), uri).toBeUndefined()
  })

  it('matches URIs of 2048 characters, and no longer ones', () => {
    expect(match('x://{a}', 'x://'.padEnd(2048, 'a'))).toEqual({ a: 'a'.repeat(2044) })
    expect(match('x://{a}', 'x://'.padEnd(2049, 'a'))).toBeUndefined()
  })

  it('names its variables in their order', () => {
    const template = 'x://{b}/{+a}{?d*,c:3}'
    expect(compileUriTemplate(template)).toMatchObject({ template, variables: ['b', 'a', 'd', 'c'] })
    expect(compileUriTemplate('x://fixed').variables).toEqual([])
  })

  it.each([
    '{',
    '}',
    'x://{a',
    'x://a}',
    'x://{{a}}',
    '{a}{',
    '}{a}',
    'x://{}',
    'x://{+}',
    'x://{a,}',
    'x://{a b}',
  ])('%s is none → TypeError that names it', (template) => {
    expect(() => compileUriTemplate(template)).toThrow(TypeError)
    expect(() => compileUriTemplate(template)).toThrow(template)
  })

  it.each([
    'x://{=a}',
    'x://{!a}',
    'x://{|a}',
    'x://{a!}',
    'x://{a:}',
    'x://{a*b}',
    'x://{a:1b}',
    'x://{a}/{a}',
    'x://{a}{?a}',
  ])('%s is none of RFC 6570 → TypeError that names it', (template) => {
    expect(() => compileUriTemplate(template)).toThrow(TypeError)
    expect(() => compileUriTemplate(template)).toThrow(template)
  })
})

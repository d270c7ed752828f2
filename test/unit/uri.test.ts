/** Which URIs are in their normal form, and which may be taken for one (RFC 3986 §6.2.2). */
import { describe, expect, it } from 'vitest'
import { foldUri, isPlainUri, spellingsOf } from '../../src/definition/uri.ts'

describe('the normal form', () => {
  it.each([
    'https://docs.example',
    'https://docs.example/',
    'https://docs.example:8443/a%20b?x=%C3%A9#c',
    'file:///home/user/a.txt',
    'urn:isbn:0451450523',
    'git+ssh://host/x',
    'x-1.y://a',
    'notes://100%25',
    'notes://Name/..a/a../...',
    'notes://a.b/.a',
    'notes://a/%5B%5D%7C%22%3C%3E%2F%3A%40%60%7B',
    "notes://a/~!$&'()*+,;=:@/-_?[/?]#/?",
    'data:,',
    `notes://${'x'.repeat(8184)}`,
  ])('%s is in it', (uri) => {
    expect(isPlainUri(uri)).toBe(true)
  })

  it.each([
    ['no scheme', ['', 'x', '//x', '/x', ':x', '1x://a', '+x://a']],
    ['a scheme in capitals', ['X://a', 'xY://a']],
    [
      'characters that no URI has',
      ['x://a b', 'x://a|b', 'x://é', 'x://a"b', 'x://a\nb', 'x://a\\b', 'x://a{b}'],
    ],
    ['text around it', [' x://a', 'x://a ', 'x://a\n', '\nx://a']],
    ['a lower escape', ['x://%2f', 'x://%c3%A9', 'x://a%2Fb%2fc']],
    ['half an escape', ['x://%', 'x://%2', 'x://%2G', 'x://100%', 'x://%%25']],
    ['an escaped letter', ['x://%41', 'x://%4F', 'x://%5A', 'x://%61', 'x://%6F', 'x://%7A', 'x://a%20%41']],
    ['an escaped digit', ['x://%30', 'x://%39']],
    ['an escaped mark', ['x://%2D', 'x://%2E', 'x://%5F', 'x://%7E']],
    [
      'dot segments',
      [
        'x://a/./b',
        'x://a/../b',
        'x://a/..',
        'x://a/.',
        'x://./a',
        'x://../a',
        'x:..',
        'x://a/..?b',
        'x://a/..#b',
      ],
    ],
    [
      'dot segments in disguise',
      ['x://a%2F..%2Fb', 'x://a%5C..%5Cb', 'x://a/..%2Fb', 'x://a/%EF%BC%8E%EF%BC%8E/b', 'x:a:../b'],
    ],
    ['a control character', ['x://a%00', 'x://a%0A', 'x://a%1F', 'x://a%7F', 'x://a%C2%85']],
    ['an escape of an escape', ['x://%252F', 'x://%2541', 'x://a%25af']],
    [
      'what its scheme writes otherwise',
      ['https://HOST/', 'https://host:443/', 'https://host/a/../b', 'https:host'],
    ],
    ['too many characters', [`notes://${'x'.repeat(8185)}`]],
  ])('%s is not in it', (_label, uris) => {
    for (const uri of uris) expect(isPlainUri(uri), uri).toBe(false)
  })
})

describe('what all spellings have in common', () => {
  it.each([
    ['X://A/B', 'x:/a/b'],
    ['x://a//b/', 'x:/a/b'],
    ['x:\\\\a\\b', 'x:/a/b'],
    ['x://a/./b/.', 'x:/a/b'],
    ['x://a/c/../b', 'x:/a/b'],
    ['x://a/c/d/../../b', 'x:/a/b'],
    ['x://../a/b', 'x:/a/b'],
    ['x://../../../a/b', 'x:/a/b'],
    ['x://a/.../b', 'x:/a/b'],
    ['x://a/..b/c..', 'x:/a/..b/c'],
    ['x://a/b.', 'x:/a/b'],
    ['x://a/b%2E%2E ./', 'x:/a/b'],
    ['x://a./b', 'x:/a/b'],
    ['x://a/b::$DATA', 'x:/a/b'],
    ['x://a/b%3A%3A%24data', 'x:/a/b'],
    ['x://a/b.::$DATA', 'x:/a/b'],
    ['x://a:$I30:$INDEX_ALLOCATION/b', 'x:/a/b'],
    ['x://a/c/..::$INDEX_ALLOCATION/b', 'x:/a/b'],
    ['x://a:80/b:c', 'x:/a:80/b:c'],
    ['x://%61/b', 'x:/a/b'],
    ['x://%2561/b', 'x:/a/b'],
    ['x://a%2Fb', 'x:/a/b'],
    ['x://a%5cb', 'x:/a/b'],
    [' x://a /\tb\n', 'x:/a/b'],
    ['x://a%00/b%0a', 'x:/a/b'],
    ['x://a/c/%2e%2E/b', 'x:/a/b'],
    ['ｘ://ａ/ｂ', 'x:/a/b'],
    ['x://a/b%', 'x:/a/b%'],
    ['x://a/b%zz', 'x:/a/b%zz'],
    ['x://a/%ff/b', 'x:/a/%ff/b'],
    ['x://a/%C3%89', 'x:/a/é'],
    ['x://a/b?c/../d#e', 'x:/a/d#e'],
  ])('%j → %j', (uri, folded) => {
    expect(foldUri(uri)).toBe(folded)
  })
})

describe('what a URI may lead to', () => {
  it.each([
    ['x://a/b', ['x:/a/b']],
    ['x:///a/b', ['x:/a/b']],
    ['x://a/b//', ['x:/a/b']],
    ['x://a/b//c/d', ['x:/a/b/c/d', 'x:/c/d', 'x:/a/c/d']],
    ['x:///srv//srv/admin', ['x:/srv/srv/admin', 'x:/srv/admin']],
    ['x:///srv/%2Fsrv%2fadmin', ['x:/srv/srv/admin', 'x:/srv/admin']],
    ['x:///srv/%252Fsrv/admin', ['x:/srv/srv/admin', 'x:/srv/admin']],
    ['x:///srv/%5C%5Csrv%5Cadmin', ['x:/srv/srv/admin', 'x:/srv/admin']],
    ['x:///srv/C:/srv/admin', ['x:/srv/c:/srv/admin', 'x:/c:/srv/admin']],
    ['x:///srv//a/../b', ['x:/srv/b', 'x:/b']],
    ['x:///srv/file:///etc/passwd', ['x:/srv/file:/etc/passwd', 'x:/etc/passwd']],
  ])('%j → %j', (uri, forms) => {
    const spellings = spellingsOf(uri)
    expect([...new Set(spellings)]).toEqual(expect.arrayContaining(forms))
    expect(spellings?.[0]).toBe(forms[0])
  })

  it.each([
    ['x:///srv/a/b', 'x:/b'],
    ['x:/srv/a/b', 'x:/a/b'],
    ['x:////srv/a/b', 'x:/a/b'],
    ['x://a//srv/b', 'x:/a/b'],
    ['x://a/%2Fsrv%2Fb', 'x:/a/b'],
    ['x://a/%5C%5Chost%5Cshare%5Cb', 'x:/a/b'],
    ['x://a/%5C%5C%3F%5CC:%5Csrv%5Cb', 'x:/a/b'],
    ['x://a/c:b', 'x:/a/b'],
    ['x://c:b', 'x:/b'],
    ['x:c:b', 'x:/b'],
    ['x://c:/srv/b', 'x:/b'],
    ['x://a/file:/srv/b', 'x:/a/b'],
    ['x://a/file:b', 'x:/a/b'],
    ['x://a?path=/srv/b', 'x:/a?path=b'],
    ['x://a?path=c:b', 'x:/a?path=b'],
    ['x://a/v-/srv/b', 'x:/a/v-b'],
    ['x://a//srv/c/../b', 'x:/a/b'],
  ])('%j → also %j, since nobody knows the folder', (uri, form) => {
    expect(spellingsOf(uri)).toContain(form)
  })

  it.each(['file:///srv/a/b', 'file:/srv/a/b', 'x://host:8080/a/b', 'x://a/b/c', 'x://a/v1.0/b', 'x://a./b'])(
    '%j → nothing else',
    (uri) => {
      expect(spellingsOf(uri)).toHaveLength(1)
    },
  )

  it('absolute paths of more than 32 names in all → anything', () => {
    expect(spellingsOf(`x://a/${'/b'.repeat(32)}`)).toContain('x:/a/b')
    expect(spellingsOf(`x://a/${'/b'.repeat(33)}`)).toBeUndefined()
    // The first path includes the second.
    const two = (names: number): string => `x://a/${'/b'.repeat(12)}/${'/c'.repeat(names)}`
    expect(spellingsOf(two(10))).toContain('x:/a/c')
    expect(spellingsOf(two(11))).toBeUndefined()
  })

  it('of any URI there are at most 80 forms', () => {
    for (let names = 1; names < 40; names++) {
      for (const path of ['/b', '//b', 'c:/b', '/c:b/d']) {
        const forms = spellingsOf(`x://a/${path.repeat(3)}${'/d'.repeat(names)}`)
        expect(forms?.length ?? 0).toBeLessThanOrEqual(80)
      }
    }
  })

  it('more than three absolute paths in one URI → anything', () => {
    expect(spellingsOf('x://a//b//c//d')).toContain('x:/d')
    expect(spellingsOf('x://a//b//c//d//e')).toBeUndefined()
    expect(foldUri('x://a//b//c//d//e')).toBe('x:/a/b/c/d/e')
  })

  it.each([
    ['more than 8,192 characters', `x://${'a'.repeat(8189)}`, `x://${'a'.repeat(8188)}`],
    [
      'more than 30 combining characters in a row',
      `x://a${'\u0301'.repeat(31)}`,
      `x://a${'\u0301'.repeat(30)}`,
    ],
    ['the same, encoded', `x://a${'%CC%81'.repeat(31)}`, `x://a${'%CC%81'.repeat(30)}`],
    ['the same, encoded twice', `x://a${'%25CC%2581'.repeat(31)}`, `x://a${'%25CC%2581'.repeat(30)}`],
    ['of several classes', `x://a${'\u0316\uFF9E'.repeat(16)}`, `x://a${'\u0316\uFF9E'.repeat(15)}`],
  ])('%s → anything', (_label, uri, short) => {
    expect([foldUri(uri), spellingsOf(uri), isPlainUri(uri)]).toEqual([undefined, undefined, false])
    expect(spellingsOf(short)).toHaveLength(1)
  })
})

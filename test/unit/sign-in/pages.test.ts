/** The pages of sign-in as text. What they look like and how they work is in test/browser. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { displayHost, displayText, displayUrl } from '../../../src/sign-in/pages/display-text.ts'
import type { SignInPage } from '../../../src/sign-in/pages/model.ts'
import { pagePolicy, renderPage } from '../../../src/sign-in/pages/pages.ts'
import { STYLE } from '../../../src/sign-in/pages/style.ts'
import { CONNECTIONS, CONSENT, ERROR, FIRST, WHO } from './_pages.ts'

const PAGES: readonly SignInPage[] = [CONSENT, FIRST, CONNECTIONS, ERROR, WHO]

it.each(PAGES)('$page: one style, whose hash the policy has; no script, nothing loaded', (page) => {
  const document = renderPage(page)
  const styles = [...document.matchAll(/<style>([\s\S]*?)<\/style>/g)]
  expect(styles).toHaveLength(1)
  const hash = createHash('sha256').update(styles[0]![1]!).digest('base64')
  expect(pagePolicy(page)).toContain(`default-src 'none'; style-src 'sha256-${hash}';`)
  expect(pagePolicy(page)).toContain("frame-ancestors 'none'")
  expect(pagePolicy(page)).not.toContain('script-src')
  expect(document).not.toMatch(/<script|<img|<iframe|<object| (?:style|on\w+|src|srcset)=/)
})

it('the colours are those of the landing page', () => {
  const landing = readFileSync(new URL('../../../src/http/page.ts', import.meta.url), 'utf8')
  for (const [pair] of STYLE.matchAll(/light-dark\([^)]*\)/g)) expect(landing).toContain(pair)
})

it.each(PAGES)('$page: markup in any text → escaped', (page) => {
  const evil = `"'></title></style></script><svg onload=alert(1)>&amp;`
  const everywhere = (value: unknown, name = ''): unknown => {
    if (typeof value === 'string') return name === 'page' ? value : evil
    if (Array.isArray(value)) return value.map((one) => everywhere(one))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, everywhere(member, key)]))
  }
  const document = renderPage(everywhere(page) as SignInPage)
  expect(document).not.toContain('<svg')
  expect(document.match(/<\/title>/g)).toHaveLength(1)
  expect(document.match(/<\/style>/g)).toHaveLength(1)
  expect(document).not.toContain(evil)
})

describe('the policy of a consent', () => {
  const policyFor = (redirectUri: string): string =>
    pagePolicy({ ...CONSENT, client: { ...CONSENT.client, redirectUri } })

  it('over http, of a development server → http is allowed, since its provider may be there', () => {
    expect(pagePolicy({ ...CONSENT, action: 'http://localhost:3000/oauth/authorize' })).toContain(
      "form-action 'self' https: http:;",
    )
  })

  it.each([
    ['https://client.example/cb?a=b', "form-action 'self' https:;"],
    ['http://127.0.0.1:3118/cb', "form-action 'self' https: http:;"],
    ['http://[::1]:3118/cb', "form-action 'self' https: http:;"],
    ['cursor://anysphere.cursor-mcp/oauth', "form-action 'self' https: cursor:;"],
    ['javascript:alert(1)', "form-action 'self' https:;"],
    ['x; script-src *:', "form-action 'self' https:;"],
  ])('%s → %s', (redirectUri, directive) => {
    expect(`${policyFor(redirectUri)};`).toContain(directive)
  })
})

describe('texts of strangers', () => {
  it.each([
    ['a direction of writing', 'Claude\u202egro.live', 'Claude\\u202egro.live'],
    ['invisible letters', 'Cl\u200baude\u00ad', 'Cl\\u200baude\\u00ad'],
    ['a tag character', 'A\u{e0041}', 'A\\udb40\\udc41'],
    ['lines', 'Claude\n\n\nVerified by Google', 'Claude Verified by Google'],
    ['control characters', 'a\u001b[31m', 'a\\u001b[31m'],
    ['stacked marks', `a${'\u0301\u0316'.repeat(50)}`, 'á\u0316\u0301'],
  ])('%s → seen', (_what, text, shown) => {
    expect(displayText(text, 60).length).toBeLessThan(30)
    expect(displayText(text, 60).normalize('NFD').replace(/\p{M}/gu, '')).toBe(
      shown.normalize('NFD').replace(/\p{M}/gu, ''),
    )
  })

  it('a long one → cut, without half a letter, in no time', () => {
    expect(displayText('😀'.repeat(100), 10)).toBe(`${'😀'.repeat(10)}…`)
    expect(displayText(`${' '.repeat(10_000_000)}x`, 10)).toBe('…')
    expect(displayText('abc', 3)).toBe('abc')
  })

  it.each([
    ['claude.ai', 'claude.ai'],
    ['сlaude.ai', 'xn--laude-0ye.ai'],
    ['CLAUDE.ai:8443', 'claude.ai:8443'],
    ['cursor:', 'cursor:'],
    ['127.0.0.1:3118', '127.0.0.1:3118'],
  ])('the host %s → %s', (host, shown) => {
    expect(displayHost(host)).toBe(shown)
  })
})

it('a long URL → its host is still spelled out', () => {
  expect(displayUrl(`https://сlaude.ai/${'x'.repeat(5000)}`)).toMatch(/^https:\/\/xn--laude-0ye\.ai\/x+…$/)
})

describe('an error', () => {
  it.each(['javascript:alert(1)', 'data:text/html,x', ' JavaScript:alert(1)', 'java\nscript:alert(1)'])(
    'with a link %j → no link',
    (url) => {
      const document = renderPage({ ...ERROR, returnTo: { url, host: 'client.example' } })
      expect(document).not.toContain('<a ')
    },
  )
})

/** The stand-in for an identity provider: in `mayfly dev`, and nowhere else. */
import { describe, expect, it } from 'vitest'
import { digest } from '../../../src/definition/digest.ts'
import { google } from '../../../src/sign-in/google.ts'
import { inUse, standIn } from '../../../src/sign-in/upstream/stand-in.ts'
import { failureOf } from './_failure.ts'

const DEV = { MAYFLY_DEV: '1' }
const HERE = 'http://localhost:8787/mcp/oauth/callback'
const VERIFIER = 'v'.repeat(43)

const start = async (more: object = {}) => ({
  ...{ env: DEV, redirectUri: HERE, state: 'the-state', nonce: 'the-nonce' },
  ...{ codeChallenge: await digest(VERIFIER), ...more },
})

/** What the form sends, with the fields of the page. */
async function answer(person: Record<string, string>, more: object = {}) {
  const upstream = standIn()
  const url = new URL(await upstream.authorizeUrl(await start()))
  const page = upstream.page!({ env: DEV, url })!
  const parameters = new URLSearchParams({ ...page.fields, ...person })
  return {
    ...{ env: DEV, redirectUri: page.action, code: parameters.get('code')!, codeVerifier: VERIFIER },
    ...{ nonce: 'the-nonce', parameters, ...more },
  }
}

const ADA = { name: 'Ada Lovelace', email: 'Ada@example.com' }

describe('the stand-in', () => {
  it('asks at the URL of the callback, and returns there', async () => {
    const upstream = standIn()
    const url = new URL(await upstream.authorizeUrl(await start()))

    expect(url.origin + url.pathname).toBe(HERE)
    expect(upstream.page!({ env: DEV, url })).toEqual({
      action: HERE,
      fields: { state: 'the-state', code: `${await digest(VERIFIER)}.the-nonce` },
      cancelUrl: `${HERE}?error=access_denied&state=the-state`,
    })
    expect(upstream.page!({ env: DEV, url: new URL(`${HERE}?state=a&code=b`) })).toBeUndefined()
  })

  it('believes who somebody is; the same email is the same person', async () => {
    const one = await standIn().exchange(await answer(ADA))
    const two = await standIn().exchange(await answer({ name: 'A. L.', email: 'ada@example.com' }))

    expect(one).toMatchObject({
      issuer: 'https://stand-in.invalid',
      subject: 'ada@example.com',
      name: 'Ada Lovelace',
      email: 'Ada@example.com',
      claims: { name: 'Ada Lovelace', email_verified: true },
    })
    expect(two.subject).toBe(one.subject)
    const fresh = await standIn().refresh!({ env: DEV, refreshToken: one.tokens.refreshToken! })
    expect(fresh.accessToken).not.toBe(one.tokens.accessToken)
  })

  it.each<[string, Record<string, string>, object]>([
    ['no name', { name: ' ', email: 'ada@example.com' }, {}],
    ['no email', { name: 'Ada', email: 'ada' }, {}],
    ['a very long name', { name: 'a'.repeat(81), email: 'ada@example.com' }, {}],
    ['the verifier of another sign-in', ADA, { codeVerifier: 'w'.repeat(43) }],
    ['another nonce', ADA, { nonce: 'another' }],
    ['a code of its own', ADA, { code: 'code' }],
  ])('%s → refused', async (_what, person, more) => {
    expect(await failureOf(standIn().exchange(await answer(person, more)))).toMatchObject({
      code: 'upstream_refused',
      fault: 'grant_refused',
    })
  })

  it.each<[string, object]>([
    ['a public URL', { redirectUri: 'https://notes.example/mcp/oauth/callback' }],
    ['a name that only begins like this computer', { redirectUri: 'http://localhost.evil.example/cb' }],
    ['a server that mayfly dev has not started', { env: {} }],
    ['a server without variables', { env: undefined }],
    ['the variable with another value', { env: { MAYFLY_DEV: 'true' } }],
  ])('%s → neither asks nor believes', async (_what, more) => {
    const upstream = standIn()
    expect(await failureOf(upstream.authorizeUrl(await start(more)))).toMatchObject({
      code: 'upstream_unavailable',
      fault: 'misconfigured',
    })
    expect(await failureOf(upstream.exchange(await answer(ADA, more)))).toMatchObject({
      fault: 'misconfigured',
    })
    const { redirectUri, env } = { ...(await start()), ...more }
    const url = new URL(`${redirectUri}?stand_in=who&state=s`)
    expect(() => upstream.page!({ env, url })).toThrow('not set up correctly')
  })
})

describe('the provider in use', () => {
  const upstream = google({ clientId: (env) => env.GOOGLE_ID, clientSecret: (env) => env.GOOGLE_SECRET })
  const SET = { GOOGLE_ID: 'id', GOOGLE_SECRET: 'secret' }

  it.each<[string, unknown, string]>([
    ['nothing set, in dev', DEV, 'stand-in'],
    ['half of it set, in dev', { ...DEV, GOOGLE_ID: 'id' }, 'stand-in'],
    ['all set, in dev', { ...DEV, ...SET }, 'google'],
    ['nothing set, elsewhere', {}, 'google'],
    ['no variables at all', undefined, 'google'],
  ])('%s → %s', (_what, env, id) => {
    expect(inUse(upstream, env).id).toBe(id)
  })
})

/** `github` with a double of GitHub's API, as its documentation describes it: it is no OpenID provider. */
import { describe, expect, it } from 'vitest'
import { type GithubOptions, github } from '../../../src/sign-in/github.ts'
import { failureOf } from './_failure.ts'

const CLIENT = { clientId: 'Iv1.abc', clientSecret: 'the-secret-of-the-app-on-github' }
const RETURN = {
  ...{ env: {}, redirectUri: 'https://notes.example/cb', code: 'the-code', codeVerifier: 'v'.repeat(43) },
  ...{ nonce: 'n', parameters: new URLSearchParams({ code: 'the-code', state: 's' }) },
}
const TOKENS = { access_token: 'ghu_token', token_type: 'bearer', scope: 'read:user,user:email' }
const EMAILS = [
  { email: 'old@notes.example', primary: false, verified: true },
  { email: 'ada@notes.example', primary: true, verified: true },
]

interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly form: { readonly [name: string]: string }
}

type Answers = { readonly [path: string]: () => Response | Promise<Response> }

/** GitHub, as far as it is asked. */
function double(more: Answers = {}): { fetch: typeof fetch; asked: Asked[] } {
  const answers: Answers = {
    '/login/oauth/access_token': () => Response.json(TOKENS),
    '/user': () => Response.json({ id: 583231, login: 'ada', name: 'Ada Lovelace' }),
    '/user/emails': () => Response.json(EMAILS),
    '/user/memberships/orgs/notes': () => Response.json({ state: 'active', role: 'member' }),
    ...more,
  }
  const asked: Asked[] = []
  return {
    asked,
    fetch: async (input, init) => {
      const url = new URL(String(input))
      const form = Object.fromEntries(new URLSearchParams(String(init?.body ?? '')))
      asked.push({
        ...{ method: init?.method ?? 'GET', url: url.href, form },
        headers: new Headers(init?.headers),
      })
      return (await answers[url.pathname]?.()) ?? Response.json({ message: 'Not Found' }, { status: 404 })
    },
  }
}

const githubOf = (fetch: typeof globalThis.fetch, more: Partial<GithubOptions> = {}) =>
  github({ ...CLIENT, fetch, ...more })

describe('github', () => {
  it('sends the browser to GitHub with PKCE', async () => {
    const url = new URL(
      await githubOf(double().fetch, { organization: 'notes' }).authorizeUrl({
        ...{ env: {}, redirectUri: 'https://notes.example/cb', state: 's', nonce: 'n', codeChallenge: 'c' },
        isSwitching: true,
      }),
    )

    expect(`${url.origin}${url.pathname}`).toBe('https://github.com/login/oauth/authorize')
    expect(Object.fromEntries(url.searchParams)).toEqual({
      prompt: 'select_account',
      client_id: 'Iv1.abc',
      redirect_uri: 'https://notes.example/cb',
      scope: 'read:user user:email read:org',
      state: 's',
      code_challenge: 'c',
      code_challenge_method: 'S256',
    })
  })

  it('a sign-in → the numeric id, the name, the verified primary email', async () => {
    const { fetch, asked } = double()

    expect(await githubOf(fetch).exchange(RETURN)).toEqual({
      issuer: 'https://github.com',
      subject: '583231',
      name: 'Ada Lovelace',
      email: 'ada@notes.example',
      claims: { login: 'ada', name: 'Ada Lovelace', email: 'ada@notes.example', email_verified: true },
      tokens: { accessToken: 'ghu_token', scopes: ['read:user', 'user:email'] },
    })
    expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST https://github.com/login/oauth/access_token',
      'GET https://api.github.com/user',
      'GET https://api.github.com/user/emails?per_page=100',
    ])
    expect(asked[0]!.form).toEqual({
      client_id: 'Iv1.abc',
      client_secret: CLIENT.clientSecret,
      code: 'the-code',
      redirect_uri: 'https://notes.example/cb',
      code_verifier: 'v'.repeat(43),
    })
    expect(asked[1]!.headers.get('authorization')).toBe('Bearer ghu_token')
    expect(asked[1]!.headers.get('user-agent')).toBe('mayfly-mcp')
  })

  it.each<[string, unknown]>([
    ['not verified', [{ email: 'ada@notes.example', primary: true, verified: false }, EMAILS[0]]],
    ['"verified" as a string', [{ email: 'ada@notes.example', primary: true, verified: 'true' }]],
    ['none', []],
    ['no list', { email: 'ada@notes.example', primary: true, verified: true }],
  ])('a primary email: %s → no email', async (_what, emails) => {
    const { fetch } = double({ '/user/emails': () => Response.json(emails) })

    const identity = await githubOf(fetch).exchange(RETURN)

    expect(identity).not.toHaveProperty('email')
    expect(identity.claims).not.toHaveProperty('email')
  })

  it('a member of the organization → signed in', async () => {
    const { fetch } = double()

    const { claims } = await githubOf(fetch, { organization: 'notes' }).exchange(RETURN)

    expect(claims).toMatchObject({ organization: 'notes' })
  })

  it.each<[string, () => Response, string]>([
    ['nobody of it', () => Response.json({}, { status: 404 }), 'not a member'],
    ['invited', () => Response.json({ state: 'pending' }), 'has not been accepted'],
    ['hidden from this app', () => Response.json({}, { status: 403 }), 'approve it'],
  ])('an organization: %s → turned away', async (_what, answer, reason) => {
    const { fetch } = double({ '/user/memberships/orgs/notes': answer })

    const failure = await failureOf(githubOf(fetch, { organization: 'notes' }).exchange(RETURN))

    expect(failure).toMatchObject({
      code: 'upstream_refused',
      fault: 'not_allowed',
      message: 'Only members of notes on GitHub may sign in here.',
    })
    expect(failure.operator).toContain(reason)
  })

  it('a membership that cannot be asked for → not signed in', async () => {
    const { fetch } = double({ '/user/memberships/orgs/notes': () => Response.json({}, { status: 500 }) })

    expect(await failureOf(githubOf(fetch, { organization: 'notes' }).exchange(RETURN))).toMatchObject({
      code: 'upstream_unavailable',
      fault: 'answer_invalid',
    })
  })

  it.each<[string, string, string]>([
    ['bad_verification_code', 'upstream_refused', 'grant_refused'],
    ['incorrect_client_credentials', 'upstream_unavailable', 'misconfigured'],
    ['redirect_uri_mismatch', 'upstream_unavailable', 'misconfigured'],
  ])('the error %s, with status 200 → %s', async (error, code, fault) => {
    const { fetch } = double({ '/login/oauth/access_token': () => Response.json({ error }) })

    const failure = await failureOf(githubOf(fetch).exchange(RETURN))

    expect(failure).toMatchObject({ code, fault })
    expect(failure.operator).toContain(error)
    for (const secret of [CLIENT.clientSecret, 'the-code', RETURN.codeVerifier])
      expect(failure.whole).not.toContain(secret)
  })

  it.each<[string, Answers]>([
    ['no token', { '/login/oauth/access_token': () => Response.json({}) }],
    ['no JSON', { '/login/oauth/access_token': () => new Response('access_token=a') }],
    ['a user without an id', { '/user': () => Response.json({ login: 'ada' }) }],
    ['an id that is a string', { '/user': () => Response.json({ id: '583231', login: 'ada' }) }],
    ['a redirect of the API', { '/user': () => Response.redirect('https://evil.example', 302) }],
    ['emails that are forbidden', { '/user/emails': () => Response.json({}, { status: 403 }) }],
    ['more than it may', { '/user': () => new Response('x'.repeat(300_000)) }],
  ])('%s → not signed in', async (_what, answers) => {
    expect(await failureOf(githubOf(double(answers).fetch).exchange(RETURN))).toMatchObject({
      code: 'upstream_unavailable',
      fault: 'answer_invalid',
    })
  })

  it('GitHub does not answer → an end in time', async () => {
    const { fetch } = double({ '/user': () => new Promise<Response>(() => {}) })

    expect(await failureOf(githubOf(fetch, { timeoutMs: 50 }).exchange(RETURN))).toMatchObject({
      fault: 'unreachable',
    })
  })

  it.each([
    [{ error: 'access_denied' }, 'denied'],
    [{ error: 'redirect_uri_mismatch' }, 'misconfigured'],
    [{ code: 'the-code', iss: 'https://evil.example' }, 'issuer_mismatch'],
  ])('a callback with %j → the code is sent nowhere', async (parameters, fault) => {
    const { fetch, asked } = double()
    const given = { ...RETURN, parameters: new URLSearchParams(parameters as Record<string, string>) }

    expect(await failureOf(githubOf(fetch).exchange(given))).toMatchObject({ fault })
    expect(asked).toEqual([])
  })

  it('a refresh → new tokens; a refused one → refused', async () => {
    const fresh = { ...TOKENS, access_token: 'new', refresh_token: 'ghr_new', expires_in: 28_800, scope: '' }
    const good = double({ '/login/oauth/access_token': () => Response.json(fresh) })
    const bad = double({
      '/login/oauth/access_token': () => Response.json({ error: 'bad_refresh_token' }),
    })

    expect(await githubOf(good.fetch).refresh!({ env: {}, refreshToken: 'ghr_old' })).toEqual({
      accessToken: 'new',
      refreshToken: 'ghr_new',
      expiresAt: expect.any(Number),
    })
    expect(good.asked[0]!.form).toMatchObject({ grant_type: 'refresh_token', refresh_token: 'ghr_old' })
    const failure = await failureOf(githubOf(bad.fetch).refresh!({ env: {}, refreshToken: 'ghr_old' }))
    expect(failure).toMatchObject({ code: 'upstream_refused', fault: 'grant_refused' })
    expect(failure.whole).not.toContain('ghr_old')
  })

  it.each<[object, string]>([
    [{ organization: 'a/b' }, '"organization" of github'],
    [{ organization: '' }, '"organization" of github is empty'],
    [{ organisation: 'notes' }, 'did you mean "organization"'],
    [{ clientSecret: undefined }, 'needs "clientSecret"'],
  ])('%j → a TypeError', (options, message) => {
    expect(() => github({ ...CLIENT, ...options } as never)).toThrow(TypeError)
    expect(() => github({ ...CLIENT, ...options } as never)).toThrow(message)
  })

  it('an organization of the environment that is not set → nobody is let in', async () => {
    const upstream = githubOf(double().fetch, { organization: (env) => env.ORG })

    expect(await failureOf(upstream.exchange(RETURN))).toMatchObject({ fault: 'misconfigured' })
    expect(upstream.faultIn?.({})).toContain('"organization" of github is not set')
  })
})

/**
 * What `mayfly doctor --online` finds out from a provider: `oidc-provider` on loopback, and doubles with the documented answers of Google,
 * Entra, Cognito and GitHub.
 */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { askProvider } from '../../../deploy/doctor/ask-provider.ts'
import { cognito } from '../../../src/sign-in/cognito.ts'
import { entra } from '../../../src/sign-in/entra.ts'
import { github } from '../../../src/sign-in/github.ts'
import { google } from '../../../src/sign-in/google.ts'
import { oidc } from '../../../src/sign-in/oidc.ts'
import type { Upstream } from '../../../src/sign-in/upstream/upstream.ts'
import { CLIENT, type OpenIdProvider, REDIRECT, startOpenIdProvider } from './_provider.ts'
import { fakeUpstream } from './_sign-in.ts'

afterEach(() => {
  vi.useRealTimers()
})

const line = (level: string, text: string): unknown => ({ level, message: expect.stringContaining(text) })

async function said(
  upstream: Upstream,
  fetch?: typeof globalThis.fetch,
  redirectUri: string | undefined = REDIRECT,
): Promise<string[]> {
  const findings = await askProvider(upstream, { env: {}, redirectUri, ...(fetch && { fetch }) })
  return findings.map(({ level, message }) => `${level}: ${message}`)
}

describe('a real OpenID provider', () => {
  const of = ({ issuer }: OpenIdProvider, more: object = {}): Upstream =>
    oidc({ issuer, ...CLIENT, name: 'Login', ...more })

  it('everything is right', async () => {
    await using provider = await startOpenIdProvider()
    expect(await said(of(provider))).toEqual([
      'ok: Login answers, and its metadata fits',
      'ok: Login accepts the client id and the secret',
      'ok: Login accepts the client id and the redirect URL, as far as it says before anybody signs in',
    ])
  })

  it('another secret', async () => {
    await using provider = await startOpenIdProvider()
    const clientSecret = 'another-secret-that-is-wrong'
    const told = await said(of(provider, { clientSecret }))
    expect(told[1]).toMatch(/^error: Login refuses the client id or the secret: /)
    expect(told[2]).toMatch(/^ok: Login accepts the client id and the redirect URL/)
    expect(told.join()).not.toContain(clientSecret)
  })

  it('another client id', async () => {
    await using provider = await startOpenIdProvider()
    const told = await said(of(provider, { clientId: 'nobody' }))
    expect(told[1]).toMatch(/^error: Login refuses the client id or the secret: /)
    expect(told[2]).toBe('error: Login refuses the client id: invalid_client')
  })

  it('a redirect URL that is not registered', async () => {
    await using provider = await startOpenIdProvider()
    const told = await said(of(provider), undefined, 'https://other.example/oauth/callback')
    expect(told.slice(1)).toEqual([
      'ok: Login accepts the client id and the secret',
      'error: Login does not know the redirect URL: register https://other.example/oauth/callback',
    ])
  })

  it('a host that is not known: the client is asked about all the same', async () => {
    await using provider = await startOpenIdProvider()
    const findings = await askProvider(of(provider), { env: {}, redirectUri: undefined })
    expect(findings.slice(1)).toEqual([
      line('ok', 'accepts the client id and the secret'),
      line('ok', 'was not asked, since the host is not known'),
    ])
  })

  it('what it sends back to the redirect URL is about the request', async () => {
    await using provider = await startOpenIdProvider()
    const refusing: typeof fetch = async (input, init) =>
      String(input).includes('/auth?')
        ? new Response(null, { status: 303, headers: { location: `${REDIRECT}?error=unauthorized_client` } })
        : provider.fetch(input, init)
    expect((await said(of(provider), refusing))[2]).toBe(
      'error: Login refuses to begin a sign-in (unauthorized_client): check the grants and the scopes of the client',
    )
  })

  it.each<[string, (metadata: Record<string, unknown>) => object, string]>([
    ['another issuer', (all) => ({ ...all, issuer: 'https://evil.example' }), 'error: the metadata at '],
    ['no endpoint', ({ token_endpoint: _, ...all }) => all, 'has no token_endpoint'],
    ['no S256', (all) => ({ ...all, code_challenge_methods_supported: ['plain'] }), 'does not list S256'],
    ['no email', (all) => ({ ...all, scopes_supported: ['openid', 'profile'] }), 'the scopes email'],
    [
      'keys only',
      (all) => ({ ...all, token_endpoint_auth_methods_supported: ['private_key_jwt'] }),
      'no way to send a client secret',
    ],
  ])('metadata with %s', async (_name, change, text) => {
    await using provider = await startOpenIdProvider()
    const changing: typeof fetch = async (input, init) => {
      const answer = await provider.fetch(input, init)
      return String(input).includes('.well-known')
        ? Response.json(change((await answer.json()) as Record<string, unknown>))
        : answer
    }
    expect((await said(of(provider), changing)).join('\n')).toContain(text)
  })

  it('no such issuer → one error, and nothing else is asked', async () => {
    await using provider = await startOpenIdProvider()
    const upstream = oidc({ issuer: `${provider.issuer}/nowhere`, ...CLIENT, name: 'Login' })
    expect(await said(upstream)).toEqual([
      expect.stringMatching(/^error: Login answers 404 for the metadata at .*; check the issuer/),
    ])
  })

  it('nobody answers → one warning', async () => {
    const provider = await startOpenIdProvider()
    await provider[Symbol.asyncDispose]()
    expect(await said(of(provider))).toEqual([
      expect.stringMatching(/^warning: Login cannot be asked: 127\.0\.0\.1:\d+ cannot be reached$/),
    ])
  })

  it.each([500, 503, 429])('status %i → one warning', async (status) => {
    await using provider = await startOpenIdProvider()
    const failing = async (): Promise<Response> => new Response('later', { status })
    expect(await said(of(provider), failing)).toEqual([
      expect.stringMatching(new RegExp(`^warning: Login cannot be asked: it answers ${status} `)),
    ])
  })

  it('an answer that never comes, or never ends → one warning after 5 seconds', async () => {
    await using provider = await startOpenIdProvider()
    vi.useFakeTimers()
    const endless = async (): Promise<Response> => new Response(new ReadableStream())
    for (const fetch of [() => new Promise<Response>(() => {}), endless]) {
      const told = said(of(provider), fetch)
      await vi.advanceTimersByTimeAsync(5100)
      expect(await told).toEqual([expect.stringContaining('did not answer within 5000 ms')])
    }
  })

  it('an answer of any length is read to half a megabyte', async () => {
    await using provider = await startOpenIdProvider()
    let sent = 0
    const pull = (controller: ReadableStreamDefaultController): void => {
      sent += 65_536
      controller.enqueue(new Uint8Array(65_536).fill(32))
    }
    const told = await said(of(provider), async () => new Response(new ReadableStream({ pull })))
    expect(told).toHaveLength(1)
    expect(sent).toBeLessThan(1_000_000)
  })
})

type Answers = { readonly [start: string]: () => Response }

/** The answer for the first start of a URL. */
function double(answers: Answers): typeof fetch {
  return async (input) => {
    const url = String(input)
    const start = Object.keys(answers).find((one) => url.startsWith(one))
    if (start === undefined) throw new Error(`Nobody answers ${url}.`)
    return answers[start]!()
  }
}

const refusal = (status: number, error: string, error_description: string) => () =>
  Response.json({ error, error_description }, { status })
const to = (location: string) => () => new Response(null, { status: 302, headers: { location } })

function metadata(issuer: string, at = issuer, more: object = {}): Answers {
  return {
    [`${at}/.well-known/openid-configuration`]: () =>
      Response.json({
        issuer,
        authorization_endpoint: `${at}/authorize`,
        token_endpoint: `${at}/token`,
        jwks_uri: `${at}/keys`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        ...more,
      }),
  }
}

const SETTINGS = { clientId: 'the-id', clientSecret: 'the-secret' }

describe('Google', () => {
  const HOST = 'https://accounts.google.com'
  const google2 = (answers: Answers) => {
    const fetch = double({ ...metadata(HOST), ...answers })
    return said(google({ ...SETTINGS, fetch }), fetch)
  }
  const token = (answer: () => Response): Answers => ({ [`${HOST}/token`]: answer })
  const MALFORMED = refusal(400, 'invalid_grant', 'Malformed auth code.')
  const SIGN_IN = to(`${HOST}/v3/signin/identifier?opparams=%253F&client_id=the-id`)

  it('the form to sign in, and a malformed code → right', async () => {
    const told = await google2({ ...token(MALFORMED), [`${HOST}/authorize`]: SIGN_IN })
    expect(told.every((one) => one.startsWith('ok: '))).toBe(true)
  })

  it('its error page with redirect_uri_mismatch in authError → the URL to register', async () => {
    const authError = 'ChVyZWRpcmVjdF91cmlfbWlzbWF0Y2gSsAEKWW91IGNhbid0IHNpZ24gaW4gdG8gdGhpcyBhcHA'
    const page = to(`${HOST}/signin/oauth/error?authError=${authError}&flowName=GeneralOAuthFlow`)
    const told = await google2({ ...token(MALFORMED), [`${HOST}/authorize`]: page })
    expect(told[2]).toBe(`error: Google does not know the redirect URL: register ${REDIRECT}`)
  })

  it('a client that was deleted, and one that does not exist', async () => {
    for (const [authError, code] of [
      ['Cg5kZWxldGVkX2NsaWVudBIdVGhlIE9BdXRoIGNsaWVudCB3YXMgZGVsZXRlZC4gkQM%3D', 'deleted_client'],
      ['Cg5pbnZhbGlkX2NsaWVudBIfVGhlIE9BdXRoIGNsaWVudCB3YXMgbm90IGZvdW5kLiCRAw%3D%3D', 'invalid_client'],
    ]) {
      const page = to(`${HOST}/signin/oauth/error?authError=${authError}&client_id=the-id`)
      const gone = refusal(401, code!, 'The OAuth client was not found.')
      const told = await google2({ ...token(gone), [`${HOST}/authorize`]: page })
      expect(told[1]).toMatch(/^(?:error: Google refuses the client|warning: Google cannot be asked)/)
      expect(told[2]).toBe(`error: Google refuses the client id: ${code}`)
    }
  })

  it('another secret, which its answer repeats → it is not printed', async () => {
    const wrong = refusal(401, 'invalid_client', 'The secret the-secret is invalid.')
    const told = await google2({ ...token(wrong), [`${HOST}/authorize`]: SIGN_IN })
    expect(told[1]).toMatch(/^error: Google refuses the client id or the secret: .*invalid_client/)
    expect(told.join()).not.toContain('the-secret')
  })
})

describe('Entra', () => {
  const TENANT = '0f0f0f0f-1111-2222-3333-444444444444'
  const AT = `https://login.microsoftonline.com/${TENANT}/v2.0`
  const ask = (answers: Answers, tenant = TENANT) => {
    const fetch = double({ ...metadata(AT), ...answers })
    return said(entra({ ...SETTINGS, tenant, fetch }), fetch)
  }
  const FORM: Answers = { [`${AT}/authorize`]: () => new Response('<title>Sign in to your account</title>') }
  const GRANT: Answers = { [`${AT}/token`]: refusal(400, 'invalid_grant', 'AADSTS9002313: Invalid request.') }

  it('what it does not say before somebody signs in is not claimed', async () => {
    expect(await ask({ ...FORM, ...GRANT })).toEqual([
      'ok: Microsoft answers, and its metadata fits',
      'ok: Microsoft knows the client id; it may refuse a wrong secret only at a sign-in',
      'ok: whether Microsoft knows the redirect URL cannot be asked: it says so only to people who sign in',
    ])
  })

  it('a tenant that does not exist', async () => {
    const gone = refusal(400, 'invalid_tenant', `AADSTS90002: Tenant '${TENANT}' not found.`)
    const told = await ask({ [`${AT}/.well-known/openid-configuration`]: gone, ...FORM, ...GRANT })
    expect(told).toEqual([
      expect.stringMatching(/^error: Microsoft answers 400 .*AADSTS90002.*check the issuer, tenant/),
    ])
  })

  it.each([
    [401, 'invalid_client', 'AADSTS7000215: Invalid client secret provided.'],
    [400, 'unauthorized_client', 'AADSTS700016: Application was not found in the directory.'],
  ] as const)('%i %s → an error', async (status, error, description) => {
    const told = await ask({ ...FORM, [`${AT}/token`]: refusal(status, error, description) })
    expect(told[1]).toMatch(new RegExp(`^error: Microsoft refuses the client id or the secret: .*${error}`))
  })

  it('its error page, with status 200', async () => {
    const page = (code: string): Answers => ({
      [`${AT}/authorize`]: () => new Response(`<div>AADSTS${code}: The redirect URI does not match.</div>`),
    })
    expect((await ask({ ...page('50011'), ...GRANT }))[2]).toContain(
      'does not know the redirect URL: register',
    )
    expect((await ask({ ...page('700016'), ...GRANT }))[2]).toContain('refuses the client id: AADSTS700016')
  })

  it('several tenants: the metadata has a template', async () => {
    const at = 'https://login.microsoftonline.com/organizations/v2.0'
    const template = 'https://login.microsoftonline.com/{tenantid}/v2.0'
    const fetch = double({
      ...metadata(template, at),
      [`${at}/authorize`]: () => new Response('Sign in'),
      [`${at}/token`]: refusal(400, 'invalid_grant', 'AADSTS9002313'),
    })
    const told = await said(
      entra({ ...SETTINGS, tenant: 'organizations', allowedTenants: 'any', fetch }),
      fetch,
    )
    expect(told[0]).toBe('ok: Microsoft answers, and its metadata fits')
  })
})

describe('Cognito', () => {
  const POOL = 'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_AbC'
  const ask = (answers: Answers) => {
    const fetch = double({ ...metadata(POOL), ...answers })
    const pool = { region: 'eu-west-1', userPoolId: 'eu-west-1_AbC' }
    return said(cognito({ ...SETTINGS, ...pool, fetch }), fetch)
  }
  const DOMAIN = 'https://shop.auth.eu-west-1.amazoncognito.com'

  it('its error page names redirect_mismatch', async () => {
    const told = await ask({
      [`${POOL}/authorize`]: to(`${DOMAIN}/error?error=redirect_mismatch&client_id=the-id`),
      [`${POOL}/token`]: refusal(400, 'invalid_grant', ''),
    })
    expect(told.slice(1)).toEqual([
      'ok: Amazon Cognito accepts the client id and the secret',
      `error: Amazon Cognito does not know the redirect URL: register ${REDIRECT}`,
    ])
  })

  it('the login page and invalid_client', async () => {
    const told = await ask({
      [`${POOL}/authorize`]: to(`${DOMAIN}/login?client_id=the-id`),
      [`${POOL}/token`]: refusal(400, 'invalid_client', ''),
    })
    expect(told[1]).toMatch(/^error: Amazon Cognito refuses the client id or the secret/)
    expect(told[2]).toMatch(/^ok: /)
  })

  it('a pool that does not exist', async () => {
    const gone = () => Response.json({ message: 'User pool eu-west-1_AbC does not exist.' }, { status: 400 })
    expect(await ask({ [`${POOL}/.well-known/openid-configuration`]: gone })).toEqual([
      expect.stringMatching(/^error: Amazon Cognito answers 400 .*does not exist.*pool$/),
    ])
  })
})

describe('GitHub', () => {
  const ask = (answer: () => Response, redirectUri?: string | undefined) => {
    const fetch = double({ 'https://github.com/login/oauth/access_token': answer })
    return said(github({ ...SETTINGS, fetch }), fetch, redirectUri)
  }
  const LATER =
    'ok: whether GitHub knows the redirect URL cannot be asked: it says so only to people who sign in'

  it.each([
    ['bad_verification_code', 'ok: GitHub accepts the client id and the secret'],
    [
      'incorrect_client_credentials',
      'error: GitHub refuses the client id or the secret: GitHub refused this app: incorrect_client_credentials',
    ],
    ['redirect_uri_mismatch', `error: GitHub does not know the redirect URL: register ${REDIRECT}`],
    [
      'application_suspended',
      'warning: GitHub cannot be asked: GitHub refused this app: application_suspended',
    ],
  ])('%s', async (error, finding) => {
    expect(await ask(refusal(200, error, 'Of GitHub.'))).toEqual([finding, LATER])
  })

  it('404, its answer for an unknown client', async () => {
    expect((await ask(refusal(404, 'Not Found', '')))[0]).toMatch(/^error: GitHub refuses the client id/)
  })
})

it('an Upstream of somebody’s own is asked nothing', async () => {
  const upstream = fakeUpstream()
  expect(await said(upstream)).toEqual(['ok: Fake cannot be asked: it is your own Upstream'])
  expect(upstream.exchanged).toEqual([])
})

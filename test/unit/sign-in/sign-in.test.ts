/** The way from a client's request to its tokens, and what the tokens say. */
import { expect, it } from 'vitest'
import {
  arrive,
  createWorld,
  decide,
  exchange,
  handleOf,
  ORIGIN,
  registered,
  type Tokens,
} from './_sign-in.ts'

it('metadata names the endpoints, S256, the issuer in responses, documents of clients and revocation', async () => {
  const response = await createWorld().get('/.well-known/oauth-authorization-server')
  expect(response.status).toBe(200)
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
  expect(await response.json()).toMatchObject({
    issuer: ORIGIN,
    authorization_endpoint: `${ORIGIN}/oauth/authorize`,
    token_endpoint: `${ORIGIN}/oauth/token`,
    revocation_endpoint: `${ORIGIN}/oauth/token`,
    registration_endpoint: `${ORIGIN}/oauth/register`,
    code_challenge_methods_supported: ['S256'],
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    scopes_supported: ['notes:read', 'notes:write'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  })
})

it('a client registers, a person signs in and agrees, and the token says who it is', async () => {
  const world = createWorld()
  const clientId = await registered(world)
  const { at, jar } = await arrive(world, { clientId })
  const page = await world.get(`/oauth/authorize?consent=${handleOf(at)}`, jar.headers)
  expect(page.status).toBe(200)
  const text = await page.text()
  for (const part of [
    'Test client',
    '127.0.0.1:5555',
    'you sign in with Fake',
    'openid email',
    'Read your notes',
  ])
    expect(text).toContain(part)
  const back = await decide(world, handleOf(at), jar)
  const url = new URL(back.headers.get('location')!)
  expect(url.href).toMatch(/^http:\/\/127\.0\.0\.1:5555\/cb\?/)
  expect(url.searchParams.get('state')).toBe('state-of-client')
  expect(url.searchParams.get('iss')).toBe(ORIGIN)
  const response = await exchange(world, url.searchParams.get('code')!, clientId)
  expect(response.status).toBe(200)
  expect(response.headers.get('cache-control')).toBe('no-store')
  const tokens = (await response.json()) as Tokens
  expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'notes:read' })
  expect(await world.signIn.verify(tokens.access_token, world.context)).toEqual({
    clientId,
    scopes: ['notes:read'],
    expiresAt: expect.any(Number),
    claims: { hd: 'example.com' },
    extra: {
      sub: expect.stringMatching(/^[\w-]{32}$/),
      name: 'Name of anna',
      email: 'anna@example.com',
      connection: expect.any(String),
    },
  })
})

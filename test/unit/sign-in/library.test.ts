/** What sign-in reads of the OAuth library's records, and what it relies on: another version has to be looked at before it is taken. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { connected, createWorld, refresh, registered, signInAs, type World } from './_sign-in.ts'

const HASH = /^[0-9a-f]{64}$/

async function recordsOf(world: World, kind: string): Promise<{ [member: string]: unknown }[]> {
  const { keys } = await world.store.list({ prefix: '', limit: 1000 })
  const own = keys.filter((key) => key.split(':')[1] === kind)
  const entries = await Promise.all(own.map((key) => world.store.read(key)))
  return entries.map((entry) => JSON.parse(entry!.value) as { [member: string]: unknown })
}

it('is the version whose records are known', () => {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
    devDependencies: { [name: string]: string }
  }
  expect(manifest.devDependencies['@cloudflare/workers-oauth-provider']).toBe('1.2.3')
})

it('a grant has a code, and then a refresh token instead', async () => {
  const world = createWorld()
  const clientId = await registered(world)
  await signInAs(world, { clientId })
  const [asked] = await recordsOf(world, 'grant')
  expect(asked).toEqual({
    id: expect.stringMatching(/^[\w-]{16}$/),
    clientId,
    userId: expect.stringMatching(/^[\w-]{32}$/),
    scope: ['notes:read'],
    metadata: { client: expect.any(Object) },
    encryptedProps: expect.any(String),
    createdAt: expect.any(Number),
    authCodeId: expect.stringMatching(HASH),
    authCodeWrappedKey: expect.any(String),
    codeChallenge: expect.any(String),
    codeChallengeMethod: 'S256',
    resource: 'https://mcp.example.com/mcp',
    redirectUri: 'http://127.0.0.1:5555/cb',
  })
  const other = createWorld()
  const { clientId: id, tokens } = await connected(other)
  await refresh(other, tokens.refresh_token, id)
  const [granted] = await recordsOf(other, 'grant')
  expect(Object.keys(granted!).sort()).toEqual([
    'authCodeId',
    'clientId',
    'createdAt',
    'encryptedProps',
    'expiresAt',
    'id',
    'metadata',
    'previousRefreshTokenId',
    'previousRefreshTokenWrappedKey',
    'redirectUri',
    'refreshTokenId',
    'refreshTokenWrappedKey',
    'resource',
    'scope',
    'userId',
  ])
  expect(granted!.refreshTokenId).toMatch(HASH)
})

it('a client has the time when its registration ends', async () => {
  const world = createWorld()
  const clientId = await registered(world)
  expect(await recordsOf(world, 'client')).toEqual([
    {
      clientId,
      redirectUris: ['http://127.0.0.1:5555/cb'],
      clientName: 'Test client',
      grantTypes: ['authorization_code'],
      responseTypes: ['code'],
      registrationDate: expect.any(Number),
      registrationExpiresAt: expect.any(Number),
      tokenEndpointAuthMethod: 'none',
      authMethodExplicit: true,
    },
  ])
})

it('an access token is found by its hash', async () => {
  const world = createWorld()
  const { clientId } = await connected(world)
  expect(await recordsOf(world, 'token')).toEqual([
    {
      id: expect.stringMatching(HASH),
      grantId: expect.stringMatching(/^[\w-]{16}$/),
      userId: expect.stringMatching(/^[\w-]{32}$/),
      createdAt: expect.any(Number),
      expiresAt: expect.any(Number),
      audience: 'https://mcp.example.com/mcp',
      scope: ['notes:read'],
      wrappedEncryptionKey: expect.any(String),
      grant: { clientId, scope: ['notes:read'], encryptedProps: expect.any(String) },
    },
  ])
})

it('it warns nobody, fetches nothing and needs no platform', async () => {
  const source = readFileSync(
    'node_modules/@cloudflare/workers-oauth-provider/dist/oauth-provider.js',
    'utf8',
  )
  const { oauthLibrary } = await import('../../../scripts/oauth-library.mjs')
  const { code } = oauthLibrary.transform.handler(source)
  expect(code).not.toMatch(/^import /m)
  expect(code).not.toMatch(/^if \(!\(typeof Cloudflare/m)
  expect(() => oauthLibrary.transform.handler(source.replace('WorkerEntrypoint }', 'Other }'))).toThrow(
    'not as expected',
  )
})

/** The whole dance with a real authorization server: the official client discovers, registers, signs in, calls, steps up, refreshes. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { node } from '../../../deploy/targets/node/target.ts'
import { type ServedArtefact, serveArtefact, withEnv } from '../_artefact.ts'
import { signIn } from './_browser.ts'
import {
  authorize,
  connected,
  Desk,
  discoverWith,
  REDIRECT_URL,
  signedIn,
  transportFor,
  turnedAway,
} from './_desk.ts'
import { type AuthorizationServer, startAuthorizationServer } from './_provider.ts'

let authorizationServer: AuthorizationServer
let served: ServedArtefact
beforeAll(async () => {
  authorizationServer = await startAuthorizationServer()
  served = await serveArtefact(
    'test/runtimes/auth/fixture.ts',
    withEnv(node, { ISSUER: authorizationServer.issuer }),
  )
})
afterAll(async () => {
  await served?.stop()
  await authorizationServer?.[Symbol.asyncDispose]()
})

it('a client that knows only the address finds its way, and the tool knows the user [auth.challenge] [auth.metadata] [auth.jwt]', async () => {
  const desk = new Desk()

  const client = await signedIn(served.url, desk)

  // What the client asked for came from our challenge and our metadata.
  expect(desk.authorizationUrl?.origin).toBe(authorizationServer.issuer)
  expect(desk.authorizationUrl?.searchParams.get('resource')).toBe(served.url.href)
  expect(desk.authorizationUrl?.searchParams.get('scope')?.split(' ')).toContain('shop')
  const { structuredContent } = await client.callTool({ name: 'who', arguments: {} })
  expect(structuredContent).toMatchObject({ subject: 'ann', scopes: expect.arrayContaining(['shop']) })
  await client.close()
})

it('is stepped up: 403 names the scope, the user grants it, the call succeeds [auth.step-up]', async () => {
  const desk = new Desk()
  const client = await signedIn(served.url, desk)
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['who'])
  desk.authorizationUrl = undefined

  await expect(client.callTool({ name: 'refund', arguments: {} })).rejects.toThrow()

  const stepUp = desk.authorizationUrl as URL | undefined
  expect(stepUp?.searchParams.get('scope')?.split(' ')).toEqual(expect.arrayContaining(['refund']))
  await authorize(desk, transportFor(served.url, desk))
  const again = await connected(served.url, desk)
  expect(await again.callTool({ name: 'refund', arguments: {} })).toMatchObject({
    content: [{ text: 'refunded' }],
  })
  await Promise.all([client.close(), again.close()])
})

it('refreshes by itself once the token has expired [auth.challenge]', async () => {
  const desk = new Desk()
  authorizationServer.accessTokenSeconds = 1
  await authorize(desk, await turnedAway(served.url, desk))
  const expired = desk.stored?.access_token
  authorizationServer.accessTokenSeconds = 600
  await expect.poll(async () => (await discoverWith(served.url, expired)).status).toBe(401)
  desk.authorizationUrl = undefined

  const client = await connected(served.url, desk)

  expect(await client.callTool({ name: 'who', arguments: {} })).toMatchObject({
    structuredContent: { subject: 'ann' },
  })
  expect(desk.stored?.access_token).not.toBe(expired)
  expect(desk.authorizationUrl).toBeUndefined()
  await client.close()
})

it('a token that the same issuer made for another resource is refused [auth.jwt]', async () => {
  const desk = new Desk()
  await turnedAway(served.url, desk)
  const { client_id: clientId = '' } = (await desk.clientInformation()) ?? {}
  const other = 'http://127.0.0.1:9/other'
  const url = new URL(desk.authorizationUrl!)
  url.searchParams.set('resource', other)
  const callback = await signIn(url, REDIRECT_URL)
  const response = await fetch(`${authorizationServer.issuer}/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: callback.searchParams.get('code') ?? '',
      redirect_uri: REDIRECT_URL,
      client_id: clientId,
      code_verifier: desk.codeVerifier(),
      resource: other,
    }),
  })
  const { access_token: token } = (await response.json()) as { access_token: string }
  expect(token).toMatch(/^ey/)

  const refused = await discoverWith(served.url, token)

  expect(refused.status).toBe(401)
  expect(refused.headers.get('www-authenticate')).toContain('error="invalid_token"')
})

/** The names of fields, before anybody is authenticated: how many there are must not matter. */
import { describe, expect, it } from 'vitest'
import {
  authorizeUrl,
  connected,
  createWorld,
  LOOPBACK,
  leave,
  registered,
  signInAs,
  VERIFIER,
} from '../_sign-in.ts'
import { formPost } from './_names.ts'

describe('many names', () => {
  it('50 are read, and a name in an answer is cut', async () => {
    const world = createWorld()
    const { jar, callback } = await leave(world, { clientId: await registered(world) })
    const more = (count: number): string => Array.from({ length: count }, (_, at) => `&x${at}=y`).join('')
    expect((await world.get(callback() + more(49), jar.headers)).status).toBe(400)
    expect((await world.get(callback() + more(48), jar.headers)).status).toBe(303)
    const name = 'n'.repeat(30_000)
    const answer = await (await world.send(formPost('/oauth/token', `${name}=1&${name}=2`))).text()
    expect(answer.length).toBeLessThan(300)
  })
})

describe('RFC 6749 §3.1: an empty field is as if it were omitted', () => {
  const grant = { grant_type: 'authorization_code', redirect_uri: LOOPBACK, code_verifier: VERIFIER }

  it.each(['grant_type', 'client_secret', 'client_assertion', 'client_assertion_type'])(
    '%s, with a token to revoke → 200, and the connection ends',
    async (name) => {
      const world = createWorld({ cacheMs: 0 })
      const { clientId, tokens } = await connected(world)
      const fields = { [name]: '', token: tokens.refresh_token, client_id: clientId }
      expect((await world.form('/oauth/token', fields)).status).toBe(200)
      await expect(world.signIn.verify(tokens.access_token, world.context)).rejects.toBeDefined()
      expect(world.reports).toEqual([])
    },
  )

  it('any other → the same answer as without it', async () => {
    const world = createWorld()
    const clientId = await registered(world)
    const code = (await signInAs(world, { clientId })).searchParams.get('code')!
    const omitted = ['scope', 'client_secret', 'client_assertion', 'refresh_token', 'token', 'x']
    const empty = Object.fromEntries(omitted.map((name) => [name, '']))
    const fields = { ...grant, ...empty, code, client_id: clientId }
    expect((await world.form('/oauth/token', fields)).status).toBe(200)
    for (const name of ['grant_type', 'code', 'redirect_uri', 'code_verifier', 'client_id']) {
      const refused = await world.form('/oauth/token', { ...fields, [name]: '' })
      expect([400, 401], name).toContain(refused.status)
    }
    expect(world.reports).toEqual([])
    const url = await authorizeUrl({
      clientId,
      query: { state: '', prompt: '', scope: '', resource: undefined },
    })
    expect((await world.get(url)).status).toBe(303)
    expect(
      (await world.get(await authorizeUrl({ clientId, query: { consent: '', switch: '' } }))).status,
    ).toBe(303)
  })
})

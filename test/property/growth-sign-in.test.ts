/** Work in proportion, as growth.test.ts: whole requests to sign-in, which encrypt and sign, so they are measured apart. */
import { describe, expect, it } from 'vitest'
import { sharesOf } from '../../src/sign-in/clients/networks.ts'
import { secretOf } from '../_secrets.ts'
import { createWorld, ORIGIN } from '../unit/sign-in/_sign-in.ts'
import { growsInProportion, growthOf, MOST } from './_growth.ts'

growsInProportion({
  'a form of a token request': async (text) => {
    const world = createWorld()
    const grants = { code: 'authorization_code', refresh_token: 'refresh_token', assertion: 'none' }
    for (const [field, grant] of Object.entries(grants))
      await world.form('/oauth/token', {
        grant_type: grant,
        [field]: text,
        client_id: text,
        client_assertion: text,
      })
    await world.form('/oauth/token', { token: text }, { cookie: text.replaceAll(/[^\x21-\x7e]/g, ';') })
  },
  'a token request of a machine': async (text) => {
    const world = createWorld({ machines: { report: { scopes: [], secret: secretOf('s') } } })
    const fields = { grant_type: 'client_credentials', client_id: 'report' }
    await world.form('/oauth/token', { ...fields, client_secret: text })
    await world.form('/oauth/token', { ...fields, client_assertion: text })
    const proven = { ...fields, client_secret: secretOf('s') }
    await world.form('/oauth/token', { ...proven, scope: text, resource: text })
    await world.form('/oauth/token', { ...proven, scope: text })
    const authorization = `Basic ${btoa(`report:${text.replaceAll(/[^\x21-\x7e]/g, '+')}`)}`
    await world.form('/oauth/token', { grant_type: 'client_credentials' }, { authorization })
    await world.signIn.verify(text, world.context).catch(() => {})
  },
  'an address of a stranger': (text) => sharesOf(text),
  'cookies of flows': async (text) => {
    const parts = text.replaceAll(/[^\x21-\x7e]/g, 'x').match(/.{1,100}/g) ?? []
    const names = parts.map((part, at) => `__Host-mayfly-flow-${String(at).padStart(16, '0')}=${part}`)
    const cookie = `${names.join('; ')}; __Host-mayfly-flow-${text.replaceAll(/[^\x21-\x7e]/g, ';')}`
    await createWorld().get('/connections', { cookie })
  },
  'a registration': async (text) => {
    await createWorld().register({ client_name: text, redirect_uris: [`https://a.example/${text}`] })
    await createWorld().send(new Request(`${ORIGIN}/oauth/register`, { method: 'POST', body: text }))
  },
  'a request of a browser': async (text) => {
    const world = createWorld()
    const query = new URLSearchParams({ client_id: text, redirect_uri: text, state: text })
    for (const path of ['/oauth/authorize', '/oauth/callback', '/connections'])
      await world.get(`${path}?${query}`, { cookie: text.replaceAll(/[^\x21-\x7e]/g, ';') })
    await world.form('/oauth/authorize', { consent: text, csrf: text }, { origin: ORIGIN })
    await world.form('/connections', { connection: text, csrf: text }, { origin: ORIGIN })
  },
})

/** Apart, since no text above has them: parameters with different names. */
const names = (size: number): string =>
  Array.from({ length: size / 6 }, (_, at) => `${at.toString(36).padStart(4, 'a')}=&`).join('')

describe('parameters with different names', () => {
  const form = (path: string) => (text: string) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: ORIGIN }
    return createWorld().send(new Request(ORIGIN + path, { method: 'POST', headers, body: text }))
  }
  const query = (path: string) => (text: string) => createWorld().get(`${path}?${text}`)
  it.each([
    ['a form of a token request', form('/oauth/token')],
    ['a form of the question', form('/oauth/authorize')],
    ['a form of the page of connections', form('/connections')],
    ['a query of an authorization request', query('/oauth/authorize')],
    ['a query of a callback', query('/oauth/callback')],
    ['a query of the page of connections', query('/connections')],
  ])('%s: sixteen times as much takes at most 96 times as long', async (_what, read) => {
    expect(await growthOf(read, names)).toBeLessThanOrEqual(MOST)
  })
})

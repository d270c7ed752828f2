/** Work in proportion, as growth.test.ts: whole requests to sign-in, which encrypt and sign, so they are measured apart. */
import { sharesOf } from '../../src/sign-in/clients/networks.ts'
import { secretOf } from '../_secrets.ts'
import { createWorld, ORIGIN } from '../unit/sign-in/_sign-in.ts'
import { growsInProportion } from './_growth.ts'

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

/** What another website, another host of the domain or another person does to a browser. */
import { describe, expect, it } from 'vitest'
import {
  answer,
  arrive,
  authorizeUrl,
  connected,
  createWorld,
  decide,
  handleOf,
  Jar,
  leave,
  ORIGIN,
  registered,
  signInAs,
  type World,
} from '../_sign-in.ts'
import { createWholeServer } from './_whole-server.ts'

const FOREIGN: readonly { readonly [header: string]: string }[] = [
  { origin: 'https://evil.example' },
  { origin: 'https://evil.mcp.example.com' },
  { origin: 'https://mcp.example.com.evil.example' },
  { origin: 'https://mcp.example.com:8443' },
  { origin: 'http://mcp.example.com' },
  { origin: 'null' },
  { origin: '' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
]

describe('RFC 9700 §4.7: cross-site request forgery', () => {
  it.each(FOREIGN)(
    'the answer to the question from another website (%j) → 403, through the whole server',
    async (from) => {
      const { world } = createWholeServer()
      const { at, jar } = await arrive(world, { clientId: await registered(world) })
      const fields = { consent: handleOf(at), decision: 'approve' }
      expect((await world.form('/oauth/authorize', fields, { ...jar.headers, ...from })).status).toBe(403)
      expect((await decide(world, handleOf(at), jar)).headers.get('location')).toContain('?code=')
    },
  )

  it.each(FOREIGN)('a removal of a connection from another website (%j) → 403', async (from) => {
    const { world } = createWholeServer()
    const jar = new Jar()
    const { clientId, tokens } = await connected(world, { jar })
    const page = await (await world.get('/connections', jar.headers)).text()
    const form = /name="form" value="([^"]+)/.exec(page)![1]!
    for (const fields of [{ form, revoke: clientId }, { revoke: clientId }, { form, sign_out: '1' }]) {
      const response = await world.form('/connections', fields as never, { ...jar.headers, ...from })
      expect(response.status).toBe(403)
    }
    await world.signIn.verify(tokens.access_token, world.context)
  })

  it('a form of connections with the token of another session, or of none → 403', async () => {
    const world = createWorld()
    const [anna, mallory] = [new Jar(), new Jar()]
    const { clientId, tokens } = await connected(world, { jar: anna })
    await connected(world, { jar: mallory, person: 'mallory' })
    const page = await (await world.get('/connections', mallory.headers)).text()
    const form = /name="form" value="([^"]+)/.exec(page)![1]!
    for (const given of [form, '', 'x', form.slice(1)]) {
      const headers = { ...anna.headers, origin: ORIGIN }
      expect((await world.form('/connections', { form: given, revoke: clientId }, headers)).status).toBe(403)
    }
    await world.signIn.verify(tokens.access_token, world.context)
  })

  it('nothing is changed by GET', async () => {
    const world = createWorld()
    const jar = new Jar()
    const { clientId, tokens } = await connected(world, { jar })
    const page = await (await world.get('/connections', jar.headers)).text()
    const form = /name="form" value="([^"]+)/.exec(page)![1]!
    const query = new URLSearchParams({ form, revoke: clientId, sign_out: '1' })
    expect((await world.get(`/connections?${query}`, jar.headers)).headers.getSetCookie()).toEqual([])
    for (const path of ['/oauth/token', '/oauth/register'])
      expect((await world.get(`${path}?token=${tokens.refresh_token}&client_id=${clientId}`)).status).toBe(
        405,
      )
    await world.signIn.verify(tokens.access_token, world.context)
  })
})

describe('RFC 9700 §4.7: login CSRF, a victim ends what an attacker began', () => {
  it('the way back from the provider with the attacker’s state and code → 400 in the victim’s browser', async () => {
    const world = createWorld()
    const attacker = await leave(world, { clientId: await registered(world), person: 'mallory' })
    const victim = await leave(world, { clientId: await registered(world) })
    for (const headers of [{}, victim.jar.headers, new Jar().headers])
      expect((await world.get(attacker.callback(), headers)).status).toBe(400)
    // The victim’s own state with the attacker’s code: the verifier is the victim’s (the provider refuses).
    expect(world.upstream.exchanged).toEqual([])
  })

  it('the attacker’s question, and the link “Not you?” of it → 400 in the victim’s browser', async () => {
    const world = createWorld()
    const jar = new Jar()
    const clientId = await registered(world)
    await signInAs(world, { clientId, jar, person: 'mallory' })
    const { at } = await arrive(world, { clientId, jar })
    const victim = new Jar()
    await signInAs(world, { clientId, jar: victim })
    for (const kind of ['consent', 'switch'])
      expect((await world.get(`/oauth/authorize?${kind}=${handleOf(at)}`, victim.headers)).status).toBe(400)
    expect((await decide(world, handleOf(at), victim)).status).toBe(400)
  })

  it('the page of connections is of who the provider says it is', async () => {
    const world = createWorld()
    const away = await world.get('/connections')
    const state = new URL(away.headers.get('location')!).searchParams.get('state')!
    const query = new URLSearchParams({ state, code: 'mallory' })
    const victim = new Jar()
    victim.take(await world.get('/connections'))
    const response = await world.get(`/oauth/callback?${query}`, victim.headers)
    expect([response.status, response.headers.getSetCookie()]).toEqual([400, []])
  })

  it('the state of the client comes back unchanged, with the issuer', async () => {
    const world = createWorld()
    for (const state of ['a b&c=d#e', 'x'.repeat(2000), '😀', 'https://evil.example']) {
      const url = await signInAs(world, { clientId: await registered(world), query: { state } })
      expect([url.searchParams.get('state'), url.searchParams.get('iss')]).toEqual([state, ORIGIN])
    }
  })
})

/** Each cookie of the browser, replaced. */
const tossed = (jar: Jar, toss: (name: string, value: string) => string) => ({
  cookie: [...jar.cookies].map(([name, value]) => toss(name, value)).join('; '),
})

describe('RFC 9700 §4.7: cookie tossing, another host of the domain sets cookies of ours', () => {
  const OTHER = 'A'.repeat(43)
  const TOSSES: readonly [string, (name: string, value: string) => string][] = [
    ['the name without its prefix', (name, value) => `${name.replace('__Host-', '')}=${value}`],
    ['another prefix', (name, value) => `${name.replace('__Host-', '__Secure-')}=${value}`],
    ['the prefix in lower case', (name, value) => `${name.replace('__Host-', '__host-')}=${value}`],
    ['a second one after it', (name, value) => `${name}=${value}; ${name}=${OTHER}`],
    ['a second one before it', (name, value) => `${name}=${OTHER}; ${name}=${value}`],
    ['itself twice', (name, value) => `${name}=${value}; ${name}=${value}`],
    ['another value', (name) => `${name}=${OTHER}`],
    ['quotes', (name, value) => `${name}="${value}"`],
    ['a value that is longer', (name, value) => `${name}=${value}x`],
    ['no value', (name) => `${name}=`],
    ['no equals sign', (name) => name],
  ]

  it.each(TOSSES)('%s → nobody is signed in, and no step goes on', async (_what, toss) => {
    const world = createWorld()
    const clientId = await registered(world)
    const { at, jar } = await arrive(world, { clientId })
    const headers = { ...tossed(jar, toss), origin: ORIGIN }
    const fields = { consent: handleOf(at), decision: 'approve' }
    expect((await world.get(at.headers.get('location')!, headers)).status).toBe(400)
    expect((await world.form('/oauth/authorize', fields, headers)).status).toBe(400)
    const left = await leave(world, { clientId })
    expect((await world.get(left.callback(), tossed(left.jar, toss))).status).toBe(400)
    const signedIn = new Jar()
    await signInAs(world, { clientId, jar: signedIn })
    expect((await world.get('/connections', tossed(signedIn, toss))).status).toBe(303)
    expect(world.upstream.exchanged).toHaveLength(1)
  })

  it('cookies of another person’s steps are worth nothing for one’s own', async () => {
    const world = createWorld()
    const clientId = await registered(world)
    const [anna, mallory] = [await leave(world, { clientId }), await leave(world, { clientId })]
    const [name] = [...anna.jar.cookies].find(([one]) => one.includes('flow'))!
    const [, value] = [...mallory.jar.cookies].find(([one]) => one.includes('flow'))!
    expect((await world.get(anna.callback(), { cookie: `${name}=${value}` })).status).toBe(400)
    expect((await world.get(anna.callback(), anna.jar.headers)).status).toBe(303)
  })

  it('a session moved to another name is none', async () => {
    const world = createWorld()
    const jar = new Jar()
    const { at } = await arrive(world, { clientId: await registered(world), jar })
    await signInAs(world, { clientId: await registered(world), jar })
    const person = [...jar.cookies].find(([name]) => name.includes('person'))![1]
    const moved = tossed(jar, (name, value) => `${name}=${name.includes('flow') ? person : value}`)
    expect((await world.get(at.headers.get('location')!, moved)).status).toBe(400)
  })
})

describe('MCP session hijacking: what a handle is worth without its browser', () => {
  it('handles are long, random and never the same', async () => {
    const world = createWorld()
    const clientId = await registered(world)
    const handles = new Set<string>()
    for (let count = 0; count < 20; count++) {
      const { at, jar } = await arrive(world, { clientId })
      handles.add(handleOf(at))
      const away = await answer(world, handleOf(at), jar)
      handles.add(new URL(away.headers.get('location')!).searchParams.get('state')!)
    }
    expect(handles.size).toBe(40)
    for (const handle of handles) expect(handle).toMatch(/^[\w-]{43}$/)
  })

  it('the store does not have them', async () => {
    const world: World = createWorld()
    const { at, jar } = await arrive(world, { clientId: await registered(world) })
    const { keys } = await world.store.list({ prefix: '', limit: 1000 })
    const texts = await Promise.all(keys.map(async (key) => key + (await world.store.read(key))?.value))
    const secrets = [handleOf(at), ...jar.cookies.values()]
    for (const secret of secrets) expect(texts.join('\n')).not.toContain(secret)
  })
})

it('a client that says who it wants (login_hint, id_token_hint, max_age) chooses nobody', async () => {
  const world = createWorld()
  const clientId = await registered(world)
  const query = { login_hint: 'mallory', id_token_hint: 'x', max_age: '0', acr_values: 'x', user: 'mallory' }
  const response = await world.get(await authorizeUrl({ clientId, query }))
  expect(response.headers.get('location')).toContain('?consent=')
})

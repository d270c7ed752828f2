/** After "Sign out", and "Not you?", every copy of the cookie is as good as none, on every path, as long as a browser may send it. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { readModules } from '../../architecture/_modules.ts'
import {
  answer,
  arrive,
  authorizeUrl,
  createWorld,
  decide,
  exchange,
  handleOf,
  Jar,
  ORIGIN,
  registered,
  signInAs,
  type World,
} from './_sign-in.ts'

afterEach(() => {
  vi.useRealTimers()
})

const WEB = 'https://client.example/cb'
const HOUR = 3_600_000
const DAY = 24 * HOUR

/** A browser whose person let a client in. `copy`: its cookie, as a thief has it. */
async function signedIn(world: World) {
  const clientId = await registered(world, { redirect_uris: [WEB] })
  const jar = new Jar()
  const visit = { clientId, redirectUri: WEB, jar }
  const code = (await signInAs(world, visit)).searchParams.get('code') ?? ''
  // A client that was used is known for longer.
  expect((await exchange(world, code, clientId, { redirect_uri: WEB })).status).toBe(200)
  return { jar, copy: { ...jar.headers }, visit, url: await authorizeUrl(visit) }
}

async function signOut(world: World, jar: Jar): Promise<void> {
  const page = await (await world.get('/connections', jar.headers)).text()
  const form = /name="?form"? value="?([^"> ]+)/.exec(page)?.[1] ?? ''
  const response = await world.form(
    '/connections',
    { form, sign_out: '1' },
    { ...jar.headers, origin: ORIGIN },
  )
  expect(jar.take(response).status).toBe(200)
}

/** Where a browser is sent, without what is random. */
async function placeOf(response: Promise<Response>): Promise<string> {
  const { status, headers } = await response
  const place = (headers.get('location') ?? '').replaceAll(/=[\w-]{43}/g, '=…')
  return `${status} ${place.split('&')[0]}`
}

describe('a question that is open in another tab', () => {
  // Who comes next to a shared computer would let in an app of their own as the one who signed out.
  it.each([
    ['before the provider', undefined],
    ['about a person whom the provider named', 'bert'],
  ])('%s → after “Sign out” nobody answers it', async (_name, person) => {
    const world = createWorld()
    const { jar, visit } = await signedIn(world)
    const clientId = await registered(world, { redirect_uris: [WEB] })
    const { at } = await arrive(world, { ...visit, clientId })
    const open = person === undefined ? at : await decide(world, handleOf(at), jar, 'approve', person)
    const handle = handleOf(open)
    expect((await world.get(`/oauth/authorize?consent=${handle}`, jar.headers)).status).toBe(200)
    await signOut(world, jar)
    expect((await world.get(`/oauth/authorize?consent=${handle}`, jar.headers)).status).toBe(400)
    expect((await answer(world, handle, jar)).status).toBe(400)
  })
})

describe('a cookie that was signed out', () => {
  it('a client that was let in → the question, though a copy of the cookie is sent', async () => {
    const world = createWorld()
    const { jar, copy, url } = await signedIn(world)
    expect(await placeOf(world.get(url, copy))).toContain('https://upstream.example/')
    await signOut(world, jar)
    expect(await placeOf(world.get(url, copy))).toBe(`303 ${ORIGIN}/oauth/authorize?consent=…`)
  })

  it.each([0, 2 * HOUR, 89 * DAY])('is as good as none on every path, %d ms later', async (laterMs) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const world = createWorld()
    const { jar, copy, url } = await signedIn(world)
    await signOut(world, jar)
    vi.setSystemTime(Date.now() + laterMs)
    // Used since then by its person.
    await signInAs(world, { clientId: await registered(world), jar: new Jar() })
    for (const path of ['/connections', url, `${url}&prompt=login`, `${url}&prompt=none`])
      expect([path, await placeOf(world.get(path, copy))]).toEqual([path, await placeOf(world.get(path))])
    const fields = { form: 'x', revoke: 'x' }
    expect((await world.form('/connections', fields, { ...copy, origin: ORIGIN })).status).toBe(403)
    const question = await world.get(url, copy)
    expect(question.headers.get('location')).toContain('?consent=')
  })

  it('“Not you?” ends it, too, also when only its last person is remembered', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    for (const laterMs of [0, 2 * HOUR]) {
      const world = createWorld()
      const { jar, copy, url } = await signedIn(world)
      vi.setSystemTime(Date.now() + laterMs)
      const other = { clientId: await registered(world, { redirect_uris: [WEB] }), redirectUri: WEB, jar }
      const { at } = await arrive(world, other)
      jar.take(await world.get(`/oauth/authorize?switch=${handleOf(at)}`, jar.headers))
      expect(await placeOf(world.get(url, copy))).toBe(`303 ${ORIGIN}/oauth/authorize?consent=…`)
    }
  })

  it('another instance knows it, too', async () => {
    const world = createWorld()
    const other = createWorld({ store: world.store, upstream: world.upstream })
    const { jar, copy, url } = await signedIn(world)
    await signOut(world, jar)
    expect(await placeOf(other.get(url, copy))).toContain('?consent=')
  })

  it('the cookie is opened in one place', () => {
    const readers = readModules('src/sign-in').filter(({ source }) =>
      /\bCOOKIE\b|session:\$/.test(source.text),
    )
    expect(readers.map(({ file }) => file)).toEqual(['src/sign-in/browser/session.ts'])
    expect(readers[0]!.source.text.match(/keys\.open\(/g)).toHaveLength(1)
    expect(readers[0]!.source.text.match(/store\.read\(endedKey/g)).toHaveLength(1)
  })
})

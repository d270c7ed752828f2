/** Between the question and the code, a client may change: what the person was shown counts, and nothing is sent elsewhere. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMemoryGrants } from '../../../src/sign-in/store/memory.ts'
import {
  answer,
  arrive,
  authorizeUrl,
  createWorld,
  exchange,
  handleOf,
  Jar,
  ORIGIN,
  registered,
  throughUpstream,
  type Visit,
  type World,
} from './_sign-in.ts'

afterEach(() => {
  vi.useRealTimers()
})

const ID = 'https://app.example.com/client.json'
const WEB = 'https://app.example.com/cb'
const HERE = 'http://127.0.0.1:5555/cb'
const MINUTE = 60_000

interface Published {
  /** Undefined: 404. */
  document: object | undefined
}

function publishing(redirectUri = WEB) {
  vi.useFakeTimers({ toFake: ['Date'] })
  const published: Published = {
    document: { client_id: ID, client_name: 'Notes app', redirect_uris: [redirectUri, `${redirectUri}2`] },
  }
  const fetch = async (): Promise<Response> =>
    published.document === undefined
      ? new Response('gone', { status: 404 })
      : Response.json(published.document, { headers: { 'cache-control': 'max-age=0' } })
  const world = createWorld({ fetch, store: createMemoryGrants() })
  /** Known to the server at once: it asks after 5 minutes. */
  const change = (members: object | undefined): void => {
    published.document = members && { ...published.document, ...members }
    vi.setSystemTime(Date.now() + 5 * MINUTE + 1)
  }
  const visit: Visit = { clientId: ID, redirectUri, jar: new Jar() }
  return { world, change, visit }
}

async function connections(world: World, jar: Jar): Promise<string> {
  return (await world.get('/connections', jar.headers)).text()
}

/** What a client has tokens for. */
async function take(world: World, response: Response): Promise<void> {
  const code = new URL(response.headers.get('location') ?? '').searchParams.get('code') ?? ''
  expect((await exchange(world, code, ID, { redirect_uri: WEB })).status).toBe(200)
}

/** What the client was given. */
async function grantsOf({ store }: World): Promise<readonly string[]> {
  const { keys } = await store.list({ prefix: '', limit: 1000 })
  const entries = await Promise.all(keys.map((key) => store.read(key)))
  return keys.filter((key, at) => /:(?:grant|consent):/.test(key) && entries[at]!.value.includes(ID))
}

/** The moments at which it changes, and what the browser gets in the end. `decision`: of the last question. */
const MOMENTS: {
  readonly [moment: string]: (
    of: ReturnType<typeof publishing>,
    members: object | undefined,
    decision?: string,
  ) => Promise<Response>
} = {
  async 'before the answer'({ world, change, visit }, members, decision = 'approve') {
    const { at, jar } = await arrive(world, visit)
    await world.get(at.headers.get('location')!, jar.headers)
    change(members)
    return throughUpstream(world, await answer(world, handleOf(at), jar, decision), jar)
  },
  async 'while the browser is at the provider'({ world, change, visit }, members, decision = 'approve') {
    const { at, jar } = await arrive(world, visit)
    const away = await answer(world, handleOf(at), jar)
    change(members)
    const state = new URL(away.headers.get('location')!).searchParams.get('state')!
    const said = decision === 'approve' ? { code: 'anna' } : { error: 'access_denied' }
    return jar.take(
      await world.get(`/oauth/callback?${new URLSearchParams({ state, ...said })}`, jar.headers),
    )
  },
  async 'before the second answer, about somebody else'({ world, change, visit }, members, decision) {
    const jar = visit.jar!
    const known = { clientId: await registered(world), jar }
    const first = await arrive(world, known)
    await throughUpstream(world, await answer(world, handleOf(first.at), jar), jar)
    const { at } = await arrive(world, visit)
    const second = await throughUpstream(world, await answer(world, handleOf(at), jar), jar, 'bert')
    expect(second.headers.get('location')).toContain('?consent=')
    change(members)
    return answer(world, handleOf(second), jar, decision)
  },
}

const GONE = { redirect_uris: [`${WEB}2`] }
const CHANGES: { readonly [change: string]: object | undefined } = {
  'the redirect URI is gone': GONE,
  'another response type': { response_types: ['token'] },
  'no grant for people': { grant_types: ['refresh_token'] },
  'a document without keys': { token_endpoint_auth_method: 'private_key_jwt' },
  'another id': { client_id: `${ID}2` },
  'no document': undefined,
}

describe.each(Object.keys(MOMENTS))('a document that changes %s', (moment) => {
  const come = MOMENTS[moment]!

  it('another name → the name that the person was shown is recorded', async () => {
    const of = publishing()
    const back = await come(of, { client_name: 'Evil app' })
    expect(back.headers.get('location')).toMatch(/^https:\/\/app\.example\.com\/cb\?code=/)
    await take(of.world, back)
    const page = await connections(of.world, of.visit.jar!)
    expect([page.includes('Notes app'), page.includes('Evil app')]).toEqual([true, false])
  })

  it('without the redirect URI → a page that says so, and nothing is sent or stored', async () => {
    const of = publishing()
    const back = await come(of, GONE)
    const page = await back.text()
    expect([back.status, back.headers.get('location')]).toEqual([400, null])
    expect(page).toContain('the app of app.example.com has changed: it returns to another address now')
    expect(page).toContain('Nothing was sent to it')
    expect(page).not.toContain(WEB)
    expect(await grantsOf(of.world)).toEqual([])
  })

  it.each(Object.keys(CHANGES))('%s → never a code, nor a server that seems to be down', async (change) => {
    for (const decision of ['approve', 'deny']) {
      const of = publishing()
      const back = await come(of, CHANGES[change], decision)
      const isError = change !== 'another response type' || decision === 'approve'
      const location = back.headers.get('location') ?? ''
      expect([change, decision, location.includes('code=')]).toEqual([change, decision, false])
      if (isError) expect([back.status, location]).toEqual([expect.toSatisfy((is) => is < 500), ''])
      expect(await grantsOf(of.world)).toEqual([])
    }
  })

  it('without the redirect URI of an app on the computer → it is not told either', async () => {
    for (const decision of ['approve', 'deny']) {
      const of = publishing(HERE)
      const back = await come(of, { redirect_uris: [`${HERE}2`] }, decision)
      expect(back.headers.get('location')).toBeNull()
      expect(await back.text()).not.toContain(HERE)
    }
  })
})

describe('a client that was let in before', () => {
  it('asks again under another name, and goes on under the same one', async () => {
    const { world, change, visit } = publishing()
    const jar = visit.jar!
    const { at } = await arrive(world, visit)
    await throughUpstream(world, await answer(world, handleOf(at), jar), jar)
    const url = await authorizeUrl(visit)
    change({})
    expect((await world.get(url, jar.headers)).headers.get('location')).toContain('https://upstream.example/')
    change({ client_name: 'Bank of Anna' })
    expect((await world.get(url, jar.headers)).headers.get('location')).toContain(
      `${ORIGIN}/oauth/authorize?consent=`,
    )
  })

  it('that changes its name while the browser is at the provider → the question', async () => {
    const { world, change, visit } = publishing()
    const jar = visit.jar!
    const { at } = await arrive(world, visit)
    await throughUpstream(world, await answer(world, handleOf(at), jar), jar)
    const away = await world.get(await authorizeUrl(visit), jar.headers)
    jar.take(away)
    change({ client_name: 'Bank of Anna' })
    const back = await throughUpstream(world, away, jar)
    expect(back.headers.get('location')).toContain(`${ORIGIN}/oauth/authorize?consent=`)
    const page = await (await world.get(back.headers.get('location')!, jar.headers)).text()
    expect(page).toContain('Bank of Anna')
  })

  it('with two names → the page of connections shows the one of the newest connection', async () => {
    const { world, change, visit } = publishing()
    const jar = visit.jar!
    for (const name of ['First name', 'Second name', 'Third name']) {
      change({ client_name: name })
      const { at } = await arrive(world, visit)
      await take(world, await throughUpstream(world, await answer(world, handleOf(at), jar), jar))
    }
    const page = await connections(world, jar)
    expect(new Set(page.match(/(?:First|Second|Third) name/g))).toEqual(new Set(['Third name']))
  })
})

it('a registered client that is forgotten meanwhile → a page that says so', async () => {
  const world = createWorld()
  const clientId = await registered(world, { redirect_uris: [WEB] })
  const { at, jar } = await arrive(world, { clientId, redirectUri: WEB })
  const { keys } = await world.store.list({ prefix: '', limit: 100 })
  await world.store.commit('v', [{ key: keys.find((key) => key.includes(':client:'))! }])
  const back = await answer(world, handleOf(at), jar)
  expect([back.status, back.headers.get('location')]).toEqual([400, null])
  expect(await back.text()).toContain('the app has changed: it is not known to this server any more')
})

/** The example, as its comment promises: with the stand-in, on loopback, and with notes for each person. */
import { expect, it } from 'vitest'
import server from '../../../examples/sign-in/server.ts'
import { callTool } from '../_client.ts'
import { answer, authorizeUrl, exchange, handleOf, Jar, LOOPBACK, type World } from './_sign-in.ts'

const ORIGIN = 'http://127.0.0.1:3000'
const RESOURCE = `${ORIGIN}/mcp`
/** As `mayfly dev` sets them. */
const ENV = { MAYFLY_DEV: '1', MAYFLY_ALLOWED_HOSTS: '127.0.0.1' }

const get = (path: string, headers: HeadersInit = {}): Promise<Response> =>
  server.handle(new Request(new URL(path, ORIGIN), { headers }), { env: ENV })
const post = (path: string, body: BodyInit, headers: HeadersInit = {}): Promise<Response> =>
  server.handle(new Request(ORIGIN + path, { method: 'POST', body, headers }), { env: ENV })
/** What the helpers need of a world. */
const world = {
  context: { resource: RESOURCE },
  form: (path: string, fields: Record<string, string>, headers: HeadersInit = {}) =>
    post(path, new URLSearchParams(fields), headers),
} as World

/** From the registration of a client to the access token of a person with this name. */
async function signedIn(name: string, scope: string): Promise<string> {
  const registration = { redirect_uris: [LOOPBACK], token_endpoint_auth_method: 'none' }
  const json = { 'content-type': 'application/json' }
  const registered = await post('/oauth/register', JSON.stringify(registration), json)
  const { client_id: clientId } = (await registered.json()) as { client_id: string }
  const jar = new Jar()
  const asked = jar.take(await get(await authorizeUrl({ clientId, query: { resource: RESOURCE, scope } })))
  const away = await answer(world, handleOf(asked), jar)
  const asking = await get(away.headers.get('location')!, jar.headers)
  const html = await asking.text()
  expect(html).toContain('Who are you?')
  const fields = Array.from(
    html.matchAll(/<input type=hidden name="(\w+)" value="([^"]*)">/g),
    ([, field, value]) => [field!, value!] as const,
  )
  const person = { name, email: `${name.toLowerCase()}@example.com` }
  const who = new URLSearchParams({ ...Object.fromEntries(fields), ...person })
  const back = jar.take(await get(`/oauth/callback?${who}`, jar.headers))
  const code = new URL(back.headers.get('location')!).searchParams.get('code')!
  const exchanged = await exchange(world, code, clientId, { resource: RESOURCE })
  return ((await exchanged.json()) as { access_token: string }).access_token
}

const call = (token: string, tool: string, args: object = {}) =>
  callTool(server, tool, args, {
    url: RESOURCE,
    platform: { env: ENV },
    headers: { authorization: `Bearer ${token}` },
  })

it('two people sign in, and each has notes of their own', async () => {
  const ann = await signedIn('Ann', 'notes:read notes:write')
  const bob = await signedIn('Bob', 'notes:read notes:write')
  await call(ann, 'add_note', { text: 'Buy milk' })

  const notesOf = async (token: string) => (await call(token, 'read_notes')).result?.structuredContent
  expect(await notesOf(ann)).toEqual({ notes: ['Buy milk'] })
  expect(await notesOf(bob)).toEqual({ notes: [] })
  const who = (await call(bob, 'whoami')).result?.structuredContent
  expect(who).toMatchObject({ name: 'Bob', email: 'bob@example.com' })
})

it('who agreed to reading alone does not write: 403 with the scope', async () => {
  const ann = await signedIn('Ann', 'notes:read')
  const { status, headers } = await call(ann, 'add_note', { text: 'Buy milk' })
  expect([status, headers.get('www-authenticate')]).toEqual([403, expect.stringContaining('notes:write')])
})

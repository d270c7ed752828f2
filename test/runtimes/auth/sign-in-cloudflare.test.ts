/** People who sign in and machines with API keys, on one server on workerd: who may use what, and who is asked for what. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { cloudflare } from '../../../deploy/targets/cloudflare/target.ts'
import { MayflyProcess, Project, stopAll } from '../../cli/_dev-process.ts'
import { modernRequest } from '../../contract/wire.ts'
import { authorize, connected, Desk, discoverWith, signedIn, transportFor } from './_desk.ts'
import { type ServedSignIn, serveSignIn } from './_sign-in-served.ts'

const ENTRY = fileURLToPath(new URL('sign-in-worker.ts', import.meta.url))
const WRANGLER = `name = "shop"
main = "server.ts"
compatibility_date = "2026-06-01"
kv_namespaces = [{ binding = "KEYS", id = "keys" }]
durable_objects.bindings = [{ name = "GRANTS", class_name = "MayflyGrants" }]
migrations = [{ tag = "mayfly-grants-1", new_sqlite_classes = ["MayflyGrants"] }]
`

let project: Project
let served: ServedSignIn
const made: { [scopes: string]: string } = {}
beforeAll(async () => {
  project = new Project()
  project.write('wrangler.toml', WRANGLER)
  project.write('server.ts', `export { default, MayflyGrants } from ${JSON.stringify(ENTRY)}\n`)
  // Before the Worker starts, since both write to the same files.
  for (const scopes of ['shop', 'shop,refund', 'refund']) {
    const key = await keys('create', `with ${scopes}`, '--server', 'shop', '--scopes', scopes)
    made[scopes] = key.stdout.trim()
  }
  served = await serveSignIn('server.ts', {
    cwd: project.folder,
    target: (env) => ({
      ...cloudflare,
      preview: (outDir, options) => {
        const launch = cloudflare.preview(outDir, options)
        const vars = Object.entries(env).flatMap(([name, value]) => ['--var', `${name}:${value}`])
        const state = ['--persist-to', join(project.folder, '.wrangler/state')]
        return { ...launch, args: [...launch.args, ...vars, ...state] }
      },
    }),
  })
})
afterAll(async () => {
  await served?.stop()
  await stopAll()
  await project?.[Symbol.asyncDispose]()
})

async function keys(...args: readonly string[]): Promise<{ readonly stdout: string }> {
  const command = ['keys', ...args, '--kv', 'KEYS', '--local']
  const env = { CI: '1', HOME: project.folder }
  const output = await new MayflyProcess(command, project.folder, undefined, env).exited
  expect(output).toMatchObject({ code: 0 })
  return output
}

const callWith = (token: string | undefined, name: string): Promise<Response> => {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return fetch(modernRequest(served.url, 'tools/call', { name, arguments: {} }, { headers }))
}

it('a person signs in, calls, refreshes by itself, and grants more where a tool needs it [auth.step-up]', async () => {
  const desk = new Desk()
  const client = await signedIn(served.url, desk)
  const call = { name: 'who', arguments: {} }
  const ada = { caller: 'Ada Lovelace', realm: 'sign-in', scopes: ['shop'] }
  expect(await client.callTool(call)).toMatchObject({ structuredContent: ada })
  const { access_token: token, refresh_token: refresh } = desk.stored!
  const body = new URLSearchParams({
    token,
    client_id: desk.authorizationUrl?.searchParams.get('client_id') ?? '',
  })
  await fetch(new URL('/oauth/token', served.url), { method: 'POST', body })
  expect((await discoverWith(served.url, token)).status).toBe(401)
  expect(await client.callTool(call)).toMatchObject({ structuredContent: ada })
  expect(desk.stored?.refresh_token).not.toBe(refresh)

  await expect(client.callTool({ name: 'refund', arguments: {} })).rejects.toThrow()
  expect(desk.authorizationUrl?.searchParams.get('scope')?.split(' ').sort()).toEqual(['refund', 'shop'])
  await authorize(desk, transportFor(served.url, desk))
  const again = await connected(served.url, desk)
  expect(await again.callTool({ name: 'refund', arguments: {} })).toMatchObject({
    content: [{ text: 'refunded' }],
  })
  await Promise.all([client.close(), again.close()])
})

it('a machine’s key has its own scopes: what it lacks is 403, also what every call needs', async () => {
  const who = await callWith(made.shop, 'who')
  expect(await who.json()).toMatchObject({
    result: { structuredContent: { caller: 'with shop', realm: 'api-keys', scopes: ['shop'] } },
  })
  const statuses = async (scopes: string) => {
    const [shown, refunded] = [await callWith(made[scopes], 'who'), await callWith(made[scopes], 'refund')]
    return [shown.status, refunded.status]
  }
  expect(await statuses('shop')).toEqual([200, 403])
  expect(await statuses('shop,refund')).toEqual([200, 200])
  expect(await statuses('refund')).toEqual([403, 403])
})

it.each([
  ['none', undefined],
  ['one of no kind', 'garbage'],
  ['a key that is nobody’s', `mk_${'0'.repeat(12)}_${'0'.repeat(36)}`],
  ['an access token that is nobody’s', `${'a'.repeat(32)}:${'b'.repeat(16)}:${'c'.repeat(32)}`],
])('a token: %s → 401, with the way to the sign-in', async (_kind, token) => {
  const { status, headers } = await callWith(token, 'who')
  const challenge = headers.get('www-authenticate')
  expect(status).toBe(401)
  expect(challenge).toContain('/.well-known/oauth-protected-resource/mcp"')
  expect(challenge).toContain('scope="shop"')
  if (token !== undefined) expect(challenge).toContain('error="invalid_token"')
})

it('the metadata names this server as the only authorization server, and the scopes of people', async () => {
  const { origin } = served.url
  const response = await fetch(`${origin}/.well-known/oauth-protected-resource/mcp`)
  expect(await response.json()).toMatchObject({
    resource: served.url.href,
    authorization_servers: [origin],
    scopes_supported: ['shop'],
  })
})

/** `mayfly check` and `mayfly keys` with servers that people sign in to. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLIENTS } from '../../../deploy/check/clients/all.ts'
import { runCheck } from '../../cli/_check-command.ts'
import { MayflyProcess, type Output, stopAll } from '../../cli/_dev-process.ts'
import { legacyRequest, modernRequest } from '../../contract/wire.ts'
import { Desk, signedIn } from './_desk.ts'
import { type ServedSignIn, serveSignIn } from './_sign-in-served.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const KEYS_ENTRY = 'test/runtimes/auth/sign-in-keys-fixture.ts'

interface Verdict {
  readonly id: string
  readonly verdict: string
  readonly detail: string
}

interface Walk {
  readonly client: string
  readonly steps: readonly Verdict[]
  readonly wouldConnect: boolean | null
}

const isFinding = ({ verdict }: Verdict): boolean => verdict !== 'works' && verdict !== 'skipped'

describe.each(['test/runtimes/auth/sign-in-fixture.ts', KEYS_ENTRY])('mayfly check and %s', (entry) => {
  let served: ServedSignIn
  let token: string
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-sign-in-'))
  const check = async (...args: readonly string[]): Promise<unknown> => {
    const { code, stdout } = await runCheck([served.url.href, '--json', ...args], { TOKEN: token })
    expect(code).toBe(0)
    return JSON.parse(stdout)
  }
  beforeAll(async () => {
    served = await serveSignIn(entry, { env: { KEY_FILE: join(folder, 'keys.json') } })
    const desk = new Desk()
    await (await signedIn(served.url, desk)).close()
    token = desk.stored!.access_token
  })
  afterAll(async () => {
    await served?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('without a token: no finding, as itself and as every client', async () => {
    const { results } = (await check()) as { readonly results: readonly Verdict[] }
    const { clients } = (await check('--as', 'all')) as { readonly clients: readonly Walk[] }

    expect(results.filter(isFinding)).toEqual([])
    expect(results.find(({ id }) => id === 'authorization.servers')).toMatchObject({ verdict: 'works' })
    expect(clients.map(({ client }) => client)).toEqual(CLIENTS.map(({ id }) => id))
    expect(clients.flatMap(({ steps }) => steps).filter(isFinding)).toEqual([])
    // What has to do with the sign-in was tried, and not left out.
    for (const { steps } of clients)
      for (const step of ['first-request', 'resource', 'issuer', 'registration'])
        expect(steps.find(({ id }) => id.endsWith(`.${step}`))).toMatchObject({ verdict: 'works' })
  })

  it('with the token of somebody who has signed in: no finding, and the clients would connect', async () => {
    const given = ['--bearer-env', 'TOKEN']
    const { results } = (await check(...given)) as { readonly results: readonly Verdict[] }
    const { clients } = (await check('--as', 'all', ...given)) as { readonly clients: readonly Walk[] }

    expect(results.filter(isFinding)).toEqual([])
    expect(clients.flatMap(({ steps }) => steps).filter(isFinding)).toEqual([])
    const would = Object.fromEntries(clients.map(({ client, wouldConnect }) => [client, wouldConnect]))
    // The first two use no local server, which is not known to be wrong.
    expect(would).toEqual({ claude: null, chatgpt: null, vscode: true, cursor: true })
  })

  it('every client can register as it is known to do', async () => {
    for (const { id, steps } of CLIENTS) {
      const step = steps.find(({ does }) => does === 'register')
      if (step?.does !== 'register') throw new Error(`${id} does not register.`)
      const response = await fetch(new URL('/oauth/register', served.url), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ client_name: id, response_types: ['code'], ...step.request }),
      })
      const answer: unknown = await response.json()

      expect(response.status).toBe(201)
      const { application_type: _ignored, ...kept } = step.request
      expect(answer).toMatchObject(kept)
    }
  })
})

describe('mayfly keys, of a server that people sign in to', () => {
  let served: ServedSignIn
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-sign-in-'))
  const env = { KEY_FILE: join(folder, 'keys.json') }
  const keys = (...args: readonly string[]): Promise<Output> =>
    new MayflyProcess(['keys', ...args, KEYS_ENTRY], ROOT, undefined, env).exited
  beforeAll(async () => {
    served = await serveSignIn(KEYS_ENTRY, { env })
  })
  afterAll(async () => {
    await stopAll()
    await served?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('make one that a machine calls with, list it, and revoke it; people are not affected', async () => {
    const created = await keys('create', 'ci', '--scopes', 'shop')
    expect(created).toMatchObject({ code: 0 })
    const headers = { authorization: `Bearer ${created.stdout.trim()}` }
    const call = (name: string): Promise<Response> =>
      fetch(modernRequest(served.url, 'tools/call', { name, arguments: {} }, { headers }))

    expect(await (await call('who')).text()).toContain('"caller":"ci","realm":"api-keys","scopes":["shop"]')
    // Its own scopes hold, and nobody is asked to sign in for more.
    const refused = await call('refund')
    expect(refused.status).toBe(403)
    expect((await keys('list')).stdout).toContain('ci')

    const client = await signedIn(served.url, new Desk())
    expect((await keys('revoke', 'ci')).code).toBe(0)
    await expect.poll(async () => (await call('who')).status).toBe(401)
    expect(await client.callTool({ name: 'who', arguments: {} })).toMatchObject({
      structuredContent: { caller: 'Ada Lovelace', realm: 'sign-in' },
    })
    await client.close()
  })

  it('a request with neither is told where to sign in', async () => {
    const { status, headers } = await fetch(legacyRequest(served.url, 'ping'))
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toContain('/.well-known/oauth-protected-resource/mcp')
  })
})

/** A key is for one server and one of its stages. `test/runtimes/keys` says so of each store. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { honoAuth } from '../../../src/auth.ts'
import { fromNode } from '../../../src/from-node.ts'
import type { DeploymentInfo, MCPServer } from '../../../src/index.ts'
import {
  apiKeys,
  createKeyAdmin,
  createMemoryKeyStore,
  environmentKeyStore,
  type KeyStore,
  type StoredKey,
} from '../../../src/keys.ts'
import { fromSdk } from '../../../src/sdk.ts'
import { createServer, modernRequest } from '../_client.ts'
import { createV1 } from '../sdk/_servers.ts'

type Fetching = Pick<MCPServer, 'fetch'>

async function answerOf(server: Fetching, key: string, env: unknown = {}): Promise<string> {
  const request = modernRequest('server/discover', {}, { headers: { authorization: `Bearer ${key}` } })
  const response = await server.fetch(request, env)
  return `${response.status} ${response.status === 200 ? '' : await response.text()}`
}

describe('with one store and one `auth` for two servers', () => {
  it('each accepts its own keys; who has another one is told so [keys.audience]', async () => {
    const store = createMemoryKeyStore()
    const auth = apiKeys({ store })
    for (const [own, other] of [
      ['shop', 'bank'],
      ['bank', 'shop'],
    ] as const) {
      const { key } = await createKeyAdmin(store, { server: own }).create({ name: 'ci' })
      // In any order, and again once it is remembered.
      for (let round = 0; round < 2; round++) {
        expect(await answerOf(createServer({ id: own, auth }), key)).toBe('200 ')
        expect(await answerOf(createServer({ id: other, auth }), key)).toMatch(
          /^401 .*another server or stage/,
        )
      }
    }
  })

  it('a stage is not a part of another server’s name, and production is not a stage', async () => {
    const store = createMemoryKeyStore()
    const auth = apiKeys({ store })
    const keys = {
      shop: await createKeyAdmin(store, { server: 'shop' }).create({ name: 'ci' }),
      staging: await createKeyAdmin(store, { server: 'shop', stage: 'staging' }).create({ name: 'ci' }),
      'shop-staging': await createKeyAdmin(store, { server: 'shop-staging' }).create({ name: 'ci' }),
    }
    const accepted = async (id: string, env: object) => {
      const server = createServer({ id, auth })
      const names: string[] = []
      for (const [name, { key }] of Object.entries(keys))
        if ((await answerOf(server, key, env)) === '200 ') names.push(name)
      return names
    }
    for (const env of [{}, { MAYFLY_STAGE: '' }, { MAYFLY_STAGE: undefined }])
      expect(await accepted('shop', env)).toEqual(['shop'])
    expect(await accepted('shop', { MAYFLY_STAGE: 'staging' })).toEqual(['staging'])
    expect(await accepted('shop-staging', {})).toEqual(['shop-staging'])
    expect(await accepted('shop', { MAYFLY_STAGE: 'staging-2' })).toEqual([])
  })

  it('`server` of apiKeys is in place of the id: servers with one name share their keys', async () => {
    const store = createMemoryKeyStore()
    const { key } = await createKeyAdmin(store, { server: 'suite' }).create({ name: 'ci' })
    for (const id of ['shop', 'bank'])
      expect(await answerOf(createServer({ id, auth: apiKeys({ store, server: 'suite' }) }), key)).toBe(
        '200 ',
      )
    expect(await answerOf(createServer({ id: 'suite', auth: apiKeys({ store, server: 'x' }) }), key)).toMatch(
      /^401/,
    )
  })

  it('createKeyAdmin lists and revokes those of its server, and those of none', async () => {
    const store = createMemoryKeyStore()
    const [shop, bank] = [
      createKeyAdmin(store, { server: 'shop' }),
      createKeyAdmin(store, { server: 'bank' }),
    ]
    const { id, server, stage } = await shop.create({ name: 'ci' })
    expect([server, stage]).toEqual(['shop', undefined])
    await store.create({ id: '0'.repeat(12), hash: 'a'.repeat(43), name: 'old', scopes: [], createdAt: 1 })
    expect((await bank.list()).keys.map(({ name }) => name)).toEqual(['old'])
    expect(await bank.revoke(id)).toBe(false)
    expect(await bank.revoke('0'.repeat(12))).toBe(true)
    expect((await store.read(id))!.revokedAt).toBeUndefined()
  })
})

describe('where a request brings no variables, as server.fetch(request)', () => {
  afterEach(() => vi.unstubAllEnvs())

  it('the stage is that of the process, as for tables [keys.audience]', async () => {
    const store = createMemoryKeyStore()
    const adminOf = (stage?: string) => createKeyAdmin(store, { server: 'shop', ...(stage && { stage }) })
    const production = await adminOf().create({ name: 'ci' })
    const staging = await adminOf('staging').create({ name: 'ci' })
    const qa = await adminOf('qa').create({ name: 'ci' })
    const accepted = async (env: unknown): Promise<string> => {
      const names: string[] = []
      for (const [name, { key }] of Object.entries({ production, staging, qa }))
        if (
          (await answerOf(
            createServer({ id: 'shop', auth: apiKeys({ store }), http: { allowedHosts: ['mcp.example'] } }),
            key,
            env,
          )) === '200 '
        )
          names.push(name)
      return names.join()
    }

    vi.stubEnv('MAYFLY_STAGE', 'staging')
    for (const env of [undefined, {}, { remoteAddr: { hostname: '127.0.0.1' } }, process.env])
      expect(await accepted(env)).toBe('staging')
    expect(await accepted({ MAYFLY_STAGE: 'qa' })).toBe('qa')
    vi.stubEnv('MAYFLY_STAGE', '')
    for (const env of [undefined, {}]) expect(await accepted(env)).toBe('production')
  })
})

describe('a key without a server', () => {
  it('is accepted nowhere, and the log names it once [keys.audience]', async () => {
    const store = createMemoryKeyStore()
    const { key, id } = await createKeyAdmin(store, { server: 'test' }).create({ name: 'ci' })
    const read: KeyStore['read'] = async (asked) => {
      const { server: _, ...row } = (await store.read(asked)) as StoredKey
      return row
    }
    const onError = vi.fn()
    const server = createServer({ auth: apiKeys({ store: { ...store, read } }), onError })
    for (let calls = 0; calls < 3; calls++) expect(await answerOf(server, key)).toMatch(/^401 /)
    expect(onError).toHaveBeenCalledOnce()
    expect(String(onError.mock.calls[0]![0])).toContain(`"ci" (mk_${id}) has no "server"`)
  })
})

describe('what has no id needs `server`', () => {
  const store = createMemoryKeyStore()
  const made: [string, (auth: ReturnType<typeof apiKeys>) => unknown][] = [
    ['fromSdk', (auth) => fromSdk(() => createV1(), { auth, log: false })],
    ['fromNode', (auth) => fromNode(() => {}, { auth, mcpPath: '*', log: false })],
    ['honoAuth', (auth) => honoAuth(auth)],
  ]
  it.each(made)('%s → TypeError that says so; with it, its keys alone', async (name, create) => {
    expect(() => create(apiKeys({ store }))).toThrow(/apiKeys needs "server" for .*server: 'shop'/)
    const served = create(apiKeys({ store, server: 'shop' }))
    if (name === 'honoAuth') return
    const { key } = await createKeyAdmin(store, { server: 'shop' }).create({ name: 'ci' })
    const { key: other } = await createKeyAdmin(store, { server: 'test' }).create({ name: 'ci' })
    expect(await answerOf(served as Fetching, other)).toMatch(/^401/)
    expect(await answerOf(served as Fetching, key)).not.toMatch(/^(401|403|503)/)
  })

  it.each([undefined, {}, { server: '' }, { server: 'a', stage: 'a b' }, { server: 'a', state: 'b' }])(
    'createKeyAdmin(store, %j) → TypeError',
    (options) => {
      expect(() => createKeyAdmin(store, options as never)).toThrow(TypeError)
    },
  )

  it('an invalid MAYFLY_STAGE → 500 or 503, and doctor says so', async () => {
    const onError = vi.fn()
    const server = createServer({ auth: apiKeys({ store }), onError })
    const { key } = await createKeyAdmin(store, { server: 'test' }).create({ name: 'ci' })
    const env = { MAYFLY_STAGE: 'a b' }
    expect(await answerOf(server, key, env)).toMatch(/^50[03]/)
    expect(String(onError.mock.calls[0]![0])).toContain('MAYFLY_STAGE')
    expect((server.getDeploymentInfo(env) as DeploymentInfo).authFault).toContain('MAYFLY_STAGE')
  })
})

describe('two entries with one id in MAYFLY_API_KEYS', () => {
  const filled = async (change: (row: StoredKey) => object[]) => {
    const store = createMemoryKeyStore()
    const admin = createKeyAdmin(store, { server: 'test' })
    const [one, other] = [await admin.create({ name: 'ann' }), await admin.create({ name: 'ci' })]
    const rows = [...change((await store.read(one.id))!), (await store.read(other.id))!]
    const server = createServer({ auth: apiKeys({ store: environmentKeyStore }), onError() {} })
    const env = { MAYFLY_API_KEYS: JSON.stringify(rows) }
    const statuses = []
    for (const { key } of [one, other]) statuses.push((await answerOf(server, key, env)).slice(0, 3))
    return { id: one.id, statuses, fault: server.getDeploymentInfo(env).authFault }
  }

  it('→ neither is accepted, and both are named at start and in doctor; the others are served [keys.one-id]', async () => {
    for (const change of [
      (row: StoredKey) => [row, { ...row, name: 'eve', scopes: ['admin'] }],
      (row: StoredKey) => [row, { ...row, name: 'eve' }, { ...row, name: 'mallory' }],
    ]) {
      const { id, statuses, fault } = await filled(change)
      expect(statuses).toEqual(['401', '200'])
      expect(fault).toContain(`"ann" and "eve" have one id, mk_${id}`)
    }
    const { statuses, fault } = await filled((row) => [row])
    expect([statuses, fault]).toEqual([['200', '200'], undefined])
  })
})

/** Machines over real stores, with two instances of a server: a proof is used once, and a token is everywhere what it is anywhere. */
import { Redis } from 'ioredis'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { createTool, MCPServer } from 'mayfly-mcp'
import { oidc, signIn } from 'mayfly-mcp/sign-in'
import { Pool } from 'pg'
import { expect, it } from 'vitest'
import { postgresGrants } from '../../../adapters/postgres.ts'
import { redisGrants } from '../../../adapters/redis.ts'
import type { GrantStore } from '../../../src/sign-in/store/store.ts'
import { eventually } from '../../_eventually.ts'
import { startPostgresServer, startRedisServer } from '../buses/_servers.ts'

const ORIGIN = 'https://mcp.example.com'
const SECRET = 'a secret of thirty-two characters or more'

const STORES: { readonly [kind: string]: () => Promise<{ store: GrantStore; stop(): Promise<unknown> }> } = {
  async Postgres() {
    const server = await startPostgresServer()
    const pool = new Pool({ connectionString: server.url })
    pool.on('error', () => {})
    const store = postgresGrants(pool, { createTable: true })
    return { store, stop: () => Promise.allSettled([pool.end(), server.stop()]) }
  },
  async Redis() {
    const server = await startRedisServer()
    const client = new Redis(server.url)
    const stop = async () => {
      client.disconnect()
      await server.stop()
    }
    return { store: redisGrants(client), stop }
  },
}

it.each(Object.keys(STORES))('%s', async (kind) => {
  const { store, stop } = await STORES[kind]!()
  try {
    const { publicKey, privateKey } = await generateKeyPair('ES256')
    const publicKeys = { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] }
    const upstream = oidc({ issuer: 'https://login.example', clientId: 'a', clientSecret: 'b' })
    const who = createTool({ id: 'who', execute: (_input, { auth }) => `I am ${auth?.clientId}` })
    const instance = () => {
      const auth = signIn({
        ...{ upstream, store, secrets: [SECRET], scopes: { read: 'Read' }, required: ['read'], cacheMs: 200 },
        machines: { report: { scopes: ['read'], publicKeys }, other: { scopes: [], secret: SECRET } },
      })
      return new MCPServer({
        ...{ name: 'Notes', version: '1.0.0', tools: { who }, auth, log: false },
        http: { publicUrl: `${ORIGIN}/mcp` },
      })
    }
    const servers = [instance(), instance()] as const
    const proof = () =>
      new SignJWT({ jti: crypto.randomUUID() })
        .setProtectedHeader({ alg: 'ES256' })
        .setIssuer('report')
        .setSubject('report')
        .setAudience(ORIGIN)
        .setExpirationTime('1m')
        .sign(privateKey)
    const form = (server: MCPServer, fields: { readonly [name: string]: string }) =>
      server.handle(
        new Request(`${ORIGIN}/oauth/token`, { method: 'POST', body: new URLSearchParams(fields) }),
        {},
      )
    const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
    const ask = (server: MCPServer, client_assertion: string, more = {}) =>
      form(server, {
        grant_type: 'client_credentials',
        client_assertion,
        client_assertion_type: type,
        ...more,
      })

    let token = ''
    for (let round = 0; round < 5; round++) {
      const one = await proof()
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, at) => ask(servers[at % 2 ? 1 : 0], one)),
      )
      const good = answers.filter(({ status }) => status === 200)
      expect(good).toHaveLength(1)
      token = ((await good[0]!.json()) as { access_token: string }).access_token
    }

    const call = async (server: MCPServer) => {
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${token}`,
      }
      const params = { name: 'who', arguments: {} }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
      const answer = await server.handle(new Request(`${ORIGIN}/mcp`, { method: 'POST', headers, body }), {})
      return `${answer.status} ${await answer.text()}`
    }
    for (const server of servers) expect(await call(server)).toContain('I am report')

    const revoked = await form(servers[0], {
      token,
      client_assertion: await proof(),
      client_assertion_type: type,
    })
    expect(revoked.status).toBe(200)
    expect(await call(servers[0])).toMatch(/^401 /)
    // The other process remembers its check for a moment.
    await eventually(async () => expect(await call(servers[1])).toMatch(/^401 /))
  } finally {
    await stop()
  }
})

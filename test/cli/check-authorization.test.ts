/** `mayfly check` on servers that want a token, and say so well or badly. */
import { describe, expect, test } from 'vitest'
import { runProbes } from '../../deploy/check/run.ts'
import {
  asExpected,
  broken,
  check,
  type Expected,
  found,
  listen,
  type ProtectedOptions,
  protectedServer,
  TOKEN,
} from './_check-servers.ts'

describe('authorization', () => {
  interface AuthorizationCase {
    readonly name: string
    readonly options: ProtectedOptions
    readonly finds: readonly Expected[]
  }
  const cases: readonly AuthorizationCase[] = [
    {
      name: '401 without WWW-Authenticate, but with metadata at its place',
      options: { challenge: () => undefined },
      finds: [['authorization.challenge', 'degrades']],
    },
    {
      name: '401 with Basic',
      options: { challenge: () => 'Basic realm="shop"' },
      finds: [['authorization.challenge', 'wrong']],
    },
    {
      name: 'a challenge that names metadata where there is none',
      options: { challenge: (url) => `Bearer resource_metadata="${url}/elsewhere"` },
      finds: [['authorization.metadata', 'wrong']],
    },
    {
      name: 'metadata of another resource',
      options: { metadata: { resource: 'https://other.example/mcp' } },
      finds: [['authorization.metadata', 'wrong']],
    },
    {
      name: 'metadata at the root alone, and not named',
      options: { place: '', challenge: () => 'Bearer' },
      finds: [],
    },
    {
      name: 'metadata nowhere',
      options: { place: '/elsewhere', challenge: () => 'Bearer' },
      finds: [['authorization.challenge', 'degrades']],
    },
    {
      name: 'an authorization server without TLS',
      options: { metadata: { authorization_servers: ['http://auth.example'] } },
      finds: [['authorization.servers', 'wrong']],
    },
    {
      name: 'metadata without authorization servers',
      options: { metadata: { authorization_servers: [] } },
      finds: [['authorization.metadata', 'wrong']],
    },
    {
      name: 'an authorization server that calls itself otherwise',
      options: { server: { issuer: 'https://other.example' } },
      finds: [['authorization.servers', 'wrong']],
    },
    {
      name: 'an authorization server without PKCE',
      options: { server: { code_challenge_methods_supported: undefined } },
      finds: [['authorization.servers', 'wrong']],
    },
    {
      name: 'an authorization server at which nobody can register',
      options: { server: { client_id_metadata_document_supported: undefined } },
      finds: [['authorization.servers', 'degrades']],
    },
    {
      name: 'an invalid token that is 400',
      options: { invalidStatus: 400 },
      finds: [['authorization.invalid-token', 'wrong']],
    },
  ]

  test.for(cases)('$name', async ({ options, finds }) => {
    await using server = await protectedServer(options)

    expect(asExpected(found(await check(server.url)))).toEqual(finds)
    expect(asExpected(found(await check(server.url, TOKEN)))).toEqual(finds)
  })

  test('403 to a request without a token', async () => {
    await using server = await broken((request, next) =>
      request.method === 'POST' && !request.headers.has('authorization')
        ? new Response(null, { status: 403 })
        : next(),
    )
    const [only] = found(await check(server.url))

    expect(only).toMatchObject({ id: 'eras.any', verdict: 'wrong', fix: expect.stringContaining('--bearer') })
    expect(asExpected(found(await check(server.url, TOKEN)))).toEqual([['authorization.challenge', 'wrong']])
  })

  test('401 and nothing else', async () => {
    await using server = await listen((request, response) => {
      request.resume()
      response.writeHead(401).end()
    })

    expect(asExpected(found(await check(server.url)))).toEqual(
      expect.arrayContaining([
        ['authorization.challenge', 'wrong'],
        ['cors.preflight', 'wrong'],
      ]),
    )
  })

  test('neither token nor headers reach another origin', async () => {
    const seen: Record<string, unknown>[] = []
    await using other = await listen((request, response) => {
      seen.push(request.headers)
      response.writeHead(404).end()
    })
    await using server = await protectedServer({ metadata: { authorization_servers: [other.url.origin] } })
    const options = { url: server.url, bearer: TOKEN, timeoutMs: 5000, origin: undefined }
    const report = await runProbes({ ...options, headers: { 'x-gateway-key': 'secret' } })

    expect(asExpected(found(report))).toEqual([['authorization.servers', 'wrong']])
    expect(seen.length).toBeGreaterThan(0)
    expect(JSON.stringify(seen)).not.toMatch(/the-right-token|x-gateway-key/)
  })
})

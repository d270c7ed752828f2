/** Secrets that are long enough, but a few characters again and again: no place that takes a secret accepts one. */

import { createMemoryBus, MCPServer, type MCPServerConfig } from 'mayfly-mcp'
import { staticTokens } from 'mayfly-mcp/auth'
import { createStaticTokenValidator } from 'mayfly-mcp/mastra'
import { createMemoryGrants, signIn } from 'mayfly-mcp/sign-in'
import { createMemoryTasks, createTaskEndpoint } from 'mayfly-mcp/tasks'
import { createTaskAdmin } from 'mayfly-mcp/tasks-admin'
import { createEventWebhook } from 'mayfly-mcp/webhook'
import { describe, expect, it, vi } from 'vitest'
import { secretOf, WEAK_SECRETS } from '../_secrets.ts'
import { fakeUpstream } from './sign-in/_sign-in.ts'

const GOOD = secretOf('good')
const BASE = { name: 'Shop', version: '1.0.0', log: false } as const
const upstream = fakeUpstream()
const scopes = { notes: 'Read your notes' }
const store = createMemoryGrants()
const server = new MCPServer({ ...BASE, tasks: createMemoryTasks() })

/** What is said about `auth` of a server with this environment. */
const faultOf = (auth: MCPServerConfig['auth'], env: object = {}) =>
  new MCPServer({ ...BASE, auth } as MCPServerConfig).getDeploymentInfo(env).authFault

const reporting = (machine: object) =>
  signIn({ upstream, store, scopes, secrets: [GOOD], machines: { report: { scopes: [], ...machine } } })

/** Each throws for a secret that it refuses. */
const PLACES: { readonly [place: string]: (secret: string) => unknown } = {
  'secret of MCPServer': (secret) => new MCPServer({ ...BASE, secret }),
  'the second secret of MCPServer': (secret) => new MCPServer({ ...BASE, secret: [GOOD, secret] }),
  'secrets of signIn': (secrets) => signIn({ upstream, store, scopes, secrets: [secrets] }),
  'the second of signIn': (secret) => signIn({ upstream, store, scopes, secrets: [GOOD, secret] }),
  'secret of a machine': (secret) => reporting({ secret }),
  'secret of createTaskEndpoint': (secret) => createTaskEndpoint({ server, secret }),
  'the second of createTaskEndpoint': (secret) => createTaskEndpoint({ server, secret: [GOOD, secret] }),
  'urlSecret of createTaskEndpoint': (urlSecret) => createTaskEndpoint({ server, secret: GOOD, urlSecret }),
  'secret of createTaskAdmin': (secret) => createTaskAdmin({ secret }),
  'a static token': (token) => staticTokens([{ token, clientId: 'ci' }]),
  'a static token of Mastra': (token) => createStaticTokenValidator([token]),
  'secret of a webhook': (secret) =>
    createEventWebhook({ bus: createMemoryBus(), secret: `whsec_${btoa(secret)}` }),
}

/** Those of an environment: each returns what the operator is told. */
const FROM_ENV: { readonly [place: string]: (secret: string) => string | undefined } = {
  'MAYFLY_SECRET of signIn': (secret) =>
    faultOf(signIn({ upstream, store: () => ({ ...store, isLocal: false }), scopes }), {
      MAYFLY_SECRET: secret,
    }),
  'secret of a machine': (secret) =>
    faultOf(reporting({ secret: ({ REPORT }: { REPORT: string }) => REPORT }), { REPORT: secret }),
  'a static token': (token) =>
    faultOf(
      staticTokens(({ CI }: { CI: string }) => [{ token: CI, clientId: 'ci' }]),
      { CI: token },
    ),
}

describe.each(Object.entries(PLACES))('%s', (place, take) => {
  it.each(Object.entries(WEAK_SECRETS))('%s → a TypeError that does not contain it', (_kind, weak) => {
    const taken = vi.fn(() => take(weak))
    expect(taken).toThrow(TypeError)
    const { message } = taken.mock.results[0]!.value as Error
    expect(message).not.toContain(weak.trim() || '    ')
    expect(message).toMatch(weak.trim() ? /openssl rand -base64 32/ : /openssl|is the variable/)
    expect(message).not.toContain('\n')
  })

  // A webhook's is bytes.
  it.runIf(place !== 'secret of a webhook')('blanks around a short one do not count', () => {
    for (const padded of [`abcdefgh${' '.repeat(40)}`, `\n${' '.repeat(40)}abcdefgh\t`])
      expect(() => take(padded)).toThrow(TypeError)
  })

  it('random ones of all kinds are accepted', () => {
    for (let count = 0; count < 200; count++) {
      const bytes = crypto.getRandomValues(new Uint8Array(32))
      const hex = Array.from(bytes.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('')
      for (const good of [hex, btoa(String.fromCharCode(...bytes)), GOOD]) take(good)
    }
  })
})

describe.each(Object.entries(FROM_ENV))('%s, from the environment', (_place, said) => {
  it.each(Object.entries(WEAK_SECRETS))('%s → the operator is told, without it', (_kind, weak) => {
    expect(said(weak)).toMatch(weak.trim() ? /openssl rand -base64 32/ : /is not set|is the variable/)
    expect(said(weak)).not.toContain(weak)
  })

  it('a random one is accepted', () => {
    expect(said(GOOD)).toBeUndefined()
  })
})

/** What sign-in says to `mayfly dev`, `mayfly doctor` and a process that starts: which variables are not set. */
import { describe, expect, it } from 'vitest'
import { anyOf } from '../../../src/auth/any-of.ts'
import { staticTokens } from '../../../src/auth.ts'

import { signIn } from '../../../src/sign-in/auth.ts'
import { cognito } from '../../../src/sign-in/cognito.ts'
import { entra } from '../../../src/sign-in/entra.ts'
import { github } from '../../../src/sign-in/github.ts'
import { google } from '../../../src/sign-in/google.ts'
import { oidc } from '../../../src/sign-in/oidc.ts'
import { createMemoryGrants } from '../../../src/sign-in/store/memory.ts'
import type { Upstream } from '../../../src/sign-in/upstream/upstream.ts'
import { createServer } from '../_client.ts'
import { SECRET } from './_sign-in.ts'

const CLIENT = {
  clientId: (env: Record<string, unknown>) => env.ID,
  clientSecret: ({ SECRET: secret }: Record<string, unknown>) => secret,
}
const DEV = { MAYFLY_DEV: '1' }

function authOf(upstream: Upstream) {
  return signIn({ upstream, store: createMemoryGrants(), scopes: { notes: 'Read your notes' } })
}

const infoOf = (upstream: Upstream, env: object) =>
  createServer({ auth: authOf(upstream) }).getDeploymentInfo(env).signIn

describe('the variables that a provider reads and that are not set', () => {
  it.each<[string, Upstream, string[]]>([
    ['google', google(CLIENT), ['ID', 'SECRET']],
    ['github', github(CLIENT), ['ID', 'SECRET']],
    ['oidc', oidc({ issuer: (env) => env.ISSUER, ...CLIENT }), ['ISSUER', 'ID', 'SECRET']],
    ['entra', entra({ tenant: (env) => env.TENANT, ...CLIENT }), ['ID', 'SECRET', 'TENANT']],
    [
      'cognito',
      cognito({ region: 'eu-west-1', userPoolId: (env) => env.POOL, ...CLIENT }),
      ['POOL', 'ID', 'SECRET'],
    ],
  ])('%s: all of them, at once', (_name, upstream, unset) => {
    expect(infoOf(upstream, {})).toMatchObject({ isStandIn: false, unset })
    expect(infoOf(upstream, { ...DEV, ID: '' })).toMatchObject({ isStandIn: true, unset })
    for (const name of unset) expect(infoOf(upstream, { [name]: 'x' })?.unset).not.toContain(name)
  })

  it('none, where they are set: the provider is in use', () => {
    expect(infoOf(google(CLIENT), { ...DEV, ID: 'i', SECRET: 's' })).toEqual({
      provider: 'Google',
      isStandIn: false,
      scopes: ['notes'],
      initialScopes: ['notes'],
      needsSecret: true,
      unset: [],
      variables: ['ID', 'SECRET'],
      hasLocalStore: true,
      upstream: expect.any(Function),
    })
  })

  it('the error of a setting names its variable, and reads nothing of a value', () => {
    expect(google(CLIENT).faultIn?.({ ID: 'i' })).toBe('"clientSecret" of google is not set: set SECRET.')
    const nothing = google({ ...CLIENT, clientId: () => undefined })
    expect(nothing.faultIn?.({})).toBe(
      '"clientId" of google is not set: is the variable that it comes from set?',
    )
  })

  it('also beside tokens', () => {
    const auth = anyOf([
      staticTokens([{ token: 'a-token-of-the-tests', clientId: 'me' }]),
      authOf(google(CLIENT)),
    ])
    expect(createServer({ auth }).getDeploymentInfo(DEV).signIn).toMatchObject({
      isStandIn: true,
      // Tokens may have others.
      scopes: undefined,
    })
  })

  it('two of them in one server → TypeError: the second one would never be asked', () => {
    expect(() => anyOf([authOf(google(CLIENT)), authOf(github(CLIENT))])).toThrow(
      new TypeError('anyOf takes one signIn: all have the same paths, and only the first one is asked.'),
    )
  })
})

describe('MAYFLY_SECRET is not set', () => {
  const faultWith = (store: () => ReturnType<typeof createMemoryGrants>, env: object) =>
    signIn({
      upstream: google({ clientId: 'i', clientSecret: 's' }),
      store,
      scopes: { notes: 'Read your notes' },
    }).faultIn?.(env)
  const shared = () => ({ ...createMemoryGrants(), isLocal: false })
  const unbound = (): never => {
    throw new TypeError('no binding')
  }

  it('a store of the environment that others share → it is named', () => {
    expect(faultWith(shared, {})).toContain('MAYFLY_SECRET')
    expect(faultWith(shared, { MAYFLY_SECRET: SECRET })).toBeUndefined()
  })

  it('a binding that is not there → it is named, but not in mayfly dev', () => {
    expect(faultWith(unbound, {})).toContain('MAYFLY_SECRET')
    expect(faultWith(unbound, DEV)).toBeUndefined()
    expect(faultWith(unbound, { MAYFLY_SECRET: SECRET })).toBeUndefined()
  })

  it('a store in memory needs none', () => {
    expect(faultWith(() => createMemoryGrants(), {})).toBeUndefined()
  })
})

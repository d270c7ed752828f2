/** Options given as functions of the environment, which return what a variable has on a bad day: nobody is let in, and the operator reads why. */
import { createMemoryGrants, oidc, signIn } from 'mayfly-mcp/sign-in'
import { cognito } from 'mayfly-mcp/sign-in/cognito'
import { entra } from 'mayfly-mcp/sign-in/entra'
import { github } from 'mayfly-mcp/sign-in/github'
import { google } from 'mayfly-mcp/sign-in/google'
import { describe, expect, it } from 'vitest'
import type { Upstream } from '../../../src/sign-in/upstream/upstream.ts'
import { secretOf } from '../../_secrets.ts'
import { authorizeUrl, createWorld, fakeUpstream, registered } from './_sign-in.ts'

const DETAIL = 'a-detail-of-the-operator'
const CLIENT = { clientId: 'an-id', clientSecret: 'a-secret' }

type Make = (given: never) => Upstream

/** Each provider with valid options. Every one of them may be a function. */
const PROVIDERS: { readonly [name: string]: readonly [Make, { readonly [option: string]: string }] } = {
  google: [google, { ...CLIENT, hostedDomain: 'shop.example' }],
  github: [github, { ...CLIENT, organization: 'shop' }],
  entra: [entra, { ...CLIENT, tenant: '11111111-2222-3333-4444-555555555555' }],
  cognito: [cognito, { ...CLIENT, region: 'eu-west-1', userPoolId: 'eu-west-1_abc' }],
  oidc: [oidc, { ...CLIENT, issuer: 'https://login.example' }],
}

/** What functions return on a bad day. */
const VALUES: { readonly [kind: string]: () => unknown } = {
  undefined: () => undefined,
  null: () => null,
  'an empty text': () => '',
  'a blank': () => ' ',
  'a line end': () => '\n',
  'a number': () => 5,
  true: () => true,
  'a list': () => ['an-id'],
  'a promise': async () => 'an-id',
  'an error that is thrown': () => {
    throw new Error(DETAIL)
  },
}

/** What a plain value of that option is refused for, too. */
const MALFORMED: { readonly [option: string]: readonly string[] } = {
  hostedDomain: ['*', 'https://shop.example', 'shop example', ' shop.example'],
  organization: ['shop/team', '-shop', 'https://github.com/shop'],
  tenant: ['shop.example', 'tenant'],
  region: ['eu', 'eu-west-1/'],
  userPoolId: ['us-east-1_abc', 'eu-west-1_a/b'],
  issuer: ['http://login.example', 'login.example', 'https://login.example?x'],
}

const options = Object.entries(PROVIDERS).flatMap(([name, [make, valid]]) =>
  Object.keys(valid).map((option) => [name, option, make, valid] as const),
)

/** What a caller who begins to sign in gets, and the one line that the operator reads. */
async function begin(upstream: Upstream): Promise<{ status: number; page: string; reports: string[] }> {
  const world = createWorld({ upstream: upstream as never })
  const response = await world.get(await authorizeUrl({ clientId: await registered(world) }))
  const reports = world.reports.map((error) => {
    const { message, cause } = error as Error
    return [message, (cause as Error | undefined)?.message ?? ''].join(' ')
  })
  return { status: response.status, page: await response.text(), reports }
}

describe.each(options)('%s: %s as a function', (_name, option, make, valid) => {
  const refused = async (value: () => unknown): Promise<void> => {
    const upstream = make({ ...valid, [option]: value } as never)
    const { status, page, reports } = await begin(upstream)
    expect(status).toBe(503)
    expect(page).not.toContain(option)
    expect(page).not.toContain(DETAIL)
    expect(reports).toHaveLength(1)
    expect(reports[0]).toContain(`"${option}"`)
    expect(reports[0]).not.toContain('\n')
    expect(upstream.faultIn?.({})).toContain(`"${option}"`)
  }

  it.each(Object.entries(VALUES))('that returns %s → 503, and a line that names it', (_kind, value) =>
    refused(value),
  )

  it('that returns what a plain value may not be → the same', async () => {
    for (const text of MALFORMED[option] ?? []) {
      expect(() => make({ ...valid, [option]: text } as never)).toThrow(`"${option}"`)
      await refused(() => text)
    }
  })

  it.each(['', ' ', '\n'])('as the plain value %j → a TypeError', (text) => {
    expect(() => make({ ...valid, [option]: text } as never)).toThrow(TypeError)
    expect(() => make({ ...valid, [option]: text } as never)).toThrow(`"${option}"`)
  })

  it('that returns a good one → no fault', () => {
    const upstream = make({ ...valid, [option]: () => valid[option] } as never)
    expect(upstream.faultIn?.({})).toBeUndefined()
  })
})

describe('secret of a machine as a function', () => {
  it.each(Object.entries(VALUES))('that returns %s → 503, and a line that names it', async (_kind, value) => {
    const world = createWorld({ machines: { report: { scopes: [], secret: value } } })
    const secret = { client_id: 'report', client_secret: secretOf('report') }
    const response = await world.form('/oauth/token', { grant_type: 'client_credentials', ...secret })
    const text = await response.text()
    expect([response.status, text.includes(DETAIL)]).toEqual([503, false])
    expect(world.reports).toHaveLength(1)
    expect(String(world.reports[0])).toContain('"secret" of "machines.report"')
  })
})

describe('store as a function', () => {
  const upstream = fakeUpstream()
  const scopes = { notes: 'Read your notes' }

  it.each(Object.entries(VALUES))('of signIn that returns %s → 503, and one line', async (_kind, value) => {
    const world = createWorld({ store: value as never, upstream })
    const response = await world.get('/connections')
    const text = await response.text()
    expect([response.status, text.includes(DETAIL)]).toEqual([503, false])
    expect(world.reports).toHaveLength(1)
    expect(String(world.reports[0])).not.toContain('\n')
  })

  it('of signIn that returns one → no fault', () => {
    const store = createMemoryGrants()
    expect(signIn({ upstream, store: () => store, scopes }).faultIn?.({})).toBeUndefined()
  })
})

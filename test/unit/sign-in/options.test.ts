/** Options of sign-in and its providers with a value of a kind that would pass silently: as a list, its names would be 0 and 1. */
import { describe, expect, it } from 'vitest'
import { SIGN_IN } from '../options/_sign-in.ts'
import { errorOf, placesIn, type Taker } from '../options/_walk.ts'

const VALUES: { readonly [kind: string]: unknown } = {
  list: ['dice', 'calendar'],
  'list of entries': [['dice', 'Roll dice']],
  map: new Map([['dice', 'Roll dice']]),
  parameters: new URLSearchParams({ dice: 'Roll dice' }),
  set: new Set(['dice']),
  date: new Date(0),
  function: () => ({}),
  text: 'dice, calendar',
  number: 300_001,
  true: true,
  false: false,
  null: null,
}

/** What each option may be; all others are refused. */
const ALLOWED: { readonly [option: string]: readonly string[] } = {
  ...Object.fromEntries(
    [
      'clientId',
      'clientSecret',
      'issuer',
      'tenant',
      'region',
      'userPoolId',
      'organization',
      'hostedDomain',
    ].map((name) => [name, ['text', 'function']]),
  ),
  name: ['text'],
  fetch: ['function'],
  check: ['function'],
  secret: ['function'],
  store: ['function'],
  offlineAccess: ['true', 'false'],
  groups: ['list'],
  tools: ['list'],
  prompts: ['list'],
  resources: ['list'],
}

const takers = Object.values(SIGN_IN).flatMap((functions) =>
  Object.entries(functions).flatMap(([name, taker]) =>
    typeof taker === 'string' ? [] : [taker].flat().map((one: Taker) => [name, one] as const),
  ),
)

describe.each(takers)('%s', (name, taker) => {
  it('refuses a value of another kind in each option, at every depth', async () => {
    let tried = 0
    for (const place of placesIn(taker.options)) {
      const own = valueAt(taker.options, place.path)
      for (const option of Object.keys(own)) {
        // Members of the provider, the store and a JWK are not options.
        if (/^(?:upstream|store)|keys$/.test(place.path)) continue
        const at = [place.path, option].filter(Boolean).join('.')
        const isScopesOfProvider = option === 'scopes' && Array.isArray((own as { scopes: unknown }).scopes)
        for (const [kind, value] of Object.entries(VALUES)) {
          if (place.path === 'scopes' && kind === 'text') continue
          if (place.path === 'parameters' && kind === 'text') continue
          if (ALLOWED[option]?.includes(kind) || (isScopesOfProvider && name !== 'signIn' && kind === 'list'))
            continue
          const error = await errorOf(taker, place.with(option, value))
          expect([at, kind, error?.name]).toEqual([at, kind, 'TypeError'])
          expect([at, kind, error?.message]).toEqual([at, kind, expect.stringMatching(/^[^\n]{10,300}[.]$/)])
          tried++
        }
      }
    }
    expect(tried).toBeGreaterThan(40)
  })
})

function valueAt(options: object, path: string): object {
  const found = path
    .split('.')
    .filter(Boolean)
    .reduce<unknown>((at, member) => Reflect.get(at as object, member), options)
  return [found].flat()[0] as object
}

it.each([
  ['google', 'hostedDomain'],
  ['github', 'organization'],
  ['entra', 'groups'],
  ['entra', 'allowedTenants'],
  ['cognito', 'groups'],
  ['oidc', 'check'],
])('%s with %s of a variable that is not set is refused: it would let everyone in', async (name, option) => {
  const taker = Object.fromEntries(takers)[name]!
  const error = await errorOf(taker, { ...taker.options, [option]: undefined })
  expect(error?.name).toBe('TypeError')
  expect(error?.message).toContain(`"${option}" of ${name} is undefined: is the variable`)
})

it('a list as "scopes" of signIn → what it must have', async () => {
  const taker = Object.fromEntries(takers).signIn!
  const error = await errorOf(taker, { ...taker.options, scopes: ['dice', 'calendar'] })
  expect(error?.message).toBe(
    `"scopes" of signIn must have a sentence by scope, as in { notes: 'Read your notes' }.`,
  )
})

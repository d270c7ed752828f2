/** Lets the whole corpus loose on one served fixture. */
import { importJWK, SignJWT, UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLIENTS } from '../contract/clients.ts'
import type { Served } from '../contract/contract.ts'
import { type Attack, send } from './_attack.ts'
import { AUDIENCE, ISSUER, PRIVATE_KEY } from './_keys.ts'
import { request } from './_requests.ts'
import { createCorpus, type Material } from './corpus.ts'

/** What no answer may hold: stacks, paths of the machine, secrets, what a cause says. */
const LEAK =
  /\n\s+at \S+ \(|node_modules|\/work\/|\/tmp\/|hunter2|of-no-value-outside|server\.(?:mjs|js):\d|internal\/modules/

/** What a server answers itself, behind whatever guard. */
const THEIRS = ['messages that are wrong', 'headers that contradict the body', 'sealed states']

export interface Battlefield {
  start(): Promise<Served>
  /** Attacks that the platform's own parser answers before us, by name, with what it says. */
  readonly before?: { readonly [attack: string]: readonly (number | 'closed')[] }
  /** Groups that cannot be tried there, since the platform hands over whole requests only. */
  readonly without?: readonly string[]
  /** Somebody else's server: what it answers itself may be anything but a fault, a leak or silence. */
  readonly isForeign?: boolean
}

export function hostile(
  target: string,
  { start, before = {}, without = [], isForeign = false }: Battlefield,
): void {
  describe(`the hostile corpus on ${target}`, { timeout: 30_000 }, () => {
    let served: Served
    let corpus: ReturnType<typeof createCorpus>
    beforeAll(async () => {
      served = await start()
      corpus = createCorpus(await createMaterial(served.url, isForeign))
    })
    afterAll(() => served?.stop())

    // Names are known before the server is; what is sent is made when it is.
    const outline = createCorpus({ good: '', bad: BAD_OUTLINE, states: STATE_OUTLINE })
    for (const [group, attacks] of Object.entries(outline)) {
      it.skipIf(without.includes(group)).each(attacks.map(({ name }, index) => [index, name] as const))(
        `${group}: %i %s`,
        async (index) => {
          const attack = corpus[group]![index]!
          const own = Object.hasOwn(before, attack.name) ? before[attack.name] : undefined
          const expected: readonly (number | 'closed')[] = own ?? attack.expected ?? []
          const { status, text } = await send(served.url, attack)
          const isTheirs = isForeign && THEIRS.includes(group)
          if (isTheirs) expect(status ?? 0, text.slice(0, 400)).toBeLessThan(500)
          else expect(expected, text.slice(0, 400)).toContain(status ?? 'closed')
          expect(text).not.toMatch(LEAK)
          if (!isTheirs) attack.check?.(text)
        },
      )
    }

    it('has at least 300 attacks', () => {
      expect(Object.values(outline).flat().length).toBeGreaterThanOrEqual(300)
    })

    it('and goes on serving those who may', async () => {
      const token = await sign({})
      await using connection = await CLIENTS[3]!.connect(served.url, { authorization: `Bearer ${token}` })
      expect(await connection.call('echo', { text: 'still here' })).toMatchObject({
        content: [{ text: 'still here' }],
      })
    })
  })
}

const now = (): number => Math.floor(Date.now() / 1000)

async function sign(claims: object, header: object = {}): Promise<string> {
  const key = await importJWK(PRIVATE_KEY, 'ES256')
  return new SignJWT({
    iss: ISSUER,
    aud: AUDIENCE,
    sub: 'ann',
    client_id: 'desk',
    scope: 'shop',
    exp: now() + 600,
    ...claims,
  })
    .setProtectedHeader({ alg: 'ES256', kid: 'hostile', typ: 'at+jwt', ...header })
    .sign(key)
}

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Tokens by what is wrong with them; made for real once there is a clock to make them by. */
const BAD: { readonly [what: string]: (good: string) => Promise<string> | string } = {
  expired: () => sign({ exp: now() - 3600 }),
  'without an expiry': () => sign({ exp: undefined }),
  'not yet good': () => sign({ nbf: now() + 3600 }),
  'of another issuer': () => sign({ iss: 'https://evil.example' }),
  'for somebody else': () => sign({ aud: 'https://evil.example/mcp' }),
  'for nobody': () => sign({ aud: undefined }),
  'an ID token': () => sign({ nonce: 'n' }, { typ: 'JWT' }),
  'a logout token': () => sign({ events: {} }, { typ: 'logout+jwt' }),
  'a refresh token': () => sign({ typ: 'Refresh' }),
  'a proof for DPoP': () => sign({ htm: 'POST', htu: AUDIENCE }, { typ: 'dpop+jwt' }),
  'bound to a key': () => sign({ cnf: { jkt: '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I' } }),
  'for a longer name': () => sign({ aud: `${AUDIENCE}.evil.example` }),
  'with an audience that is an object': () => sign({ aud: { [AUDIENCE]: true } }),
  unsigned: () => new UnsecuredJWT({ iss: ISSUER, aud: AUDIENCE, exp: now() + 600 }).encode(),
  'alg None': (good) => `${part({ alg: 'None' })}.${good.split('.')[1]}.`,
  'alg none with a signature': (good) => `${part({ alg: 'none' })}.${good.split('.').slice(1).join('.')}`,
  'alg HS256 by the public key': async (good) => {
    const body = `${part({ alg: 'HS256', kid: 'hostile' })}.${good.split('.')[1]}`
    const secret = new TextEncoder().encode(JSON.stringify(PRIVATE_KEY.x))
    const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, [
      'sign',
    ])
    const signature = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(body))
    return `${body}.${Buffer.from(signature).toString('base64url')}`
  },
  'alg RS256': (good) => `${part({ alg: 'RS256', kid: 'hostile' })}.${good.split('.').slice(1).join('.')}`,
  'a made-up alg': (good) =>
    `${part({ alg: 'XX999', kid: 'hostile' })}.${good.split('.').slice(1).join('.')}`,
  'no alg': (good) => `${part({ kid: 'hostile' })}.${good.split('.').slice(1).join('.')}`,
  'an unknown key': (good) => `${part({ alg: 'ES256', kid: 'other' })}.${good.split('.').slice(1).join('.')}`,
  'a key id that is a path': (good) =>
    `${part({ alg: 'ES256', kid: '../../../dev/null' })}.${good.split('.').slice(1).join('.')}`,
  'a key id that is SQL': (good) =>
    `${part({ alg: 'ES256', kid: "' OR 1=1 --" })}.${good.split('.').slice(1).join('.')}`,
  'a key of its own': (good) =>
    `${part({ alg: 'ES256', kid: 'hostile', jwk: PRIVATE_KEY })}.${good.split('.').slice(1).join('.')}`,
  'a key address of its own': (good) =>
    `${part({ alg: 'ES256', jku: 'http://127.0.0.1:9/jwks' })}.${good.split('.').slice(1).join('.')}`,
  'crit that nobody understands': (good) =>
    `${part({ alg: 'ES256', kid: 'hostile', crit: ['x'], x: 1 })}.${good.split('.').slice(1).join('.')}`,
  'other claims under the same signature': (good) => {
    const [header, , signature] = good.split('.')
    return `${header}.${part({ iss: ISSUER, aud: AUDIENCE, exp: now() + 600, scope: 'admin' })}.${signature}`
  },
  'a signature of zeros': (good) =>
    `${good.split('.').slice(0, 2).join('.')}.${Buffer.alloc(64).toString('base64url')}`,
  'no signature': (good) => `${good.split('.').slice(0, 2).join('.')}.`,
  'two parts': (good) => good.split('.').slice(0, 2).join('.'),
  'four parts': (good) => `${good}.${good.split('.')[2]}`,
  'five parts, as encrypted ones have': (good) => `${good}.a.b`,
  'cut short': (good) => good.slice(0, -10),
  'a header that is no JSON': (good) => `abc.${good.split('.').slice(1).join('.')}`,
  'claims that are a list': () => `${part({ alg: 'ES256' })}.${part([1])}.AAAA`,
  'claims that are null': () => `${part({ alg: 'ES256' })}.${part(null)}.AAAA`,
}

const STATES: {
  readonly [what: string]: (sealed: { own: string; others: string; otherCall: string }) => string
} = {
  'of another user': ({ others }) => others,
  'of a call with other arguments': ({ otherCall }) => otherCall,
  'with a bit turned at the start': ({ own }) => `${own.startsWith('A') ? 'B' : 'A'}${own.slice(1)}`,
  'with a bit turned at the end': ({ own }) => `${own.slice(0, -2)}${own.endsWith('AA') ? 'BB' : 'AA'}`,
  'cut short': ({ own }) => own.slice(0, -8),
  twice: ({ own }) => own + own,
  random: () => Buffer.alloc(120, 7).toString('base64url'),
  'no base64': () => '!!!!',
  JSON: () => '{"answers":{"sure":true}}',
  'very long': () => 'A'.repeat(40_000),
}

const BAD_OUTLINE = Object.fromEntries(Object.keys(BAD).map((what) => [what, '']))
const STATE_OUTLINE = Object.fromEntries(Object.keys(STATES).map((what) => [what, '']))

async function createMaterial(url: URL, isForeign: boolean): Promise<Material> {
  const good = await sign({})
  const sealed = isForeign
    ? { own: 'AAAA', others: 'BBBB', otherCall: 'CCCC' }
    : {
        own: await sealedState(url, good, 'bob'),
        others: await sealedState(url, await sign({ sub: 'eve', client_id: 'eve' }), 'bob'),
        otherCall: await sealedState(url, good, 'carol'),
      }
  const bad = await Promise.all(
    Object.entries(BAD).map(async ([what, make]) => [what, await make(good)] as const),
  )
  return {
    good,
    bad: Object.fromEntries(bad),
    states: Object.fromEntries(Object.entries(STATES).map(([what, make]) => [what, make(sealed)])),
  }
}

interface Asked {
  readonly inputRequests?: { readonly [id: string]: unknown }
  readonly requestState?: string
}

/** The state of a call that was asked its first question and answered it. */
async function sealedState(url: URL, token: string, to: string): Promise<string> {
  const call = async (more: object): Promise<Asked> => {
    const params = { name: 'transfer', arguments: { to }, ...more }
    const attack: Attack = { name: 'preparation', bytes: request({ token, method: 'tools/call', params }) }
    const { text } = await send(url, attack)
    const json = /\{"jsonrpc".*\}/.exec(text)?.[0] ?? text
    return (JSON.parse(json) as { result: Asked }).result
  }
  const first = await call({})
  const [id = ''] = Object.keys(first.inputRequests ?? {})
  const inputResponses = { [id]: { action: 'accept', content: { amount: 5 } } }
  const second = await call({
    inputResponses,
    ...(first.requestState !== undefined && { requestState: first.requestState }),
  })
  if (second.requestState === undefined) throw new Error(`no state: ${JSON.stringify(second)}`)
  return second.requestState
}

/** Tokens at the authorization check: `[verifier, header]`, the header in bytes. */
import { bearer as byFunction, jwt, staticTokens } from '../../../src/auth.ts'
import { CHALLENGE } from '../answer.ts'
import { AUDIENCE, ISSUER, JWKS, JWTS } from '../genuine.ts'
import { mutateBytes } from '../mutate.ts'
import { promise, type Target } from '../target.ts'

const STATIC = 'a-token-of-no-value'

const options = {
  issuer: ISSUER,
  audience: AUDIENCE,
  jwksUri: `${ISSUER}/jwks`,
  tokenTypes: ['JWT'],
  fetch: async () => Response.json(JWKS),
}

const GATES = {
  jwt: jwt(options),
  platform: jwt({ ...options, header: 'cf-access-jwt-assertion' }),
  static: staticTokens([{ token: STATIC }], { anonymous: { tools: ['echo'] } }),
  function: byFunction((token) => token === STATIC && { clientId: 'x', scopes: ['a'] }, {
    scopes: ['a', 'b'],
  }),
}

const context = {
  env: undefined,
  location: () => ({
    resource: AUDIENCE,
    isVouchedFor: true,
    metadataUrl: 'https://fuzz.example/.well-known/oauth-protected-resource/mcp',
  }),
}

/** What is signed, and the bytes of the signature: Base64 has several spellings of its last character. */
function essence(token: string): string {
  const at = token.lastIndexOf('.')
  return token.slice(0, at) + Buffer.from(token.slice(at + 1), 'base64url').toString('hex')
}

const SIGNED = new Set(Object.values(JWTS).map(essence))

async function run([which, value]: readonly string[]): Promise<string> {
  const gate = GATES[which as keyof typeof GATES]
  if (gate === undefined) return 'no gate'
  const headers = new Headers()
  try {
    headers.set(which === 'platform' ? 'cf-access-jwt-assertion' : 'authorization', value!)
  } catch {
    return 'no header value'
  }
  const request = new Request('https://fuzz.example/mcp', { method: 'POST', headers })
  const admission = await gate.admit(request, context)
  if (!admission.ok) {
    const { status, headers: own, message } = admission.refusal
    promise([401, 403].includes(status), `a token is answered ${status}: ${message}`)
    promise(
      CHALLENGE.test(own['www-authenticate'] ?? ''),
      `a malformed challenge: ${own['www-authenticate']}`,
    )
    return `${which} ${status} ${message}`
  }
  if (admission.auth === undefined) {
    promise(which === 'static' && headers.values().next().value === '', 'no token')
    return 'anonymous'
  }
  const { token } = admission.auth
  if (which === 'static') promise(token === STATIC, 'another token was taken')
  else if (which === 'function') promise(false, 'a scope is missing')
  else promise(SIGNED.has(essence(token)), 'a token was accepted that was never signed')
  return `${which} admitted`
}

export const bearer: Target = {
  name: 'bearer',
  seeds: [
    ...Object.values(JWTS).flatMap((token) => [
      ['jwt', `Bearer ${token}`],
      ['platform', token],
    ]),
    ['static', `Bearer ${STATIC}`],
    ['static', ''],
    ['function', `bearer  ${STATIC}`],
    ['jwt', 'Basic eDp5'],
    ['jwt', `Bearer eyJhbGciOiJub25lIn0.${JWTS.ES256.split('.')[1]}.`],
    ['jwt', `Bearer eyJhbGciOiJIUzI1NiIsImtpZCI6InJzMjU2In0.${JWTS.RS256.split('.').slice(1).join('.')}`],
  ],
  generate: (random) => [
    random.pick(Object.keys(GATES)),
    `Bearer ${madeUp(random.pick(HEADS), random.pick(CLAIMS))}`,
  ],
  mutate: ([which, value], [, other], random) =>
    random.chance(0.1)
      ? [random.pick(Object.keys(GATES)), value!]
      : [
          which!,
          random.chance(0.3) ? remade(value!, other!, random.int(3)) : mutateBytes(value!, other!, random),
        ],
  run,
}

const HEADS = [
  ...[
    '{"alg":"none"}',
    '{"alg":"ES256","kid":"rs256"}',
    '{"alg":"RS256","kid":"es256"}',
    '{"alg":"EdDSA"}',
    '{}',
  ],
  ...[
    '{"alg":"HS256","kid":"rs256"}',
    '{"alg":"ES256","kid":"es256","crit":["b64"],"b64":false}',
    '[]',
    'null',
  ],
  ...[
    '{"alg":["ES256"]}',
    '{"alg":"ES256","kid":{"a":1}}',
    '{"alg":"ES256","jwk":{"kty":"EC"}}',
    '{"alg":"dir","enc":"A"}',
  ],
]
const CLAIMS = ['{}', '[]', 'null', '{"exp":1e400}', '{"exp":"9999999999"}', '{"aud":{},"iss":[]}', '\xff']

function madeUp(head: string, claims: string): string {
  return [head, claims, 'x'.repeat(64)]
    .map((part) => Buffer.from(part, 'latin1').toString('base64url'))
    .join('.')
}

/** With one of its three parts from another token. */
function remade(value: string, other: string, at: number): string {
  const parts = value.split('.')
  const part = other.replace(/^.* /, '').split('.')[at] ?? ''
  return at < parts.length ? parts.with(at, at === 0 ? `Bearer ${part}` : part).join('.') : value
}

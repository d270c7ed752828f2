/** Sealed state and session tokens: `[token, method, target, arguments as JSON, principal]`. */
import { isDeepStrictEqual } from 'node:util'
import { type Binding, createSeal } from '../../../src/interaction/seal.ts'
import { createDeclaredTokens } from '../../../src/protocol/declared-token.ts'
import { parseJson } from '../../../src/protocol/json-rpc.ts'
import { BINDING, SEALED, SECRET } from '../genuine.ts'
import { generateJson, mutateJson, mutateText } from '../mutate.ts'
import { promise, type Target } from '../target.ts'

const seal = createSeal([SECRET], 'fuzz', () => undefined)
const sessions = createDeclaredTokens()
const LATER = 4_102_444_800_000

/** The binding of each genuine token. */
const GOOD = new Map<string, object>([
  [SEALED.small, BINDING],
  [SEALED.deflated, BINDING],
  [SEALED.foreign, { ...BINDING, arguments: { to: 'eve' } }],
  [SEALED.principal, { ...BINDING, principal: 'desk ann' }],
  [SEALED.session, { era: 'legacy', method: 'initialize', target: '', arguments: {}, principal: '' }],
])

const LIMITS = { maxDepth: 32, maxMembers: 1000, maxStringCharacters: 10_000 }

/** As a server reads them. */
function parse(text: string): unknown {
  try {
    return (parseJson(`[${text}]`, LIMITS) as unknown[])[0]
  } catch {
    return undefined
  }
}

/** The same but for `-0`, which JSON writes as `0`. */
function isSame(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(withoutMinusZero(a), withoutMinusZero(b))
}

function withoutMinusZero(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMinusZero)
  if (value === null || typeof value !== 'object') return value === 0 ? 0 : value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutMinusZero(item)]))
}

async function run([token, method, target, args, principal]: readonly string[]): Promise<string> {
  const era = method === 'initialize' ? 'legacy' : 'modern'
  const binding: Binding = {
    era,
    method: method!,
    target: target!,
    arguments: parse(args!),
    principal: principal!,
  }
  const opened = await seal.open(token!, binding)
  const outcome = opened.ok ? 'opens' : opened.reason
  const good = GOOD.get(token!)
  if (opened.ok) {
    promise(good !== undefined, 'a token can be opened that was never sealed')
    promise(isSame(good, binding), 'a token opens for what it was not made for')
  }
  for (const prefix of ['mayfly1.', 'mayfly2.', ''])
    await sessions.read(prefix + token, prefix === '' ? undefined : seal, principal!)
  if (binding.arguments === undefined) return outcome
  const own = await seal.open(await seal.seal(binding.arguments, binding, LATER), binding)
  promise(own.ok, 'a token does not open')
  promise(JSON.stringify(own.value) === JSON.stringify(binding.arguments), 'a value comes back as another')
  promise(JSON.stringify(binding.arguments) !== undefined, 'JSON cannot be written')
  const rewritten = { ...binding, arguments: JSON.parse(JSON.stringify(binding.arguments)) as unknown }
  const elsewhere: Binding = { ...binding, era: era === 'modern' ? 'legacy' : 'modern' }
  for (const bound of [BINDING, rewritten, elsewhere]) {
    const other = await seal.open(await seal.seal(1, bound, LATER), binding)
    promise(other.ok === isSame(bound, binding), 'two bindings are not told apart')
  }
  return outcome
}

export const sealed: Target = {
  name: 'seal',
  seeds: [
    ...[...Object.values(SEALED), '', '1.'].map((token) => [token, 'tools/call', 'ask', '{"to":"bob"}', '']),
    [SEALED.foreign, 'tools/call', 'ask', '{"to":"eve"}', ''],
    [SEALED.principal, 'tools/call', 'ask', '{"to":"bob"}', 'desk ann'],
    [SEALED.session, 'initialize', '', '{}', ''],
    ['WyIyMDI1LTExLTI1IixudWxsLHt9XQ', 'initialize', '', '{}', ''],
  ],
  generate: (random) => [random.pick(Object.values(SEALED)), 'tools/call', 'ask', generateJson(random), ''],
  mutate: ([token, ...binding], [otherToken, ...other], random) => {
    if (random.chance(0.6)) return [mutateText(token!, otherToken!, random), ...binding]
    const at = random.int(binding.length)
    const change = at === 2 ? mutateJson : mutateText
    return [token!, ...binding.with(at, change(binding[at]!, other[at]!, random).slice(0, 4000))]
  },
  run,
}

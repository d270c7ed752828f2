/** Which session tokens are read, for how long, and what of them counts. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createTool } from '../../../src/index.ts'
import {
  type Binding,
  createSeal as createSealFor,
  type Opened,
  type Seal,
} from '../../../src/interaction/seal.ts'
import { createDeclaredTokens, type Declared } from '../../../src/protocol/declared-token.ts'
import { createServer, initialize, legacy, textOf } from '../_client.ts'

const createSeal = (secrets: readonly string[], id: string) => createSealFor(secrets, id, () => undefined)
const SECRET = 'a-secret-of-the-tests-that-is-long-enough'
const DAY_MS = 86_400_000
const NOW = 1_800_000_000_000

const session: Declared = {
  protocolVersion: '2025-06-18',
  clientInfo: { name: 'unit', version: '1' },
  clientCapabilities: { roots: {} },
}

const plain = (content: unknown) =>
  `mayfly1.${Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)).toString('base64url')}`

/** Seals nothing, and counts how often it opens. */
function createFakeSeal(value: unknown = ['2025-06-18', null, {}], expiresAt = Number.POSITIVE_INFINITY) {
  const opened: [token: string, binding: Binding][] = []
  const seal: Seal = {
    seal: async () => 'token',
    open: async (...args): Promise<Opened> => {
      opened.push(args)
      return { ok: true, value, id: '', expiresAt }
    },
  }
  return { seal, opened }
}

const readPlain = (token: string) => createDeclaredTokens().read(token, undefined, '')

afterEach(() => vi.useRealTimers())

describe('a plain token', () => {
  it('comes back as it was, without a secret', async () => {
    const tokens = createDeclaredTokens()
    const token = await tokens.write(session, undefined, 'ada')
    expect(token).toBe(plain(['2025-06-18', { name: 'unit', version: '1' }, { roots: {} }]))
    expect(tokens.read(token!, undefined, 'ada')).toEqual(session)
  })

  it('where a secret is set → none [legacy.session-token]', async () => {
    const tokens = createDeclaredTokens()
    const token = (await tokens.write(session, undefined, ''))!
    const { seal, opened } = createFakeSeal()
    expect(await tokens.read(token, seal, '')).toBeUndefined()
    expect(await tokens.read(token, createSeal([SECRET], 'server'), '')).toBeUndefined()
    expect(opened).toEqual([])
  })

  it.each<[string, unknown]>([
    ['a version to come', ['2027-01-01', null, {}]],
    ['the modern version', ['2026-07-28', null, {}]],
    ['an older version', ['2024-11-05', null, {}]],
    ['no version', ['x', null, {}]],
    ['a version that is no text', [5, null, {}]],
    ['no capabilities', ['2025-06-18', null]],
    ['capabilities that are null', ['2025-06-18', null, null]],
    ['capabilities that are a list', ['2025-06-18', null, []]],
    ['a capability that is no object', ['2025-06-18', null, { roots: true }]],
    ['no list', { 0: '2025-06-18', 1: null, 2: {} }],
    ['null', 'null'],
    ['no JSON', '['],
    ['an own __proto__', '["2025-06-18",null,{"__proto__":{"elicitation":{}}}]'],
    ['an own __proto__ deep inside', '["2025-06-18",null,{"roots":{"__proto__":{}}}]'],
    ['constructor.prototype', '["2025-06-18",null,{"constructor":{"prototype":{}}}]'],
    ['nesting', `["2025-06-18",null,{"roots":${'{"a":'.repeat(40)}{}${'}'.repeat(40)}}]`],
  ])('with %s → ignored [legacy.session-token]', (_label, content) => {
    expect(readPlain(plain(content))).toBeUndefined()
  })

  it.each(['2025-11-25', '2025-06-18', '2025-03-26'])('of %s → read', (version) => {
    expect(readPlain(plain([version, null, {}]))).toEqual({
      protocolVersion: version,
      clientInfo: undefined,
      clientCapabilities: {},
    })
  })

  it('of a client that does not name itself properly, or says more → counts for what is known', () => {
    expect(readPlain(plain(['2025-06-18', { name: 5, version: '1' }, {}]))).toMatchObject({
      clientInfo: undefined,
    })
    const wordy = ['2025-06-18', { name: 'a', version: '1', title: 'A' }, {}]
    expect(readPlain(plain(wordy))).toEqual({
      protocolVersion: '2025-06-18',
      clientInfo: { name: 'a', version: '1' },
      clientCapabilities: {},
    })
  })

  it.each([
    [2048, true],
    [2049, false],
  ])('of %i characters → %s, written and read', async (length, isToken) => {
    const tokens = createDeclaredTokens()
    const lengthOf = async (name: string) =>
      (await tokens.write({ ...session, clientInfo: { name, version: '1' } }, undefined, ''))?.length
    // Base64url has no length of 4 n + 1, and the prefix has 8.
    const name = 'n'.repeat(
      1530 - JSON.stringify(['2025-06-18', { name: '', version: '1' }, { roots: {} }]).length,
    )
    expect(await lengthOf(name)).toBe(2048)
    expect(await lengthOf(`${name}n`)).toBeUndefined()
    const padded = plain(`["2025-06-18",null,{}]${' '.repeat(length === 2048 ? 1508 : 1509)}`)
    expect(padded.length > 2048).toBe(!isToken)
    expect(tokens.read(padded, undefined, '') !== undefined).toBe(isToken)
  })

  it('with another prefix, or none → ignored', () => {
    const token = plain(['2025-06-18', null, {}])
    for (const text of [token.slice(8), token.replace('1', '2'), `x${token}`, 'mayfly1.', '', 'mayfly1.!'])
      expect(readPlain(text)).toBeUndefined()
    expect(createDeclaredTokens().read(null, undefined, '')).toBeUndefined()
  })
})

describe('a sealed token', () => {
  it('comes back as it was, for its caller and its secret alone', async () => {
    const tokens = createDeclaredTokens()
    const seal = createSeal([SECRET], 'server')
    const token = (await tokens.write(session, seal, 'ada'))!
    expect(token).toMatch(/^mayfly2\.1\./)
    expect(await tokens.read(token, seal, 'ada')).toEqual(session)
    expect(await tokens.read(token, seal, 'eve')).toBeUndefined()
    expect(await tokens.read(token, undefined, 'ada')).toBeUndefined()
    expect(await tokens.read(token, createSeal([`${SECRET}2`], 'server'), 'ada')).toBeUndefined()
  })

  it('is bound to initialize, to the era and to its caller, for 30 days', async () => {
    vi.useFakeTimers({ now: NOW, toFake: ['Date'] })
    const sealed: unknown[] = []
    const { seal, opened } = createFakeSeal()
    const spied: Seal = {
      ...seal,
      seal: async (...args) => {
        sealed.push(args)
        return 'token'
      },
    }
    const tokens = createDeclaredTokens()
    await tokens.write({ ...session, clientInfo: undefined }, spied, 'ada')
    await tokens.read('mayfly2.token', spied, 'ada')
    const binding = { era: 'legacy', method: 'initialize', target: '', arguments: {}, principal: 'ada' }
    expect(sealed).toEqual([[['2025-06-18', null, { roots: {} }], binding, NOW + 30 * DAY_MS]])
    expect(opened).toEqual([['token', binding]])
  })

  it.each([
    ['on its last millisecond', 0, true],
    ['a millisecond later', 1, false],
  ])('%s → %s, remembered or not [legacy.session-token]', async (_label, later, isRead) => {
    vi.useFakeTimers({ now: NOW, toFake: ['Date'] })
    const seal = createSeal([SECRET], 'server')
    const tokens = createDeclaredTokens()
    const token = (await tokens.write(session, seal, ''))!
    expect(await tokens.read(token, seal, '')).toEqual(session)
    vi.setSystemTime(NOW + 30 * DAY_MS + later)
    expect((await tokens.read(token, seal, '')) !== undefined).toBe(isRead)
    expect((await createDeclaredTokens().read(token, seal, '')) !== undefined).toBe(isRead)
  })

  it('that was read before → is not opened again, and is there at once', async () => {
    const { seal, opened } = createFakeSeal()
    const tokens = createDeclaredTokens()
    await tokens.read('mayfly2.a', seal, '')
    expect(tokens.read('mayfly2.a', seal, '')).toEqual({
      protocolVersion: '2025-06-18',
      clientInfo: undefined,
      clientCapabilities: {},
    })
    expect(opened).toHaveLength(1)
    await tokens.read('mayfly2.a', seal, 'ada')
    expect(opened).toHaveLength(2)
    await tokens.read('mayfly2.a', createFakeSeal().seal, '')
    expect(opened).toHaveLength(2)
  })

  it('is remembered beside 999 others, the oldest being forgotten first', async () => {
    const { seal, opened } = createFakeSeal()
    const tokens = createDeclaredTokens()
    for (let index = 0; index < 1000; index++) await tokens.read(`mayfly2.${index}`, seal, '')
    await tokens.read('mayfly2.0', seal, '')
    expect(opened).toHaveLength(1000)
    await tokens.read('mayfly2.1000', seal, '')
    await tokens.read('mayfly2.1', seal, '')
    expect(opened).toHaveLength(1001)
    await tokens.read('mayfly2.0', seal, '')
    expect(opened).toHaveLength(1002)
  })

  it.each<[string, unknown]>([
    ['no session', 'text'],
    ['nothing to look into', 5],
    ['another version', ['2026-07-28', null, {}]],
  ])('that holds %s → ignored, and not remembered', async (_label, value) => {
    const { seal, opened } = createFakeSeal(value)
    const tokens = createDeclaredTokens()
    expect(await tokens.read('mayfly2.a', seal, '')).toBeUndefined()
    expect(await tokens.read('mayfly2.a', seal, '')).toBeUndefined()
    expect(opened).toHaveLength(2)
  })

  it('of more than 2048 characters → not written, and not read', async () => {
    const long: Seal = { ...createFakeSeal().seal, seal: async () => 'x'.repeat(2041) }
    expect(await createDeclaredTokens().write(session, long, '')).toBeUndefined()
    const { seal, opened } = createFakeSeal()
    expect(await createDeclaredTokens().read(`mayfly2.${'x'.repeat(2041)}`, seal, '')).toBeUndefined()
    expect(opened).toEqual([])
    const fitting: Seal = { ...seal, seal: async () => 'x'.repeat(2040) }
    expect(await createDeclaredTokens().write(session, fitting, '')).toHaveLength(2048)
  })
})

describe('a server with a secret', () => {
  it('serves a client with a plain token as one that said nothing [legacy.session-token]', async () => {
    const who = createTool({ id: 'who', execute: (_i, ctx) => JSON.stringify(ctx.clientCapabilities) })
    const config = { tools: { who } }
    const token = (await initialize(createServer(config), { capabilities: { roots: {} } })).headers.get(
      'mcp-session-id',
    )!
    expect(token).toMatch(/^mayfly1\./)
    const headers = { 'mcp-session-id': token }
    expect(textOf(await legacy(createServer(config), 'tools/call', { name: 'who' }, { headers }))).toBe(
      '{"roots":{}}',
    )
    const guarded = createServer({ ...config, secret: SECRET })
    expect(textOf(await legacy(guarded, 'tools/call', { name: 'who' }, { headers }))).toBe('{}')
  })
})

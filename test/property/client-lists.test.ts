/** Whatever a server lists, in any place of it: what is good is listed, and all that is listed can be served on. */
import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { MCPClient, type MCPClientError } from '../../src/client.ts'
import { MCPServer } from '../../src/index.ts'
import { answerOf, type JsonObject, legacyRequest, modernRequest } from './_client.ts'
import { check } from './_seeded.ts'

type Era = 'legacy' | 'modern'

/** Names that mean something to somebody on the way. */
const key = fc.oneof(
  fc.constantFrom(
    ...[
      '__proto__',
      'constructor',
      'toString',
      'valueOf',
      'toJSON',
      'then',
      'length',
      'name',
      'title',
      'type',
    ],
    ...[
      'properties',
      'required',
      'items',
      'additionalProperties',
      'anyOf',
      'oneOf',
      '$ref',
      '$defs',
      '$schema',
    ],
    ...[
      'x-mcp-header',
      'description',
      'inputSchema',
      'outputSchema',
      'annotations',
      'icons',
      '_meta',
      '~standard',
    ],
    ...['uri', 'uriTemplate', 'arguments', 'execution', 'taskSupport', 'enum', 'const', 'default', 'pattern'],
  ),
  fc.string({ maxLength: 6 }),
)
const scalar = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    1e21,
    '',
    'object',
    'array',
    'string',
    'integer',
    'X',
    'x',
  ),
  fc.constantFrom<unknown>(
    '#',
    '#/properties/a',
    '(',
    'a\nb',
    '\u202e',
    '\ud800',
    'https://json-schema.org/x',
  ),
  fc.string({ maxLength: 8 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('json'), { maxLength: 3 }),
    // As a parser makes it: `__proto__` is a member like any other.
    fc.array(fc.tuple(key, tie('json')), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
  ),
}))

type Path = readonly string[]

interface Change {
  /** Where, in an item as it should be. */
  readonly path: Path
  /** The member that is added there; `undefined`: what is there is replaced. */
  readonly added: string | undefined
  readonly value: unknown
}

/** Every place within a value, itself included. */
function placesIn(value: unknown, path: Path = []): Path[] {
  if (value === null || typeof value !== 'object') return [path]
  return [path, ...Object.entries(value).flatMap(([name, member]) => placesIn(member, [...path, name]))]
}

const changesOf = (item: object): fc.Arbitrary<Change[]> =>
  fc.array(
    fc.record({
      path: fc.constantFrom(...placesIn(item)),
      added: fc.option(key, { nil: undefined, freq: 1 }),
      value: fc.oneof(fc.constant(null), scalar, json),
    }),
    { minLength: 1, maxLength: 3 },
  )

function changed(value: unknown, change: Change): unknown {
  const { path, added, value: there } = change
  const [step, ...rest] = path
  if (step === undefined && added === undefined) return there
  if (value === null || typeof value !== 'object') return value
  if (step === undefined) return Object.fromEntries([...Object.entries(value), [added, there]])
  const members = Object.entries(value).map(([name, member]) => [
    name,
    name === step ? changed(member, { ...change, path: rest }) : member,
  ])
  return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members)
}

const ICONS = [{ src: 'https://a.example/i.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'dark' }]
const TOOL = {
  name: 'tool',
  title: 'A tool',
  description: 'What it does',
  inputSchema: {
    type: 'object',
    properties: {
      a: { type: 'string', description: 'A', 'x-mcp-header': 'A' },
      b: { type: 'object', properties: { c: { type: 'integer', 'x-mcp-header': 'C' } } },
      d: { type: 'array', items: { type: 'string' } },
    },
    required: ['a'],
  },
  outputSchema: { type: 'object', properties: { r: { type: 'number' } }, required: ['r'] },
  annotations: { title: 'T', readOnlyHint: true },
  execution: { taskSupport: 'optional' },
  icons: ICONS,
  _meta: { a: 1 },
}
const ANNOTATIONS = { audience: ['user'], priority: 1, lastModified: '2026-07-28T00:00:00Z' }
const RESOURCE = { name: 'r', title: 'R', description: 'R', mimeType: 'text/plain', annotations: ANNOTATIONS }
const LISTS = {
  'resources/list': ['resources', { ...RESOURCE, uri: 'a://b', size: 1, icons: ICONS, _meta: {} }],
  'resources/templates/list': ['resourceTemplates', { ...RESOURCE, uriTemplate: 'a://{b}', icons: ICONS }],
  'prompts/list': [
    'prompts',
    { name: 'p', title: 'P', arguments: [{ name: 'a', description: 'A', required: true }], icons: ICONS },
  ],
} as const

const era = fc.constantFrom<Era>('legacy', 'modern')

/** A client of a server in process that answers `method` with `items` under `member`, and what it reports. */
function openClient(server: Era, method: string, member: string, items: readonly unknown[]) {
  const reported: MCPClientError[] = []
  const capabilities = { tools: {}, resources: {}, prompts: {} }
  const serverInfo = { name: 's', version: '1' }
  const results: { readonly [method: string]: object } = {
    ...(server === 'modern'
      ? { 'server/discover': { supportedVersions: ['2026-07-28'], capabilities } }
      : { initialize: { protocolVersion: '2025-11-25', capabilities, serverInfo } }),
    [method]: { [member]: items },
    'tools/call': { content: [{ type: 'text', text: 'good' }] },
  }
  const answer = (body: string): Response => {
    const { id, method: asked = '' } = JSON.parse(body) as { id?: number; method?: string }
    if (id === undefined) return new Response(null, { status: 202 })
    const result = Object.hasOwn(results, asked) ? results[asked] : undefined
    if (result === undefined) {
      return Response.json({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } })
    }
    const extra = server === 'modern' && { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
    return Response.json({ jsonrpc: '2.0', id, result: { ...extra, ...result } })
  }
  const client = new MCPClient({
    id: crypto.randomUUID(),
    servers: {
      s: {
        url: 'https://s.example/mcp',
        fetch: async (_url, init) =>
          init?.method === 'POST' ? answer(String(init.body)) : new Response(null, { status: 405 }),
      },
    },
    onError: (error) => reported.push(error),
  })
  return { client, reported }
}

function spyOnConsole(): { clear(): void; calls(): unknown[] } {
  const spies = (['warn', 'error', 'debug'] as const).map((method) =>
    vi.spyOn(console, method).mockImplementation(() => {}),
  )
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore()
  })
  return {
    clear: () => {
      for (const spy of spies) spy.mockClear()
    },
    calls: () => spies.flatMap(({ mock }) => mock.calls),
  }
}

const GOOD = { name: 'good', inputSchema: { type: 'object' } }

test('any JSON in any place of a tool: the other is listed, and a gateway serves what is listed', async () => {
  const console = spyOnConsole()
  await check(
    fc.asyncProperty(era, changesOf(TOOL), async (server, changes) => {
      console.clear()
      const strange = changes.reduce<unknown>(changed, TOOL)
      const { client, reported } = openClient(server, 'tools/list', 'tools', [strange, GOOD])
      try {
        const tools = await client.listTools()

        expect(Object.keys(tools)).toContain('s_good')
        const codes = reported.map(({ code }) => code)
        expect(codes.filter((code) => code !== 'MALFORMED' && code !== 'NAME_COLLISION')).toEqual([])
        expect(console.calls()).toEqual([])
        await expectServed(tools)
      } finally {
        await client.disconnect()
      }
    }),
    800,
  )
})

async function expectServed(tools: Awaited<ReturnType<MCPClient['listTools']>>): Promise<void> {
  const faults: unknown[] = []
  const gateway = new MCPServer({
    id: 'gate',
    name: 'Gate',
    version: '1.0.0',
    log: false,
    secret: 'a secret of more than 32 characters',
    // Changes the schemas that legacy clients see.
    legacy: 'arguments',
    tools,
    onError: (error) => faults.push(error),
  })
  const names = Object.keys(tools)
  for (const request of [legacyRequest, modernRequest]) {
    const { status, result } = await answerOf(await gateway.fetch(request('tools/list')))
    expect([status, (result?.tools as JsonObject[] | undefined)?.map(({ name }) => name)]).toEqual([
      200,
      names,
    ])
    const called = await answerOf(await gateway.fetch(request('tools/call', { params: { name: 's_good' } })))
    expect(called).toMatchObject({ status: 200, result: { content: [{ text: 'good' }] } })
  }
  const page = await gateway.fetch(
    new Request('https://mcp.example/mcp', { headers: { accept: 'text/html' } }),
  )
  expect(page.status).toBe(200)
  expect(await page.text()).toContain('s_good')
  expect(faults).toEqual([])
}

test.each(Object.entries(LISTS))(
  'any JSON in any place of an item of %s: the others are listed',
  async (method, [member, item]) => {
    const console = spyOnConsole()
    const good = { ...item, name: 'good', ...('uri' in item && { uri: 'good://' }) }
    await check(
      fc.asyncProperty(era, changesOf(item), async (server, changes) => {
        console.clear()
        const strange = changes.reduce<unknown>(changed, item)
        const { client, reported } = openClient(server, method, member, [strange, good])
        try {
          const { resources, prompts } = client
          const { s: listed = [] } = await {
            'resources/list': () => resources.list(),
            'resources/templates/list': () => resources.templates(),
            'prompts/list': () => prompts.list(),
          }[method as keyof typeof LISTS]()

          expect(listed.map(({ name }) => name)).toContain('good')
          expect(reported.filter(({ code }) => code !== 'MALFORMED')).toEqual([])
          expect(console.calls()).toEqual([])
        } finally {
          await client.disconnect()
        }
      }),
      500,
    )
  },
  60_000,
)

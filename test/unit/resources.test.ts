import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createResource, ErrorCode, ProtocolError, type ResourceCallbacks } from '../../src/index.ts'
import { type Answer, createServer, itemsIn, legacy, modern, namesIn } from './_client.ts'

const readme = createResource({
  uri: 'docs://readme',
  name: 'Readme',
  title: 'Read me',
  description: 'First steps',
  mimeType: 'text/markdown',
  size: 7,
  annotations: { audience: ['user'], priority: 0.5 },
  icons: [{ src: 'data:,' }],
  _meta: { 'mcp.example/k': 1 },
  read: () => '# Hello',
})
const user = createResource({
  uriTemplate: 'users://{id}{?fields}',
  name: 'User',
  mimeType: 'application/json',
  read: ({ uri, variables }) => JSON.stringify({ uri, ...variables }),
})

const read = (uri: string, server = createServer({ resources: [readme, user] })): Promise<Answer> =>
  modern(server, 'resources/read', { uri })

const contentsOf = (answer: Answer) => itemsIn(answer, 'contents')

let reported: ReturnType<typeof vi.spyOn>
beforeEach(() => {
  reported = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  return () => reported.mockRestore()
})

describe('declared resources', () => {
  it.each([modern, legacy])(
    'are listed with all they declare, templates apart [resources.list]',
    async (call) => {
      const server = createServer({ resources: [readme, user] })
      const { read: _, ...facts } = readme
      expect(itemsIn(await call(server, 'resources/list'), 'resources')).toEqual([facts])
      expect(itemsIn(await call(server, 'resources/templates/list'), 'resourceTemplates')).toEqual([
        { uriTemplate: 'users://{id}{?fields}', name: 'User', mimeType: 'application/json' },
      ])
    },
  )

  it('in a record → named by their keys; registered ones come last [resources.list]', async () => {
    const server = createServer({ resources: { first: { uri: 'a://1', read: () => '' } } })
    server.registerResource({ uri: 'a://2', read: () => '' })
    expect(namesIn(await modern(server, 'resources/list'), 'resources')).toEqual(['first', 'a://2'])
  })

  it.each([modern, legacy])('text → text, with URI and MIME type [resources.read]', async (call) => {
    const answer = await call(createServer({ resources: [readme] }), 'resources/read', {
      uri: 'docs://readme',
    })
    expect(contentsOf(answer)).toEqual([{ uri: 'docs://readme', mimeType: 'text/markdown', text: '# Hello' }])
  })

  it('bytes → base64, however many [resources.read]', async () => {
    const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => index % 256)
    const server = createServer({ resources: [{ uri: 'a://b', mimeType: 'image/png', read: () => bytes }] })
    const [part] = contentsOf(await read('a://b', server))
    expect(part).toMatchObject({ uri: 'a://b', mimeType: 'image/png' })
    expect(Buffer.from(String(part?.blob), 'base64').equals(bytes)).toBe(true)
  })

  it.each([
    ['one part', { blob: 'AAAA', mimeType: 'audio/wav' }],
    ['parts', [{ blob: 'AAAA', mimeType: 'audio/wav' }]],
    ['a whole result', { contents: [{ blob: 'AAAA', mimeType: 'audio/wav' }] }],
  ])('%s → as it is, under the URI asked for [resources.read]', async (_kind, output) => {
    const server = createServer({ resources: [{ uri: 'a://b', mimeType: 'image/png', read: () => output }] })
    expect(contentsOf(await read('a://b', server))).toEqual([
      { uri: 'a://b', mimeType: 'audio/wav', blob: 'AAAA' },
    ])
  })

  it('parts may have URIs and _meta of their own [resources.read]', async () => {
    const parts = [
      { uri: 'a://b/1', text: 'one', _meta: { n: 1 } },
      { uri: 'a://b/2', text: 'two' },
    ]
    const server = createServer({ resources: [{ uri: 'a://b', read: () => parts }] })
    expect(contentsOf(await read('a://b', server))).toEqual(parts)
  })

  it.each([
    ['users://42', { id: '42' }],
    ['users://a%20b%2Fc', { id: 'a b/c' }],
    ['users://42?fields=name,mail', { id: '42', fields: 'name,mail' }],
    ['users://%E4%B8%96', { id: '世' }],
  ])('%s → read with its decoded variables [resources.template]', async (uri, variables) => {
    const [part] = contentsOf(await read(uri))
    expect(part).toMatchObject({ uri, mimeType: 'application/json' })
    expect(JSON.parse(String(part?.text))).toEqual({ uri, ...variables })
  })

  it('a fixed URI wins over a template that matches it [resources.template]', async () => {
    const fixed = createResource({ uri: 'users://me', read: () => 'me' })
    const [part] = contentsOf(await read('users://me', createServer({ resources: [user, fixed] })))
    expect(part?.text).toBe('me')
  })

  it('the first template that matches wins over the next [resources.template]', async () => {
    const [narrow, wide] = ['users://me/{id}', 'users://{+path}'].map((uriTemplate) =>
      createResource({ uriTemplate, read: () => uriTemplate }),
    )
    const textFrom = async (...resources: (typeof narrow)[]) =>
      contentsOf(await read('users://me/1', createServer({ resources: resources as never })))[0]?.text
    expect(await textFrom(narrow, wide)).toBe('users://me/{id}')
    expect(await textFrom(wide, narrow)).toBe('users://{+path}')
  })

  it.each([
    ['{+path}', 'f://a/b.txt', { path: 'a/b.txt' }],
    ['{/a,b}', 'f:///x/y', { a: 'x', b: 'y' }],
    ['x{.ext}', 'f://x.md', { ext: 'md' }],
    ['x{;v}', 'f://x;v=2', { v: '2' }],
    ['x{#part}', 'f://x#two', { part: 'two' }],
    ['x{?a,b*}', 'f://x?a=1&b=2', { a: '1', b: '2' }],
    ['x?z=0{&a}', 'f://x?z=0&a=1', { a: '1' }],
    ['{a}.{b:3}', 'f://one.two', { a: 'one', b: 'two' }],
  ])('RFC 6570 %s matches %s [resources.template]', async (expression, uri, variables) => {
    const template = createResource({
      uriTemplate: `f://${expression}`,
      read: (request) => JSON.stringify(request.variables),
    })
    const [part] = contentsOf(await read(uri, createServer({ resources: [template] })))
    expect(JSON.parse(String(part?.text))).toEqual(variables)
  })

  it.each(['users://', 'users://a/b', 'users://%zz', 'users://%ff', `users://${'9'.repeat(5000)}`])(
    '%s matches no template → unknown [resources.template] [resources.unknown-modern]',
    async (uri) => {
      expect((await read(uri)).error).toMatchObject({ code: ErrorCode.invalidParams, data: { uri } })
    },
  )

  it('several variables in one segment → each takes as much as it can [resources.template]', async () => {
    const log = createResource({
      uriTemplate: 'log://{year}-{month}',
      read: ({ variables }) => JSON.stringify(variables),
    })
    const server = createServer({ resources: [log] })
    const [part] = contentsOf(await read('log://a-b-c', server))
    expect(JSON.parse(String(part?.text))).toEqual({ year: 'a-b', month: 'c' })
  })

  it('a read that throws → -32603 without its text, reported [faults.hidden] [faults.reported]', async () => {
    const broken = createResource({
      uri: 'a://b',
      read: () => {
        throw new Error('password is hunter2')
      },
    })
    const { status, error } = await read('a://b', createServer({ resources: [broken] }))
    expect([status, error]).toEqual([200, { code: ErrorCode.internal, message: 'Internal error' }])
    expect(String(reported.mock.calls[0]?.[0])).toContain('hunter2')
  })

  it('a read that throws a ProtocolError → that', async () => {
    const gone = createResource({
      uriTemplate: 'a://{id}',
      read: ({ uri }) => {
        throw new ProtocolError(ErrorCode.invalidParams, 'Gone', { uri })
      },
    })
    const { error } = await read('a://1', createServer({ resources: [gone] }))
    expect(error).toEqual({ code: ErrorCode.invalidParams, message: 'Gone', data: { uri: 'a://1' } })
  })
})

describe('an unknown URI', () => {
  it('modern → -32602 with data.uri [resources.unknown-modern]', async () => {
    const { status, error } = await read('docs://nothing')
    expect(status).toBe(200)
    expect(error).toMatchObject({ code: -32_602, data: { uri: 'docs://nothing' } })
  })

  it('legacy → -32002 with data.uri [resources.unknown-legacy]', async () => {
    const server = createServer({ resources: [readme] })
    const { status, error } = await legacy(server, 'resources/read', { uri: 'docs://nothing' })
    expect(status).toBe(200)
    expect(error).toMatchObject({ code: -32_002, data: { uri: 'docs://nothing' } })
  })

  it.each([undefined, null])(
    'callbacks that return %j → the same [resources.unknown-modern]',
    async (nothing) => {
      const resources: ResourceCallbacks = {
        listResources: () => [],
        getResourceContent: async () => nothing,
      }
      const { error } = await read('notes://9', createServer({ resources }))
      expect(error).toMatchObject({ code: ErrorCode.invalidParams, data: { uri: 'notes://9' } })
    },
  )

  it.each([undefined, 5, null])('uri %j → -32602 [malformed.params]', async (uri) => {
    const answer = await modern(createServer({ resources: [readme] }), 'resources/read', { uri })
    expect([answer.status, answer.error?.code]).toEqual([200, ErrorCode.invalidParams])
  })
})

describe('callbacks', () => {
  it('list, list templates and read, each told who asks [resources.callbacks]', async () => {
    const resources = {
      listResources: vi.fn(async () => [{ uri: 'notes://1', name: 'One' }]),
      resourceTemplates: vi.fn(() => [{ uriTemplate: 'notes://{id}', name: 'Note' }]),
      getResourceContent: vi.fn(async () => ({ text: 'Buy milk' })),
    } satisfies ResourceCallbacks
    const server = createServer({ resources })
    expect(namesIn(await modern(server, 'resources/list'), 'resources')).toEqual(['One'])
    expect(namesIn(await modern(server, 'resources/templates/list'), 'resourceTemplates')).toEqual(['Note'])
    expect(contentsOf(await read('notes://1', server))).toEqual([{ uri: 'notes://1', text: 'Buy milk' }])
    const request = { context: expect.objectContaining({ era: 'modern' }) }
    expect(resources.listResources).toHaveBeenCalledExactlyOnceWith(request)
    expect(resources.resourceTemplates).toHaveBeenCalledExactlyOnceWith(request)
    expect(resources.getResourceContent).toHaveBeenCalledExactlyOnceWith({ uri: 'notes://1', ...request })
  })

  it('without resourceTemplates → an empty list of them [resources.callbacks]', async () => {
    const resources: ResourceCallbacks = { listResources: () => [], getResourceContent: () => 'x' }
    const answer = await modern(createServer({ resources }), 'resources/templates/list')
    expect(answer.result?.resourceTemplates).toEqual([])
  })

  it('stand beside registered resources, which come first [resources.callbacks]', async () => {
    const server = createServer({
      resources: {
        listResources: () => [{ uri: 'b://', name: 'called' }],
        getResourceContent: () => 'called',
      },
    })
    server.registerResource({ uri: 'a://', name: 'registered', read: () => 'registered' })
    expect(namesIn(await modern(server, 'resources/list'), 'resources')).toEqual(['registered', 'called'])
    expect(contentsOf(await read('a://', server))[0]?.text).toBe('registered')
    expect(contentsOf(await read('b://', server))[0]?.text).toBe('called')
  })
})

import { describe, expect, it } from 'vitest'
import { createResource, createTool, ErrorCode, type MCPServer } from '../../src/index.ts'
import { type Answer, createServer, legacy, modern, namesIn } from './_client.ts'

const count = 7
const numbers = Array.from({ length: count }, (_, index) => index)
const record = <Value>(value: (index: number) => Value): Record<string, Value> =>
  Object.fromEntries(numbers.map((index) => [`n${index}`, value(index)]))

function fixture(pageSize?: number): MCPServer {
  return createServer({
    ...(pageSize !== undefined && { pageSize }),
    tools: record((index) => createTool({ id: `n${index}`, execute: () => '' })),
    prompts: record(() => ({ get: () => '' })),
    resources: [
      ...numbers.map((index) => createResource({ uri: `a://${index}`, name: `n${index}`, read: () => '' })),
      ...numbers.map((index) =>
        createResource({ uriTemplate: `a://${index}/{id}`, name: `n${index}`, read: () => '' }),
      ),
    ],
  })
}

const LISTS = [
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
] as const

async function allPages(server: MCPServer, method: string, call = modern): Promise<Answer[]> {
  const pages = [await call(server, method)]
  for (
    let cursor = pages[0]?.result?.nextCursor;
    cursor !== undefined;
    cursor = pages.at(-1)?.result?.nextCursor
  ) {
    expect(cursor).toBeTypeOf('string')
    pages.push(await call(server, method, { cursor }))
  }
  return pages
}

describe.each(LISTS)('%s', (method, list) => {
  it.each([1, 3, 6])('in pages of %i → everything once, in order [pagination.pages]', async (pageSize) => {
    const pages = await allPages(fixture(pageSize), method)
    expect(pages).toHaveLength(Math.ceil(count / pageSize))
    expect(pages.flatMap((page) => namesIn(page, list))).toEqual(numbers.map((index) => `n${index}`))
    for (const page of pages) expect(namesIn(page, list).length).toBeLessThanOrEqual(pageSize)
  })

  it.each([7, 8, undefined])(
    'with a page size of %s → one page, no cursor [pagination.pages]',
    async (pageSize) => {
      const [page, ...more] = await allPages(fixture(pageSize), method)
      expect(namesIn(page!, list)).toHaveLength(count)
      expect(page?.result).not.toHaveProperty('nextCursor')
      expect(more).toEqual([])
    },
  )

  it('legacy pages as well [pagination.pages]', async () => {
    const pages = await allPages(fixture(3), method, legacy)
    expect(pages.flatMap((page) => namesIn(page, list))).toHaveLength(count)
  })

  it.each(['', 'nonsense', 'p0', 'p1', 'p4', 'p9', 'p-3', 'p3.0', 'p03', 'P3', 'p9999999999'])(
    'the cursor %j → -32602 [pagination.cursor]',
    async (cursor) => {
      const { status, error } = await modern(fixture(3), method, { cursor })
      expect([status, error?.code]).toEqual([200, ErrorCode.invalidParams])
    },
  )

  it.each([3, null, {}])(
    'the cursor %j, no string → -32602 [pagination.cursor] [malformed.params]',
    async (cursor) => {
      expect((await modern(fixture(3), method, { cursor })).error?.code).toBe(ErrorCode.invalidParams)
    },
  )

  it('every page carries the same hints [pagination.scope]', async () => {
    const hints = (await allPages(fixture(2), method)).map(({ result }) => [
      result?.ttlMs,
      result?.cacheScope,
    ])
    expect(new Set(hints.map(String))).toEqual(new Set(['60000,public']))
  })
})

describe('lists that depend on the request', () => {
  it('pages of what setup leaves, private all of them [pagination.pages] [pagination.scope]', async () => {
    const tools = record((index) => createTool({ id: `n${index}`, execute: () => '' }))
    const server = createServer({ tools, pageSize: 3, setup: (request) => request.tool('n1').remove() })
    const pages = await allPages(server, 'tools/list')
    expect(pages.flatMap((page) => namesIn(page))).toEqual(['n0', 'n2', 'n3', 'n4', 'n5', 'n6'])
    expect(pages.map(({ result }) => result?.cacheScope)).toEqual(['private', 'private'])
  })

  it('pages across declared items and those of callbacks [pagination.pages]', async () => {
    const server = createServer({
      pageSize: 3,
      resources: {
        listResources: () => numbers.map((index) => ({ uri: `a://${index}`, name: `called${index}` })),
        getResourceContent: () => '',
      },
    })
    server.registerResource({ uri: 'b://1', name: 'registered', read: () => '' })
    const pages = await allPages(server, 'resources/list')
    expect(pages.flatMap((page) => namesIn(page, 'resources'))).toEqual([
      'registered',
      ...numbers.map((index) => `called${index}`),
    ])
  })
})

it('a page has 1000 items where nothing else is said [pagination.pages]', async () => {
  const tools = Object.fromEntries(
    Array.from({ length: 1001 }, (_, index) => [`n${index}`, createTool({ id: 'n', execute: () => '' })]),
  )
  const pages = await allPages(createServer({ tools }), 'tools/list')
  expect(pages.map((page) => namesIn(page).length)).toEqual([1000, 1])
})

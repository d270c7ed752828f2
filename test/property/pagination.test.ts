/** Walking a list page by page, whatever its length and the size of its pages. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MCPServer } from '../../src/index.ts'
import { type Answer, answerOf, legacyRequest, modernRequest } from './_client.ts'
import { check } from './_seeded.ts'

const LISTS = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
} as const

type ListMethod = keyof typeof LISTS

interface Catalogue {
  /** How many of each kind. */
  readonly size: number
  /** How many of the resources, templates and prompts come from callbacks, not from declarations. */
  readonly fromCallbacks: boolean
  readonly pageSize: number
  /** Tools that `setup` hides, by index. */
  readonly hidden: ReadonlySet<number>
}

const nameOf = (index: number): string => `item-${index}`

function createServer({ size, fromCallbacks, pageSize, hidden }: Catalogue): MCPServer {
  const names = Array.from({ length: size }, (_, index) => nameOf(index))
  const templates = names.map((name) => ({ name, uriTemplate: `${name}://{x}` }))
  const resources = names.map((name) => ({ name, uri: `list://${name}` }))
  const server = new MCPServer({
    id: 'catalogue',
    name: 'Catalogue',
    version: '1.0.0',
    pageSize,
    log: false,
    ...(hidden.size > 0 && {
      setup: (scope) => {
        for (const index of hidden) scope.tool(nameOf(index)).disable()
      },
    }),
    ...(fromCallbacks && {
      resources: {
        listResources: () => resources,
        resourceTemplates: () => templates,
        getResourceContent: () => undefined,
      },
      prompts: { listPrompts: () => names.map((name) => ({ name })), getPromptMessages: () => '' },
    }),
  })
  for (const name of names) server.registerTool(name, {}, () => name)
  if (fromCallbacks) return server
  for (const resource of [...resources, ...templates])
    server.registerResource({ ...resource, read: () => '' })
  for (const name of names) server.registerPrompt(name, { get: () => '' })
  return server
}

const catalogue = fc
  .record({
    size: fc.integer({ min: 1, max: 40 }),
    fromCallbacks: fc.boolean(),
    pageSize: fc.integer({ min: 1, max: 45 }),
  })
  .chain((fixed) =>
    fc
      .uniqueArray(fc.integer({ min: 0, max: fixed.size - 1 }), { maxLength: 5 })
      .map((hidden): Catalogue => ({ ...fixed, hidden: new Set(hidden) })),
  )

const method = fc.constantFrom(...(Object.keys(LISTS) as ListMethod[]))
const era = fc.constantFrom(modernRequest, legacyRequest)

async function list(
  server: MCPServer,
  request: typeof modernRequest,
  method: ListMethod,
  cursor?: unknown,
): Promise<Answer> {
  return answerOf(await server.fetch(request(method, { params: cursor === undefined ? {} : { cursor } })))
}

async function walk(server: MCPServer, request: typeof modernRequest, method: ListMethod, limit: number) {
  const pages: string[][] = []
  const cursors: string[] = []
  let cursor: string | undefined
  do {
    const { result } = await list(server, request, method, cursor)
    pages.push((result![LISTS[method]] as { name: string }[]).map(({ name }) => name))
    cursor = result!.nextCursor as string | undefined
    if (cursor !== undefined) cursors.push(cursor)
  } while (cursor !== undefined && pages.length <= limit)
  return { pages, cursors }
}

function visible({ size, hidden }: Catalogue, method: ListMethod): string[] {
  const all = Array.from({ length: size }, (_, index) => index)
  return all.filter((index) => method !== 'tools/list' || !hidden.has(index)).map(nameOf)
}

function isPages(drawn: unknown): drawn is { pages: number } {
  return typeof (drawn as { pages?: unknown } | null)?.pages === 'number'
}

describe('pagination', () => {
  test('following the cursors → every item once, in order, in full pages', async () => {
    await check(
      fc.asyncProperty(catalogue, method, era, async (given, method, request) => {
        const expected = visible(given, method)
        const { pages } = await walk(createServer(given), request, method, expected.length)
        expect(pages.flat()).toEqual(expected)
        expect(pages.slice(0, -1).every((page) => page.length === given.pageSize)).toBe(true)
        expect(pages.length).toBe(Math.max(1, Math.ceil(expected.length / given.pageSize)))
      }),
      150,
    )
  })

  test('a cursor that was not given out → -32602', async () => {
    const nearMiss = fc.constantFrom('p0', 'p1', 'p2', 'p3', 'p-1', 'P1', 'p01', 'p1 ', 'p1e1', '1')
    const garbage = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), nearMiss)
    const noString = fc.constantFrom(0, 1, null, true, [], {})
    await check(
      fc.asyncProperty(
        catalogue,
        method,
        era,
        fc.oneof(
          garbage,
          noString,
          fc.nat({ max: 60 }).map((pages) => ({ pages })),
        ),
        async (given, method, request, drawn) => {
          // Where a page would start, if there were that many.
          const cursor = isPages(drawn) ? `p${drawn.pages * given.pageSize}` : drawn
          const server = createServer(given)
          const { cursors } = await walk(server, request, method, given.size)
          fc.pre(!cursors.includes(cursor as string))
          const { status, error, result } = await list(server, request, method, cursor)
          expect({ status, code: error?.code, result }).toEqual({
            status: 200,
            code: -32602,
            result: undefined,
          })
        },
      ),
      200,
    )
  })
})

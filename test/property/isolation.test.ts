/**
 * Interleaved requests on one server: each sees its own overlay, context and notifications, and none of the others'.
 * The scheduler decides who goes on at every turn, so that an order that leaks is found and shrunk.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createTool, MCPServer, type McpContext, type RequestServer } from '../../src/index.ts'
import { answerOf, legacyRequest, modernRequest } from './_client.ts'
import { check } from './_seeded.ts'

const NAMES = ['alpha', 'beta', 'hidden'] as const
type Name = (typeof NAMES)[number]

type Change = 'keep' | 'enable' | 'disable' | 'update' | 'remove' | 'replace'

/** One request, and what `setup` does to the server it sees. */
interface Visit {
  readonly era: 'modern' | 'legacy'
  readonly changes: { readonly [N in Name]: Change }
  readonly registers: boolean
  readonly asks: 'list' | Name | 'extra'
  readonly wantsLogs: boolean
  readonly wantsProgress: boolean
  /** The client goes away while the tool runs. */
  readonly leaves: boolean
}

const change = fc.constantFrom<Change>('keep', 'enable', 'disable', 'update', 'remove', 'replace')

const visit: fc.Arbitrary<Visit> = fc.record({
  era: fc.constantFrom('modern', 'legacy'),
  changes: fc.record({ alpha: change, beta: change, hidden: change }),
  registers: fc.boolean(),
  asks: fc.constantFrom('list', ...NAMES, 'extra'),
  wantsLogs: fc.boolean(),
  wantsProgress: fc.boolean(),
  leaves: fc.nat({ max: 5 }).map((dice) => dice === 0),
})

/** What the overlay of a visit amounts to: tool names with the label each one carries. */
function expectedTools({ changes, registers }: Visit, index: number): Map<string, string> {
  const tools = new Map<string, { label: string; isEnabled: boolean }>(
    NAMES.map((name) => [name, { label: name, isEnabled: name !== 'hidden' }]),
  )
  for (const name of NAMES) {
    const tool = tools.get(name)!
    if (changes[name] === 'enable') tool.isEnabled = true
    if (changes[name] === 'disable') tool.isEnabled = false
    if (changes[name] === 'update') tool.label = `${name} updated for ${index}`
    if (changes[name] === 'remove' || changes[name] === 'replace') tools.delete(name)
    if (changes[name] === 'replace')
      tools.set(name, { label: `${name} replaced for ${index}`, isEnabled: true })
  }
  if (registers) tools.set('extra', { label: `extra for ${index}`, isEnabled: true })
  const visible = [...tools].filter(([, { isEnabled }]) => isEnabled)
  return new Map(visible.map(([name, { label }]) => [name, label]))
}

interface Ground {
  readonly server: MCPServer
  /** By index of the visit. */
  readonly signals: Map<number, AbortSignal>
  /** What `ctx.requestId` was in each answered visit. */
  readonly requestIds: Set<unknown>
}

/** @param turn resolves when the scheduler lets the caller go on. */
function createGround(visits: readonly Visit[], turn: () => Promise<void>): Ground {
  const signals = new Map<number, AbortSignal>()
  const work =
    (label: string) =>
    async ({ visitor }: { visitor: number }, context: McpContext) => {
      signals.set(visitor, context.signal)
      await turn()
      context.log('info', { visitor })
      await turn()
      context.reportProgress({ progress: visitor })
      context.waitUntil(Promise.resolve(visitor))
      await turn()
      const { requestId, era, clientInfo, auth, env } = context
      return {
        label,
        visitor,
        requestId,
        era,
        client: clientInfo?.name,
        auth: auth ?? null,
        tenant: env.tenant,
      }
    }
  const inputSchema = z.object({ visitor: z.number() })
  const tool = (name: Name) =>
    createTool({
      id: name,
      description: name,
      inputSchema,
      enabled: name !== 'hidden',
      execute: work(name),
    })
  const replace = (scope: RequestServer, name: string, label: string): void => {
    scope.registerTool(name, { description: label, inputSchema }, work(label))
  }
  const setup = async (scope: RequestServer, request: Request): Promise<void> => {
    const header = request.headers.get('x-visit')
    if (header === null) return
    const index = Number(header)
    const { changes, registers } = visits[index]!
    for (const name of NAMES) {
      await turn()
      const handle = scope.tool(name)
      if (changes[name] === 'enable') handle.enable()
      if (changes[name] === 'disable') handle.disable()
      const label = `${name} updated for ${index}`
      if (changes[name] === 'update') handle.update({ description: label, execute: work(label) })
      if (changes[name] === 'remove' || changes[name] === 'replace') handle.remove()
      if (changes[name] === 'replace') replace(scope, name, `${name} replaced for ${index}`)
    }
    await turn()
    if (registers) replace(scope, 'extra', `extra for ${index}`)
  }
  const server = new MCPServer({
    id: 'ground',
    name: 'Ground',
    version: '1.0.0',
    log: false,
    tools: { alpha: tool('alpha'), beta: tool('beta'), hidden: tool('hidden') },
    setup,
  })
  return { server, signals, requestIds: new Set() }
}

/** A legacy client's `Mcp-Session-Id`, which says who it is. */
async function sessionOf(server: MCPServer, clientName: string): Promise<string> {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: clientName, version: '1' },
  }
  return (await server.fetch(legacyRequest('initialize', { params }))).headers.get('mcp-session-id')!
}

async function toRequest(
  server: MCPServer,
  visit: Visit,
  index: number,
  signal: AbortSignal,
): Promise<Request> {
  const { era, asks, wantsLogs, wantsProgress } = visit
  const method = asks === 'list' ? 'tools/list' : 'tools/call'
  const clientName = `client-${index}`
  const headers = { 'x-visit': String(index), 'x-request-id': `request-${index}` }
  const params = asks === 'list' ? {} : { name: asks, arguments: { visitor: index } }
  const meta = wantsProgress ? { progressToken: `token-${index}` } : {}
  if (era === 'legacy') {
    const session = await sessionOf(server, clientName)
    return legacyRequest(method, { params, meta, signal, headers: { ...headers, 'mcp-session-id': session } })
  }
  const level = wantsLogs ? { 'io.modelcontextprotocol/logLevel': 'info' } : {}
  return modernRequest(method, { params, meta: { ...meta, ...level }, signal, headers, clientName })
}

/** Serves one visit and compares all it brought with what this visit alone would bring. */
async function serve(
  { server, requestIds }: Ground,
  visit: Visit,
  index: number,
  turn: () => Promise<void>,
): Promise<void> {
  const { era, asks, leaves, wantsLogs, wantsProgress } = visit
  const leave = new AbortController()
  const outlasting: Promise<unknown>[] = []
  const request = await toRequest(server, visit, index, leave.signal)
  await turn()
  const responding = server.fetch(
    request,
    { tenant: `tenant-${index}` },
    { waitUntil: (promise: Promise<unknown>) => outlasting.push(promise) },
  )
  if (leaves) {
    await turn()
    leave.abort()
    await (await responding).body?.cancel()
    return
  }
  const response = await responding
  expect(response.headers.get('x-request-id')).toBe(`request-${index}`)
  const { status, result, error, notifications } = await answerOf(response)
  const tools = expectedTools(visit, index)
  expect(status).toBe(200)
  if (asks === 'list') {
    const listed = result!.tools as { name: string; description: string }[]
    expect(listed.map(({ name, description }) => [name, description])).toEqual([...tools])
    expect(notifications).toEqual([])
    return
  }
  const label = tools.get(asks)
  if (label === undefined) {
    expect({ code: error?.code, notifications }).toEqual({ code: -32602, notifications: [] })
    return
  }
  expect(result!.structuredContent).toEqual({
    label,
    visitor: index,
    requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    era,
    client: `client-${index}`,
    auth: null,
    tenant: `tenant-${index}`,
  })
  const { requestId } = result!.structuredContent as { requestId: unknown }
  expect(requestIds.has(requestId)).toBe(false)
  requestIds.add(requestId)
  expect(notifications.map(({ method, params }) => ({ method, params }))).toEqual([
    ...(wantsLogs || era === 'legacy'
      ? [{ method: 'notifications/message', params: { level: 'info', data: { visitor: index } } }]
      : []),
    ...(wantsProgress
      ? [{ method: 'notifications/progress', params: { progressToken: `token-${index}`, progress: index } }]
      : []),
  ])
  expect(await Promise.all(outlasting)).toEqual([index])
}

describe('interleaved requests', () => {
  test('see their own overlay, context and notifications, and leave nothing behind', async () => {
    await check(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(visit, { minLength: 2, maxLength: 6 }),
        async (scheduler, visits) => {
          const turn = (): Promise<void> => scheduler.schedule(Promise.resolve())
          const ground = createGround(visits, turn)
          await scheduler.waitFor(
            Promise.all(visits.map((visit, index) => serve(ground, visit, index, turn))),
          )
          await scheduler.waitIdle()

          for (const [index, signal] of ground.signals) {
            if (signal.aborted) expect(visits[index]!.leaves).toBe(true)
          }
          const later = await answerOf(await ground.server.fetch(modernRequest('tools/list')))
          const listed = later.result!.tools as { name: string; description: string }[]
          expect(listed.map(({ name, description }) => [name, description])).toEqual([
            ['alpha', 'alpha'],
            ['beta', 'beta'],
          ])
        },
      ),
      300,
    )
  })

  test('of one list → each gets its own page, whoever asked in between', async () => {
    await check(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 2, maxLength: 8 }),
        async (scheduler, hidden) => {
          const server = new MCPServer({
            id: 'pages',
            name: 'Pages',
            version: '1.0.0',
            log: false,
            pageSize: 4,
            setup: async (scope, request) => {
              await scheduler.schedule(Promise.resolve())
              scope.tool(`tool-${request.headers.get('x-hide')}`).disable()
            },
          })
          for (let index = 0; index < 10; index++) server.registerTool(`tool-${index}`, {}, () => '')
          const walk = async (hide: number): Promise<string[]> => {
            const names: string[] = []
            let params: { cursor?: string } = {}
            for (;;) {
              const request = modernRequest('tools/list', { params, headers: { 'x-hide': String(hide) } })
              const { result } = await answerOf(await server.fetch(request))
              names.push(...(result!.tools as { name: string }[]).map(({ name }) => name))
              if (result!.nextCursor === undefined) return names
              params = { cursor: result!.nextCursor as string }
            }
          }
          const walks = Promise.all(hidden.map(walk))
          await scheduler.waitFor(walks)
          const all = Array.from({ length: 10 }, (_, index) => `tool-${index}`)
          expect(await walks).toEqual(hidden.map((hide) => all.filter((name) => name !== `tool-${hide}`)))
        },
      ),
      60,
    )
  })
})

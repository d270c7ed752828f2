/** `mayfly check` on servers with MCP Events: ours, and the same with a fault. */
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { CLIENTS } from '../../deploy/check/clients/all.ts'
import { runProbes } from '../../deploy/check/run.ts'
import { walkAs } from '../../deploy/check/walk/walk.ts'
import { staticTokens } from '../../src/auth.ts'
import { createEvent, createMemoryEvents, type EventPost, events } from '../../src/mcp-events.ts'
import { type Breakage, broken, TOKEN } from './_check-servers.ts'

type Message = {
  readonly method?: string
  readonly result?: { readonly [name: string]: unknown }
  readonly error?: object
}

function start(change: Breakage, hasAuth = true) {
  const posted: EventPost[] = []
  const incident = createEvent({
    id: 'incident.created',
    description: 'A new incident',
    inputSchema: z.object({ severity: z.string().optional() }),
    payloadSchema: z.object({ title: z.string() }),
  })
  const deliver = {
    post: async (_url: string, post: EventPost) => {
      posted.push(post)
      return { status: 200 }
    },
  }
  const running = broken(change, {
    ...(hasAuth && { auth: staticTokens([{ token: TOKEN, clientId: 'check' }]) }),
    events: events({ types: { incident }, store: createMemoryEvents(), deliver }),
  })
  return { running, posted }
}

const options = (url: URL, bearer?: string) => ({
  url,
  bearer,
  headers: {},
  timeoutMs: 5000,
  origin: undefined,
})

async function check(url: URL, bearer?: string): Promise<{ [id: string]: string }> {
  const { results } = await runProbes(options(url, bearer))
  const own = results.filter(({ id }) => id.startsWith('events.'))
  return Object.fromEntries(own.map(({ id, verdict }) => [id.slice('events.'.length), verdict]))
}

/** Changes the answers to a method, also where there would be an error. */
const answering =
  (method: string, change: (message: Message) => object): Breakage =>
  async (request, next) => {
    const asked =
      request.method === 'POST'
        ? ((await request
            .clone()
            .json()
            .catch(() => ({}))) as Message)
        : {}
    const response = await next()
    if (asked.method !== method) return response
    const message = JSON.parse((await response.text()).replace(/^[^{]*/, '')) as Message
    return Response.json(change(message), { headers: { 'access-control-allow-origin': '*' } })
  }

const resulting =
  (result: object) =>
  ({ error: _error, ...message }: Message): object => ({ ...message, result })

const WORKS = {
  declared: 'works',
  list: 'works',
  unknown: 'works',
  poll: 'works',
  anonymous: 'works',
  'callback-url': 'works',
  mode: 'works',
}

describe('check', { timeout: 60_000 }, () => {
  test('ours with a token: all works, and nothing was sent', async () => {
    let lists = 0
    const { running, posted } = start(
      answering('events/list', (message) => {
        lists++
        return message
      }),
    )
    await using server = await running
    expect(await check(server.url, TOKEN)).toEqual(WORKS)
    expect(posted).toEqual([])
    // Read once for all probes.
    expect(lists).toBe(1)
  })

  test('ours without auth: what needs a token is left out', async () => {
    const { running } = start((_request, next) => next(), false)
    await using server = await running
    expect(await check(server.url)).toEqual({ ...WORKS, 'callback-url': 'skipped', mode: 'skipped' })
  })

  test('a server without events has no findings about them', async () => {
    await using server = await broken((_request, next) => next())
    expect(await check(server.url)).toEqual({})
  })

  test.for<[string, Breakage, { [id: string]: string }]>([
    [
      'the extension alone is declared',
      answering('server/discover', ({ result = {}, ...rest }) => {
        const { events: _events, ...capabilities } = result.capabilities as { events?: object }
        return { ...rest, result: { ...result, capabilities } }
      }),
      { declared: 'degrades' },
    ],
    [
      'an event without a way of delivery',
      answering('events/list', resulting({ events: [{ name: 'a', delivery: [] }] })),
      { list: 'wrong', poll: 'skipped', 'callback-url': 'skipped', mode: 'skipped' },
    ],
    [
      'unknown events are polled',
      answering('events/poll', resulting({ events: [] })),
      { unknown: 'wrong', poll: 'wrong' },
    ],
    [
      'anybody subscribes, to any URL, in any mode',
      answering('events/subscribe', resulting({ id: 'sub_1' })),
      { anonymous: 'wrong', 'callback-url': 'wrong', mode: 'wrong' },
    ],
  ])('%s', async ([, change, found]) => {
    await using server = await start(change).running
    expect(await check(server.url, TOKEN)).toEqual({ ...WORKS, ...found })
  })
})

describe('check --as chatgpt', () => {
  const walk = async (url: URL, bearer?: string) => {
    // Its sign-in would end at a static token.
    const chatgpt = CLIENTS.find(({ id }) => id === 'chatgpt')!
    const profiles = [{ ...chatgpt, steps: chatgpt.steps.filter(({ does }) => does === 'find events') }]
    const walked = await walkAs(profiles, { ...options(url, bearer), mayRegister: false })
    if ('results' in walked) throw new Error('not walked')
    return walked[0]!.steps.find(({ id }) => id === 'chatgpt.events')
  }

  test.for<[string, Breakage, boolean, object]>([
    ['events by webhook', (_request, next) => next(), true, { verdict: 'works' }],
    [
      'no webhooks without auth',
      (_request, next) => next(),
      false,
      { verdict: 'degrades', detail: 'no event by webhook without a token' },
    ],
    [
      'polls alone',
      answering('events/list', resulting({ events: [{ name: 'a', delivery: ['poll'] }] })),
      true,
      { verdict: 'degrades', detail: expect.stringContaining('takes no event by webhook') },
    ],
    [
      'none that the token may see',
      answering('events/list', resulting({ events: [] })),
      true,
      { verdict: 'degrades', fix: expect.stringContaining('this token may lack them') },
    ],
  ])('%s', async ([, change, hasAuth, found]) => {
    await using server = await start(change, hasAuth).running
    expect(await walk(server.url, hasAuth ? TOKEN : undefined)).toMatchObject(found)
  })
})

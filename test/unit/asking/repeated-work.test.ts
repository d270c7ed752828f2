/** What a tool did again before a question is told once: in tests by `connect`, and by `mayfly dev` and `mayfly preview`. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { createTool, type McpContext } from '../../../src/index.ts'
import { createMemoryTasks } from '../../../src/tasks.ts'
import { connect } from '../../../src/testing.ts'
import { createServer } from '../_client.ts'

const SECRET = 'a secret of this test that is long enough'
const answers = () => ({ action: 'accept' as const, content: { sure: true } })
const ask = (ctx: McpContext, message = 'Sure?') => ctx.elicit(message, z.object({ sure: z.boolean() }))

const realFetch = globalThis.fetch
const charge = vi.fn(async () => new Response('{}'))
let warned: string[] = []

beforeEach(() => {
  warned = []
  charge.mockClear()
  globalThis.fetch = charge as never
  vi.spyOn(console, 'warn').mockImplementation((line: string) => {
    const { message } = JSON.parse(line) as { message: string }
    if (message.includes('ran again')) warned.push(message)
  })
})
afterEach(() => {
  expect(globalThis.fetch).toBe(charge)
  globalThis.fetch = realFetch
  vi.restoreAllMocks()
})

const pay = (init: RequestInit = { method: 'POST' }) => fetch('https://pay.example/charges?key=1', init)
/** Waits as for a database: for an event that is no timer of this process. */
const wait = (ms: number) =>
  new Promise<void>((resolve) => {
    const { port1, port2 } = new MessageChannel()
    const end = performance.now() + ms
    port1.onmessage = () => {
      if (performance.now() < end) return port2.postMessage(0)
      port1.close()
      resolve()
    }
    port2.postMessage(0)
  })

async function run(execute: (ctx: McpContext) => unknown, times = 1, options: object = {}): Promise<string> {
  const tool = createTool({ id: 'tool', execute: (_input, ctx) => execute(ctx) as string })
  const server = createServer({ tools: { tool }, secret: SECRET, ...options })
  let text = ''
  for (let time = 0; time < times; time++) {
    await using client = await connect(server, { answers })
    const result = await client.callTool({ name: 'tool' })
    text = (result.content as { text: string }[])[0]!.text
  }
  return text
}

describe('is told', () => {
  it('fetch before the question, once, with the method, the host and the line', async () => {
    const execute = async (ctx: McpContext) => {
      await pay()
      return (await ask(ctx)).action
    }
    expect(await run(execute, 3)).toBe('accept')
    expect(charge).toHaveBeenCalledTimes(6)
    expect(warned).toHaveLength(1)
    expect(warned[0]).toMatch(
      /^Tool "tool" ran again .+: fetch \(POST pay\.example\) at \S+repeated-work\.test\.ts:\d+:\d+\. Put it into ctx\.step/,
    )
    expect(warned[0]).not.toContain('key=1')
  })

  it('after other awaits, in a nested function, and between two questions', async () => {
    const deeper = async () => {
      await Promise.resolve()
      await Promise.all([pay(), null])
    }
    await run(async (ctx) => {
      await ask(ctx, 'First?')
      await deeper()
      return (await ask(ctx, 'Second?')).action
    })
    expect(warned).toEqual([expect.stringContaining('fetch (POST pay.example)')])
  })

  it('time that passes outside of the context, with the line of the question', async () => {
    await run(async (ctx) => {
      await wait(150)
      return (await ask(ctx)).action
    })
    expect(warned).toEqual([expect.stringMatching(/\d{3} ms of work before \S+repeated-work\.test\.ts:\d+/)])
  })

  it('time that passes in a timer, with its line', async () => {
    await run(async (ctx) => {
      await new Promise((resolve) => setTimeout(resolve, 150))
      return (await ask(ctx)).action
    })
    expect(warned).toEqual([expect.stringMatching(/\d{3} ms of work before \S+repeated-work\.test\.ts:\d+/)])
  })

  it('to the client, if it asks for log messages', async () => {
    const tool = createTool({
      id: 'tool',
      execute: async (_input, ctx) => {
        await pay()
        return (await ask(ctx)).action
      },
    })
    await using client = await connect(createServer({ tools: { tool } }), { answers })
    const logs: unknown[] = []
    client.setNotificationHandler('notifications/message', ({ params }) => void logs.push(params))
    await client.callTool({
      name: 'tool',
      _meta: { 'io.modelcontextprotocol/logLevel': 'warning' },
    } as never)
    expect(logs).toMatchObject([
      { level: 'warning', logger: 'mayfly', data: expect.stringContaining('fetch') },
    ])
  })
})

describe('is not told', () => {
  it.each<[string, (ctx: McpContext) => unknown]>([
    ['fetch in a step', (ctx) => ctx.step('pay', async () => (await pay()).status).then(() => ask(ctx))],
    ['fetch after the last question', async (ctx) => [await ask(ctx), (await pay()).status]],
    [
      'fetch beside a question, once the answer is there',
      async (ctx) => {
        const [first] = await Promise.all([ask(ctx), ctx.step('a', () => pay().then(() => 1))])
        return first.action
      },
    ],
    ['a long step', (ctx) => ctx.step('long', () => wait(150)).then(() => ask(ctx))],
    ['a cache in memory', async (ctx) => [await Promise.resolve(new Map().get('a')), await ask(ctx)]],
    ['a quick read of a store', (ctx) => wait(5).then(() => ask(ctx))],
    ['a cached fetch', (ctx) => pay({ cache: 'force-cache' }).then(() => ask(ctx))],
    [
      'a timer that is cleared',
      async (ctx) => {
        clearTimeout(setTimeout(() => {}, 5000))
        return ask(ctx)
      },
    ],
    [
      'long computing',
      async (ctx) => {
        for (const end = performance.now() + 150; performance.now() < end; );
        return ask(ctx)
      },
    ],
    ['a tool that does not ask', async () => (await pay()).status],
  ])('%s', async (_what, execute) => {
    await run(async (ctx) => JSON.stringify((await execute(ctx)) ?? null))
    expect(warned).toEqual([])
  })

  it('what is only done in the first round', async () => {
    let rate: number | undefined
    await run(async (ctx) => {
      rate ??= (await pay({})).status
      return `${rate} ${(await ask(ctx)).action}`
    })
    expect(charge).toHaveBeenCalledTimes(1)
    expect(warned).toEqual([])
  })

  it('the fetch of another call at the same time, of middleware and of auth', async () => {
    const other = createTool({ id: 'other', execute: async () => String((await pay()).status) })
    const tool = createTool({ id: 'tool', execute: async (_input, ctx) => (await ask(ctx)).action })
    const server = createServer({
      tools: { tool, other },
      use: [async (_call, next) => (await pay()) && next()],
    })
    await using client = await connect(server, { answers })
    await Promise.all(['tool', 'other', 'tool', 'other'].map((name) => client.callTool({ name })))
    expect(charge.mock.calls.length).toBeGreaterThan(6)
    expect(warned).toEqual([])
  })

  it('to a legacy client that answers while the call waits, and by a server without connect', async () => {
    const tool = createTool({
      id: 'tool',
      execute: async (_input, ctx) => {
        await pay()
        return ctx.can('elicitation.form').available ? (await ask(ctx)).action : 'cannot ask'
      },
    })
    await using client = await connect(createServer({ tools: { tool } }), { answers, era: 'legacy' })
    await client.callTool({ name: 'tool' })
    expect(warned).toEqual([])
  })

  it('the writes of a store of tasks', async () => {
    const tool = createTool({
      id: 'tool',
      task: 'auto',
      execute: async (_input, ctx) => {
        await ctx.step('one', () => 1)
        return (await ask(ctx)).action
      },
    })
    await using client = await connect(
      createServer({ tools: { tool }, tasks: createMemoryTasks(), secret: SECRET }),
      {
        answers,
      },
    )
    await client.callTool({ name: 'tool' })
    expect(warned).toEqual([])
  })
})

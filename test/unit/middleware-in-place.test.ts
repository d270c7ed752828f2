/** What middleware changes in place: it is validated like what it returns, and is for its own caller. */
import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { createTool, type MCPServerConfig, type ToolMiddleware } from '../../src/index.ts'
import { fromSdk } from '../../src/sdk.ts'
import { callTool, createServer, modern, textOf } from './_client.ts'
import { createV2 } from './sdk/_servers.ts'

const PLACE = { city: 'Bern', tags: ['old'] }
const CACHED = { degrees: 20, tags: ['warm'] }
/** A class of the author's, which a JSON copy does not keep. */
class Forecast {
  degrees = 20
  tags = ['warm']
}
const INSTANCE = new Forecast()

const executed = vi.fn()
const weather = createTool({
  id: 'weather',
  inputSchema: z.object({
    place: z.object({ city: z.string(), tags: z.array(z.string()) }).default(PLACE),
    days: z.number().max(7).default(1),
    on: z.iso
      .date()
      .transform((text) => new Date(text))
      .optional(),
  }),
  outputSchema: z.object({ degrees: z.number(), tags: z.array(z.string()) }),
  execute: (input, ctx) => {
    executed(structuredClone(input))
    return ctx.env.instance === true ? INSTANCE : CACHED
  },
})

function serve(use: readonly ToolMiddleware[], config: Partial<MCPServerConfig> = {}) {
  executed.mockClear()
  const reports: string[] = []
  const onError = (error: unknown) => void reports.push((error as Error).message)
  const server = createServer({ tools: { weather }, use, onError, ...config })
  return { server, reports, ask: (args: object = {}) => callTool(server, 'weather', args) }
}

const changes =
  (change: (call: Parameters<ToolMiddleware>[0]) => void): ToolMiddleware =>
  (call, next) => {
    change(call)
    return next()
  }

describe('arguments changed in place', () => {
  it.each<[string, ToolMiddleware]>([
    [
      'input',
      changes(({ input }) => {
        input.days = 5
      }),
    ],
    [
      'arguments',
      changes((call) => {
        call.arguments.days = 5
      }),
    ],
  ])('%s: the tool and the next middleware get them', async (_what, change) => {
    const seen: unknown[] = []
    const second: ToolMiddleware = (call, next) => {
      seen.push(call.input.days, call.arguments.days)
      return next()
    }
    const { ask } = serve([change, second])
    await ask({ days: 2 })
    expect(executed).toHaveBeenCalledWith({ place: PLACE, days: 5 })
    expect(seen).toEqual([5, 5])
  })

  it.each<[string, ToolMiddleware]>([
    [
      'input',
      changes(({ input }) => {
        input.days = 30
      }),
    ],
    ['input, in its depth', changes(({ input }) => void input.place.tags.push(7))],
    [
      'arguments',
      changes((call) => {
        call.arguments.days = 30
      }),
    ],
    ['a member is gone', changes(({ input }) => void delete input.place.city)],
  ])('%s: invalid ones fail the call before the tool runs [tools.middleware]', async (_what, change) => {
    const { ask, reports } = serve([change])
    const answer = await ask({ days: 2 })
    expect(answer.result?.isError).toBe(true)
    expect(textOf(answer)).toContain('A middleware passed invalid arguments to tool "weather"')
    expect(reports).toHaveLength(1)
    expect(executed).not.toHaveBeenCalled()
  })

  it('not at all: values of a transform stay as they are', async () => {
    const { ask } = serve([(_call, next) => next()])
    await ask({ on: '2026-01-02' })
    expect(executed).toHaveBeenCalledWith({ place: PLACE, days: 1, on: new Date('2026-01-02') })
  })

  it('once the tool runs, or in what was passed to next(): nothing of it reaches the tool', async () => {
    const late = vi.fn()
    const slow = createTool({
      id: 'slow',
      inputSchema: z.object({ to: z.object({ city: z.string() }) }),
      execute: async (input) => {
        await new Promise((resolve) => setImmediate(resolve))
        late(structuredClone(input))
        return ''
      },
    })
    for (const isPassed of [false, true]) {
      const use: ToolMiddleware[] = [
        (call, next) => {
          const changed = { to: { city: 'Rome' } }
          const running = isPassed ? next(changed) : next()
          changed.to.city = 5 as never
          call.input.to.city = 5
          ;(call.arguments as typeof changed).to.city = 5 as never
          return running
        },
      ]
      await callTool(createServer({ tools: { slow }, use }), 'slow', { to: { city: 'Bern' } })
      expect(late).toHaveBeenLastCalledWith({ to: { city: isPassed ? 'Rome' : 'Bern' } })
    }
  })

  it('are for their caller: a default and the audit trail keep their own', async () => {
    const audited: unknown[] = []
    const audit = {
      record: () => {},
      arguments: (_target: unknown, args: unknown) => {
        audited.push(structuredClone(args))
        return undefined
      },
    }
    const { ask } = serve(
      [
        changes(({ input, arguments: sent }) => {
          input.place.tags.push('new')
          sent.days = 3
        }),
      ],
      { audit: audit as never },
    )
    for (let calls = 0; calls < 3; calls++) await ask({ days: 2 })
    expect(PLACE.tags).toEqual(['old'])
    for (const [input] of executed.mock.calls) expect(input.place.tags).toEqual(['old', 'new'])
    expect(audited.every((args) => (args as { days: number }).days === 2)).toBe(true)
  })
})

describe('call.input, changed in place, is not parsed a second time', () => {
  const NOTE = ' a note '
  /** Each beside a member that the middleware changes. The last value: what the tool gets. Undefined: the change is refused. */
  const SCHEMAS: [what: string, schema: z.ZodType, sent: unknown, got?: unknown][] = [
    ['a number', z.number(), 5, 5],
    ['a coercion', z.coerce.number(), '5', 5],
    ['trimmed text', z.string().trim(), ' b ', 'b'],
    ['a default', z.number().default(1), undefined, 1],
    ['an optional member', z.number().optional(), undefined, undefined],
    ['unknown members', z.object({ a: z.number() }), { b: 1, a: 1 }, { a: 1 }],
    ['members in another order', z.object({ b: z.number(), a: z.number() }), { a: 1, b: 2 }, { b: 2, a: 1 }],
    ['an amount in cents', z.number().transform((euros) => euros * 100), 5],
    ['an amount in cents that is 0', z.number().transform((euros) => euros * 100), 0, 0],
    ['in its depth', z.array(z.object({ a: z.string().transform((a) => `${a}!`) })), [{ a: 'x' }]],
    ['another type', z.iso.date().transform((text) => new Date(text)), '2026-01-02'],
    ['a set', z.array(z.string()).transform((list) => new Set(list)), ['a']],
    ['an instance of a class', z.string().transform((href) => new URL(href)), 'https://a.example'],
    ['a new instance of a class', z.unknown().transform(() => new Forecast()), 1],
    [
      'a default that a transform changes',
      z
        .number()
        .default(1)
        .transform((x) => x + 1),
      undefined,
    ],
    ['a constant', z.object({}).transform(() => ({ a: 1 })), {}, { a: 1 }],
    ['a coercion to a boolean', z.stringbool(), 'yes'],
    ['a list that a transform grows', z.array(z.number()).transform((list) => [...list, 1]), [1]],
  ]
  const trims = changes(({ input }) => {
    input.note = input.note.trim()
  })

  const adds = (name: string) => changes(({ input }) => void Object.assign(input, { [name]: 1 }))

  async function ask(schema: z.ZodType, value: unknown, use: readonly ToolMiddleware[], note = NOTE) {
    const got = vi.fn()
    const parsed = vi.fn()
    const inputSchema = z.object({
      note: z.string().refine((text) => parsed(text) ?? true),
      value: schema,
    })
    const tool = createTool({ id: 'pay', inputSchema, execute: (input) => got(input) ?? '' })
    const server = createServer({ tools: { pay: tool }, use, log: false })
    const answer = await callTool(server, 'pay', { note, ...(value !== undefined && { value }) })
    return { got, parsed, text: textOf(answer), isError: answer.result?.isError === true }
  }

  it.each(SCHEMAS)('%s', async (what, schema, sent, expected) => {
    const { got, text, isError } = await ask(schema, sent, [trims])
    if (expected !== undefined || what === 'an optional member') {
      expect(text).toBe('')
      expect(got).toHaveBeenCalledExactlyOnceWith({ note: 'a note', value: expected })
    } else {
      expect(isError).toBe(true)
      expect(text).toContain('Change call.arguments')
      expect(got).not.toHaveBeenCalled()
    }
  })

  it.each(SCHEMAS)(
    '%s: in call.arguments, or without a change, transforms run once',
    async (_what, schema, sent) => {
      const plain = await ask(schema, sent, [], 'a note')
      expect(plain.got).toHaveBeenCalledOnce()
      const [first] = plain.got.mock.calls
      const trimsSent = changes((call) => {
        call.arguments.note = NOTE.trim()
      })
      const changed = await ask(schema, sent, [trimsSent])
      expect(changed.got.mock.calls).toEqual([first])
      const unchanged: ToolMiddleware[] = [
        (_call, next) => next(),
        (call, next) => next(call.input),
        (call, next) => next(call.arguments),
        // Neither the order of the members is a change, nor one that is undefined.
        changes(({ input }) => {
          const { note } = input
          delete input.note
          Object.assign(input, { note, extra: undefined })
        }),
      ]
      for (const use of [...unchanged.map((one) => [one]), unchanged]) {
        const { got, parsed } = await ask(schema, sent, use, 'a note')
        expect(got.mock.calls).toEqual([first])
        expect(parsed).toHaveBeenCalledOnce()
      }
    },
  )

  it('a schema that changes what it gets in place is found out, too', async () => {
    const doubles = {
      '~standard': {
        version: 1,
        vendor: 'own',
        validate: (value: { euros: number }) => {
          value.euros *= 100
          return { value }
        },
        jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
      },
    } as object as z.ZodType
    const got = vi.fn()
    const tool = createTool({ id: 'pay', inputSchema: doubles, execute: (input) => got(input) ?? '' })
    const use: ToolMiddleware[] = [adds('tip')]
    const server = createServer({ tools: { pay: tool }, use, log: false })
    expect(textOf(await callTool(server, 'pay', { euros: 5 }))).toContain('Change call.arguments')
    expect(got).not.toHaveBeenCalled()
  })

  it('one object in two places is the same data as two objects', async () => {
    const pair = z.object({ from: z.object({ city: z.string() }), to: z.object({ city: z.string() }) })
    const home = changes(({ input }) => {
      input.value.from = input.value.to = { city: 'Bern' }
    })
    const { got } = await ask(pair, { from: { city: 'Rome' }, to: { city: 'Oslo' } }, [home])
    const bern = { city: 'Bern' }
    expect(got).toHaveBeenCalledWith({ note: NOTE, value: { from: bern, to: bern } })
  })

  it('a member that the schema removes → an error, since the tool would not get it', async () => {
    const { text, got } = await ask(z.number(), 1, [adds('extra')])
    expect(text).toContain('call.input of tool "pay"')
    expect(got).not.toHaveBeenCalled()
  })

  it.each<[string, ToolMiddleware]>([
    [
      'call.arguments in place',
      changes((call) => {
        call.input.note = 'one'
        call.arguments.value = 7
      }),
    ],
    [
      'what is passed to next()',
      (call, next) => {
        call.input.note = 'one'
        return next({ ...call.arguments, value: 7 })
      },
    ],
    [
      'call.arguments, passed to next()',
      (call, next) => {
        call.input.note = 'one'
        return next(call.arguments)
      },
    ],
  ])('with %s → an error, since one change would be lost', async (_what, both) => {
    const { text, isError, got } = await ask(z.number(), 1, [both])
    expect(isError).toBe(true)
    expect(text).toContain('changed both call.input and the arguments of tool "pay"')
    expect(got).not.toHaveBeenCalled()
  })
})

describe.each([
  ['a plain object', {}],
  ['an instance of a class', { instance: true }],
])('a result changed in place: %s', (_what, env) => {
  const change =
    (edit: (content: { degrees: unknown; tags: unknown[] }) => void): ToolMiddleware =>
    async (_call, next) => {
      const result = await next()
      edit(result.structuredContent as never)
      return result
    }
  const askIn = async (use: readonly ToolMiddleware[]) => {
    const { server, reports } = serve(use)
    const answer = await modern(
      server,
      'tools/call',
      { name: 'weather', arguments: {} },
      { platform: { env } },
    )
    return { answer, reports }
  }

  it('is what the client gets, and what the tool keeps for others stays [tools.middleware]', async () => {
    for (let calls = 0; calls < 2; calls++) {
      const { answer } = await askIn([change((content) => content.tags.push('for you'))])
      expect(answer.result?.structuredContent).toEqual({ degrees: 20, tags: ['warm', 'for you'] })
    }
    expect([CACHED.tags, INSTANCE.tags]).toEqual([['warm'], ['warm']])
  })

  it.each<[string, ToolMiddleware]>([
    [
      'a member',
      change((content) => {
        content.degrees = 'hot'
      }),
    ],
    ['in its depth', change((content) => content.tags.push(7))],
  ])(
    '%s that does not match the outputSchema → an isError result, also for the middleware outside',
    async (_how, bad) => {
      const seen: unknown[] = []
      const outer: ToolMiddleware = async (_call, next) => {
        const result = await next()
        seen.push(result.isError)
        return result
      }
      const { answer } = await askIn([outer, bad])
      expect(answer.result?.isError).toBe(true)
      expect(textOf(answer)).toContain('does not match its outputSchema')
      expect(seen).toEqual([true])
    },
  )

  it('later than it was returned: not sent', async () => {
    const inner = change((content) => {
      queueMicrotask(() =>
        queueMicrotask(() =>
          queueMicrotask(() => {
            content.degrees = 'hot'
          }),
        ),
      )
      setTimeout(() => {
        content.degrees = 'hot'
      })
    })
    const outer: ToolMiddleware = async (_call, next) => {
      const result = await next()
      await new Promise((resolve) => setTimeout(resolve, 5))
      return result
    }
    const copying: ToolMiddleware = async (call, next) => ({ ...((await inner(call, next)) as object) })
    for (const use of [[inner], [outer, inner], [outer, copying]])
      expect((await askIn(use)).answer.result?.structuredContent).toMatchObject({ degrees: 20 })
  })
})

it('fromSdk: changed in place, the server gets the arguments and the client the result', async () => {
  const use: ToolMiddleware<never>[] = [
    async (call, next) => {
      call.input.a = 40
      const result = await next()
      ;(result.content[0] as { text: string }).text += '!'
      return result
    },
  ]
  const server = fromSdk((context) => createV2(context), { log: false, use: use as never })
  const answer = await modern(server, 'tools/call', { name: 'add', arguments: { a: 1, b: 2 } })
  expect(textOf(answer)).toBe('42!')
})

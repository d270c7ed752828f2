import { describe, expect, it, vi } from 'vitest'
import { type Complete, createPrompt, createResource, ErrorCode } from '../../src/index.ts'
import { createServer, initialize, legacy, modern } from './_client.ts'

const languages: Complete = (value) =>
  ['python', 'perl', 'typescript'].filter((name) => name.startsWith(value))

function fixture(complete: Complete = languages) {
  return createServer({
    prompts: { review: createPrompt({ complete: { language: complete }, get: () => 'x' }) },
    resources: [
      createResource({ uriTemplate: 'repo://{owner}/{name}', complete: { name: complete }, read: () => 'x' }),
    ],
  })
}

const PROMPT = { type: 'ref/prompt', name: 'review' }
const TEMPLATE = { type: 'ref/resource', uri: 'repo://{owner}/{name}' }
const argument = (name: string, value = '') => ({ name, value })

describe('completion/complete', () => {
  it.each([
    ['a prompt', PROMPT, 'language', modern],
    ['a template', TEMPLATE, 'name', modern],
    ['a prompt, legacy', PROMPT, 'language', legacy],
  ])('of %s → the values that fit [completion.values]', async (_kind, ref, name, call) => {
    const { result } = await call(fixture(), 'completion/complete', { ref, argument: argument(name, 'p') })
    expect(result?.completion).toEqual({ values: ['python', 'perl'], total: 2, hasMore: false })
  })

  it('the completer is given the other arguments and the context [completion.values]', async () => {
    const complete = vi.fn(async () => ['flask'])
    const { result } = await modern(fixture(complete), 'completion/complete', {
      ref: PROMPT,
      argument: argument('language', 'f'),
      context: { arguments: { kind: 'web' } },
    })
    expect(result?.completion).toMatchObject({ values: ['flask'] })
    expect(complete).toHaveBeenCalledExactlyOnceWith('f', {
      arguments: { kind: 'web' },
      context: expect.objectContaining({ era: 'modern' }),
    })
  })

  it.each([
    [PROMPT, 'other'],
    [PROMPT, 'constructor'],
    [TEMPLATE, 'owner'],
  ])('an argument nobody completes → no values [completion.values]', async (ref, name) => {
    const { result } = await modern(fixture(), 'completion/complete', { ref, argument: argument(name) })
    expect(result?.completion).toEqual({ values: [], hasMore: false })
  })

  it('of prompts answered by callbacks [completion.values]', async () => {
    const server = createServer({
      prompts: {
        listPrompts: () => [{ name: 'greet' }],
        getPromptMessages: () => 'x',
        complete: { greet: { who: () => ['Ada'] } },
      },
    })
    const complete = (name: string) =>
      modern(server, 'completion/complete', { ref: { type: 'ref/prompt', name }, argument: argument('who') })
    expect((await complete('greet')).result?.completion).toMatchObject({ values: ['Ada'] })
    expect((await complete('constructor')).result?.completion).toMatchObject({ values: [] })
  })

  it('150 values → the first 100, the total, and hasMore [completion.limit]', async () => {
    const many = Array.from({ length: 150 }, (_, index) => `v${index}`)
    const { result } = await modern(
      fixture(() => many),
      'completion/complete',
      {
        ref: PROMPT,
        argument: argument('language'),
      },
    )
    expect(result?.completion).toEqual({ values: many.slice(0, 100), total: 150, hasMore: true })
  })

  it.each([
    [{ type: 'ref/prompt', name: 'nothing' }],
    [{ type: 'ref/resource', uri: 'nothing://{x}' }],
    [{ type: 'ref/other', name: 'review' }],
    [{ type: 'ref/prompt' }],
    ['review'],
    [undefined],
  ])('the reference %j → -32602 [completion.unknown]', async (ref) => {
    const { status, error } = await modern(fixture(), 'completion/complete', {
      ref,
      argument: argument('language'),
    })
    expect([status, error?.code]).toEqual([200, ErrorCode.invalidParams])
  })

  it.each([[undefined], [{ name: 'language' }], [{ value: 'p' }], [{ name: 1, value: 'p' }]])(
    'the argument %j → -32602 [malformed.params]',
    async (bad) => {
      const { error } = await modern(fixture(), 'completion/complete', { ref: PROMPT, argument: bad })
      expect(error?.code).toBe(ErrorCode.invalidParams)
    },
  )

  it('a server that completes nothing has no such method, and does not advertise it [modern.discover]', async () => {
    const server = createServer({ prompts: { review: createPrompt({ get: () => 'x' }) } })
    const { status, error } = await modern(server, 'completion/complete', {
      ref: PROMPT,
      argument: argument('a'),
    })
    expect([status, error?.code]).toEqual([404, ErrorCode.methodNotFound])
    expect((await modern(server, 'server/discover')).result?.capabilities).not.toHaveProperty('completions')
    expect((await initialize(server)).result?.capabilities).not.toHaveProperty('completions')
    expect((await initialize(fixture())).result?.capabilities).toMatchObject({ completions: {} })
  })
})

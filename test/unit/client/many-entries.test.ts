/** Answers with very many malformed entries: refused at the first, not printed one by one. */
import { expect, it } from 'vitest'
import { onCall } from '../../hostile/server/answers.ts'
import { type Era, type Exchange, startHostile } from '../../hostile/server/server.ts'
import { visit } from './_hostile.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const MANY = 100_000

function answer({ response, message }: Exchange, result: object): void {
  const whole = { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...result }
  response.writeHead(200, JSON_TYPE).end(JSON.stringify({ jsonrpc: '2.0', id: message?.id, result: whole }))
}

const many = (entry: unknown): unknown[] => Array.from({ length: MANY }, () => entry)

it.each<[string, object, Era, string]>([
  ['content', { content: many({}) }, 'legacy', 'content[0] is malformed'],
  ['content, modern', { content: many({}) }, 'modern', 'content[0] is malformed'],
  [
    'icons of an entry',
    { content: [{ type: 'resource_link', name: 'a', uri: 'a:b', icons: many({}) }] },
    'legacy',
    'content[0] has more than 4000 members',
  ],
  [
    'a form of a question',
    {
      resultType: 'input_required',
      requestState: 's',
      inputRequests: {
        a: {
          method: 'elicitation/create',
          params: {
            mode: 'form',
            message: 'Which?',
            requestedSchema: { type: 'object', properties: Object.fromEntries(many({}).entries()) },
          },
        },
      },
    },
    'modern',
    'the result has more than 4000 members',
  ],
])('%s with 100,000 malformed entries: one short error', async (_, result, era, text) => {
  const { call } = await visit(onCall((exchange) => answer(exchange, result), era))

  const error = await call().catch((thrown: unknown) => thrown)

  expect(error).toMatchObject({ code: 'REQUEST_FAILED' })
  expect(String(error)).toContain(text)
})

it.each([
  ['resources/read', 'contents'],
  ['prompts/get', 'messages'],
] as const)('%s with 100,000 malformed entries: one short error', async (method, member) => {
  const { client } = await visit(
    startHostile((exchange) => {
      if (exchange.message?.method !== method) return false
      answer(exchange, { [member]: many({}) })
      return true
    }),
  )
  const asked =
    method === 'prompts/get' ? client.prompts.get('evil', 'p') : client.resources.read('evil', 'a:b')

  await expect(asked).rejects.toThrow(`${member}[0] is malformed`)
})

it('1000 events of a poll, and offers with large schemas, are returned', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 500 }, (_none, at) => [`p${at}`, { type: 'string' }]),
  )
  const { client } = await visit(
    startHostile((exchange) => {
      const { method } = exchange.message ?? {}
      if (method === 'events/poll')
        answer(exchange, {
          events: Array.from({ length: 1000 }, (_none, at) => ({
            eventId: `e${at}`,
            name: 'a',
            timestamp: '2026-11-30T00:00:00Z',
            data: {},
          })),
          cursor: 'c',
          truncated: false,
          hasMore: false,
        })
      else if (method === 'events/list')
        answer(exchange, {
          events: Array.from({ length: 10 }, (_none, at) => ({
            name: `e${at}`,
            delivery: ['poll'],
            inputSchema: { type: 'object', properties },
          })),
        })
      else return false
      return true
    }),
  )

  expect((await client.events.poll('evil', { name: 'a' })).events).toHaveLength(1000)
  expect(await client.events.list('evil')).toHaveLength(10)
})

it('20,000 valid entries and any structuredContent are returned', async () => {
  const result = {
    content: Array.from({ length: 20_000 }, () => ({ type: 'text', text: '' })),
    structuredContent: { rows: many(1) },
  }
  const { call } = await visit(onCall((exchange) => answer(exchange, result)))

  expect(await call()).toMatchObject(result)
})

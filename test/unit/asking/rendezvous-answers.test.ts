/** Whose answer meets which call: docs/rendezvous.md, "Your own". */
import { expect, it } from 'vitest'
import * as z from 'zod'
import { bearer } from '../../../src/auth.ts'
import { createMemoryRendezvous, createTool, type Rendezvous } from '../../../src/index.ts'
import { secretOf } from '../../_secrets.ts'
import { createServer, initialize, legacyRequest, post, StreamReader } from '../_client.ts'

const form = z.object({ name: z.string() })
const ask = createTool({
  id: 'ask',
  execute: async (_input, ctx) => {
    const answer = await ctx.elicit('Who?', form)
    return answer.action === 'accept' ? answer.content.name : answer.action
  },
})

/** A server that asks at a rendezvous, and the keys that it waits at. */
function createDesk() {
  const memory = createMemoryRendezvous()
  const keys: string[] = []
  const rendezvous: Rendezvous = {
    wait: (key, deadline, signal) => {
      keys.push(key)
      return memory.wait(key, deadline, signal)
    },
    deliver: (key, answer) => memory.deliver(key, answer),
  }
  const auth = bearer((token) => ({ clientId: token, scopes: [] }))
  const server = createServer({
    tools: { ask },
    legacy: 'rendezvous',
    rendezvous,
    auth,
    secret: secretOf('x'),
  })
  const as = (token: string) => ({ authorization: `Bearer ${token}` })

  /** Calls the tool, and gives the question’s id and what comes of the call. */
  const call = async (token: string) => {
    const opened = await initialize(server, { capabilities: { elicitation: {} } }, as(token))
    const session = opened.headers.get('mcp-session-id')!
    const headers = { ...as(token), 'mcp-session-id': session }
    const stream = new StreamReader(
      await server.fetch(legacyRequest('tools/call', { name: 'ask', arguments: {} }, { headers })),
    )
    const question = (await stream.next()) as { id: string }
    return { id: question.id, next: () => stream.next() }
  }
  const answer = async (token: string, id: string, name: string): Promise<number> => {
    const result = { action: 'accept', content: { name } }
    return (await server.fetch(post({ jsonrpc: '2.0', id, result }, { headers: as(token) }))).status
  }
  return { keys, call, answer }
}

it('another caller’s answer to a question is acknowledged, and meets nothing [legacy.rendezvous]', async () => {
  const { call, answer } = createDesk()
  const { id, next } = await call('ann')
  expect(await answer('bob', id, 'Bob')).toBe(202)
  expect(await answer('ann', id, 'Ann')).toBe(202)
  expect(await next()).toMatchObject({ result: { content: [{ text: 'Ann' }] } })
})

it('of two answers the first counts; the second is acknowledged and dropped [legacy.rendezvous]', async () => {
  const { call, answer } = createDesk()
  const { id, next } = await call('ann')
  expect([await answer('ann', id, 'First'), await answer('ann', id, 'Second')]).toEqual([202, 202])
  expect(await next()).toMatchObject({ result: { content: [{ text: 'First' }] } })
  expect(await answer('ann', id, 'Late')).toBe(202)
})

it('keys are used once, cannot be guessed, and are another for each caller [legacy.rendezvous]', async () => {
  const { call, answer, keys } = createDesk()
  for (const token of ['ann', 'bob', 'ann', 'bob', 'ann']) {
    const { id, next } = await call(token)
    await answer(token, id, token)
    await next()
  }
  expect(new Set(keys).size).toBe(5)
  // 122 random bits each.
  for (const key of keys) expect(key).toMatch(/[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}/)
  expect(keys.filter((key) => key.includes('ann'))).toHaveLength(3)
})

/** Servers that ask the user: legacy ones by a request of their own, modern ones by `input_required`. */
import { expect, it } from 'vitest'
import * as z from 'zod'
import { createTool } from '../../../src/index.ts'
import { createClient, startMayfly, startSessionServer } from './_servers.ts'

const ask = createTool({
  id: 'ask',
  execute: async (_input, ctx) => {
    const answer = await ctx.elicit('Your name?', z.object({ name: z.string() }))
    return `${answer.action}: ${answer.action === 'accept' ? answer.content.name : undefined}`
  },
})

async function startBoth() {
  const { url } = await startSessionServer()
  return { v1: { url }, mayfly: { url: await startMayfly({ tools: { ask } }) } }
}
const BOTH = ['v1', 'mayfly'] as const

it.each(BOTH)('%s: the handler answers, and the call goes on', async (server) => {
  const client = createClient({ servers: await startBoth() })
  const questions: object[] = []
  client.elicitation.onRequest(server, (request) => {
    questions.push(request)
    return { action: 'accept', content: { name: 'Ann' } }
  })

  expect(await client.callTool(server, 'ask')).toMatchObject({ content: [{ text: 'accept: Ann' }] })

  expect(questions).toMatchObject([{ message: 'Your name?', requestedSchema: { required: ['name'] } }])
})

it.each(BOTH)('%s: without a handler the server knows that nobody can be asked', async (server) => {
  const client = createClient({ servers: await startBoth() })

  const result = await client.callTool(server, 'ask').catch((error: Error) => error)

  expect(JSON.stringify(result instanceof Error ? result.message : result)).toMatch(/elicitation/i)
})

it.each(BOTH)('%s: a handler given later counts from then on', async (server) => {
  const client = createClient({ servers: await startBoth() })
  await client.listTools()
  const end = client.elicitation.onRequest(server, () => ({ action: 'decline' }))

  expect(await client.callTool(server, 'ask')).toMatchObject({ content: [{ text: 'decline: undefined' }] })

  client.elicitation.onRequest(server, () => ({ action: 'cancel' }))
  end()
  expect(await client.callTool(server, 'ask')).toMatchObject({ content: [{ text: 'cancel: undefined' }] })
})

it.each([
  ['v1', 'ask_on_its_stream'],
  ['mayfly', 'ask'],
] as const)('%s: the user’s time does not count against the call’s', async (server, tool) => {
  const servers = await startBoth()
  const client = createClient({ servers: { [server]: { ...servers[server], timeoutMs: 1500 } } })
  await client.listTools()
  client.elicitation.onRequest(server, async () => {
    await new Promise((resolve) => setTimeout(resolve, 2500))
    return { action: 'accept', content: { name: 'Ann' } }
  })

  expect(await client.callTool(server, tool)).toMatchObject({ content: [{ text: 'accept: Ann' }] })
})

it('a call under way keeps its connection while a handler is given', async () => {
  const { url, requests } = await startSessionServer()
  const client = createClient({ servers: { v1: { url } } })
  await client.listTools()
  const call = client.callTool('v1', 'count')
  client.elicitation.onRequest('v1', () => ({ action: 'decline' }))

  expect(await call).toMatchObject({ content: [{ text: 'unwatched' }] })

  await client.callTool('v1', 'ask')
  expect(requests.filter((request) => request === 'initialize')).toHaveLength(2)
})

/** Tools, agents and workflows of a Mastra project in a Mayfly server, called by Mastra's clients and by the official ones. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type NodeServer, serve } from '../../adapters/node.ts'
import { MCPServer } from '../../adapters/node-mastra.ts'
import { staticTokens } from '../../src/auth.ts'
import { mastra1, mastra2, officialV1, officialV2, TOKEN } from './_clients.ts'
import { type Reference, serveMastra1, serveMastra2 } from './_mastra-reference.ts'
import { deliveries } from './mastra-project.ts'
import { createConfig, createServer } from './mastra-server.ts'

const auth = staticTokens([{ token: TOKEN, clientId: 'desk' }])

let ours: NodeServer
let reference1: Reference
let reference2: Reference

beforeAll(async () => {
  ours = await serve(createServer({ auth }), { port: 0 })
  reference1 = await serveMastra1()
  reference2 = await serveMastra2()
})

afterAll(async () => {
  await Promise.all([ours.close(), reference1.close(), reference2.close()])
})

describe.each([
  ['Mastra MCPClient 1.x', mastra1],
  ['Mastra MCPClient 2.x', mastra2],
  ['official client, SDK v1', officialV1],
  ['official client, SDK v2', officialV2],
])('%s', (_name, connect) => {
  it.each([
    ['weather', { city: 'Oslo', days: 2 }, { city: 'Oslo', degrees: [20, 21] }],
    ['split', { list: 'a,b' }, { items: ['a', 'b'] }],
    ['working', { parts: 3 }, '3 parts'],
    ['refund', { order: '42' }, { order: '42', refunded: true }],
    ['transfer', { amount: 7 }, { amount: 7, approved: true, asked: 7 }],
    ['pick', { list: 'a,b' }, { picked: 'b' }],
    ['shout', { text: 'hello' }, 'HELLO'],
    ['ask_support', { message: 'Help!' }, 'You said: Help!'],
    ['run_counting', { words: 'one two three' }, { count: 6, client: 'desk' }],
  ])('%s %j → %j', async (name, args, expected) => {
    const client = await connect(ours.url)
    expect(await client.call(name, args)).toEqual(expected)
    await client.close()
  })

  it('the tool knows its caller', async () => {
    const client = await connect(ours.url)
    expect(await client.call('caller')).toEqual({
      client: 'desk',
      sameClient: 'desk',
      hasRequestId: true,
      isAborted: false,
      abortSignalIsAborted: false,
      method: 'tools/call',
      tenant: 'acme',
    })
    await client.close()
  })
})

describe('the same as behind @mastra/mcp', () => {
  it.each([
    ['weather', { city: 'Oslo' }],
    ['working', { parts: 3 }],
    ['refund', { order: '42' }],
  ])('1.x: %s', async (name, args) => {
    const [client, reference] = [await officialV1(ours.url), await officialV1(reference1.url)]
    expect(await client.call(name, args)).toEqual(await reference.call(name, args))
    expect(client.progress).toEqual(reference.progress)
    expect(client.logged).toEqual(reference.logged)
    await Promise.all([client.close(), reference.close()])
  })

  it.each([
    ['weather', { city: 'Oslo' }],
    ['working', { parts: 3 }],
    ['transfer', { amount: 7 }],
  ])('2.x: %s', async (name, args) => {
    const [client, reference] = [await officialV2(ours.url), await officialV2(reference2.url)]
    expect(await client.call(name, args)).toEqual(await reference.call(name, args))
    expect(client.progress).toEqual(reference.progress)
    expect(client.logged).toEqual(reference.logged)
    await Promise.all([client.close(), reference.close()])
  })

  it.each([
    ['here', () => ours.url],
    ['there', () => reference2.url],
  ])('2.x: each phase of a tool that suspends twice runs once, %s', async (_where, url) => {
    deliveries.length = 0
    const client = await officialV2(url())
    expect(await client.call('deliver', { order: '42' })).toEqual({
      order: '42',
      where: 'home',
      when: 'noon',
    })
    expect(deliveries).toEqual(['start', 'where', 'when'])
    await client.close()
  })

  it('a tool is listed alike', async () => {
    const [client, reference] = [await officialV2(ours.url), await officialV2(reference2.url)]
    const find = async ({ client }: typeof reference) =>
      (await client.listTools()).tools.find(({ name }) => name === 'weather')
    const { inputSchema, outputSchema, ...rest } = (await find(client))!
    const { inputSchema: theirs, outputSchema: theirOutput, ...expected } = (await find(reference))!
    expect(rest).toEqual(expected)
    expect(inputSchema.properties).toEqual(theirs.properties)
    expect(outputSchema?.properties).toEqual(theirOutput?.properties)
    await Promise.all([client.close(), reference.close()])
  })
})

describe('what goes wrong', () => {
  it.each([
    ['failing', {}, /No such shop/],
    ['wrong', {}, /Tool output validation failed/],
    ['weather', {}, /city/],
    ['run_stuck', {}, /The conveyor is stuck/],
  ])('%s %j is an isError result', async (name, args, message) => {
    const { client, close } = await officialV2(ours.url)
    const result = await client.callTool({ name, arguments: args })
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(message) }] })
    await close()
  })

  it('a user who declines a suspended tool ends it', async () => {
    const { client, close } = await officialV2(ours.url)
    const declining = client as Extract<
      typeof client,
      { setRequestHandler(method: 'ping', ...rest: never[]): void }
    >
    declining.setRequestHandler('elicitation/create', () => ({ action: 'decline' }))
    const result = await client.callTool({ name: 'transfer', arguments: { amount: 7 } })
    expect(result).toMatchObject({ isError: true, content: [{ text: 'The user declined.' }] })
    await close()
  })

  it('an answer that is none is told to the model', async () => {
    const { client, close } = await officialV2(ours.url)
    const careless = client as Extract<
      typeof client,
      { setRequestHandler(method: 'ping', ...rest: never[]): void }
    >
    careless.setRequestHandler('elicitation/create', () => ({
      action: 'accept',
      content: { approved: 'so-so' },
    }))
    const result = await client.callTool({ name: 'transfer', arguments: { amount: 7 } })
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('approved') }] })
    await close()
  })

  it('an answer to a question that was never asked is none', async () => {
    const response = await fetch(ours.url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'deliver',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: 'deliver',
          arguments: { order: '42' },
          inputResponses: { input: { action: 'accept', content: { answer: 'home' } } },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'forger', version: '1.0.0' },
            'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
          },
        },
      }),
    })
    expect(await response.json()).toMatchObject({
      result: {
        resultType: 'input_required',
        inputRequests: { input: { params: { message: 'Where to?' } } },
      },
    })
  })

  it('without a secret, a tool that suspends says which to set', async () => {
    const { secret: _, ...config } = { ...createConfig(), auth }
    const server = await serve(new MCPServer(config), { port: 0, env: {} })
    const { client, close } = await officialV2(server.url)
    await expect(client.callTool({ name: 'transfer', arguments: { amount: 7 } })).rejects.toThrow(
      /MAYFLY_SECRET/,
    )
    await close()
    await server.close()
  })

  it('a legacy client that cannot be asked is told why', async () => {
    const server = await serve(createServer({ auth, legacy: 'explain' }), { port: 0 })
    const { client, close } = await officialV1(server.url)
    const result = await client.callTool({ name: 'transfer', arguments: { amount: 7 } })
    expect(result).toMatchObject({
      isError: true,
      _meta: { 'mayfly/degraded': { feature: 'elicitation.form' } },
    })
    await close()
    await server.close()
  })
})

it('setup may change a Mastra tool for one request', async () => {
  const server = await serve(
    createServer({ auth, setup: (mcp) => void mcp.tool('split').update({ title: 'Splitter' }) }),
    { port: 0 },
  )
  const { client, call, close } = await officialV2(server.url)
  const { tools } = await client.listTools()
  expect(tools.find(({ name }) => name === 'split')?.title).toBe('Splitter')
  expect(await call('split', { list: 'a,b' })).toEqual({ items: ['a', 'b'] })
  await close()
  await server.close()
})

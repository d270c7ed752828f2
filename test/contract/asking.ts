/** What asking promises, over HTTP, with the official clients: run by the launchers on each runtime. */
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  type ElicitResult,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CallResult, MODERN } from './clients.ts'
import type { Served } from './contract.ts'

export interface AskingServed extends Served {
  /** One address of each process behind `url`. */
  readonly processes: readonly URL[]
}

const IDENTITY = { name: 'asking-test', version: '1.0.0' }
const CAPABILITIES = { elicitation: {}, sampling: {}, roots: {} }
const REPLY = {
  role: 'assistant' as const,
  model: 'test',
  content: { type: 'text' as const, text: 'Something' },
}

type Answer = (message: string) => ElicitResult | Promise<ElicitResult>

const accept: Answer = (message) => ({ action: 'accept', content: { name: `<${message}>` } })

async function connectV1(url: URL, answer: Answer): Promise<ClientV1> {
  const client = new ClientV1(IDENTITY, { capabilities: CAPABILITIES })
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => answer(params.message))
  client.setRequestHandler(CreateMessageRequestSchema, () => REPLY)
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///home' }] }))
  await client.connect(new HttpV1(url) as Transport)
  return client
}

async function connectV2(url: URL, answer: Answer): Promise<ClientV2> {
  const client = new ClientV2(IDENTITY, {
    capabilities: CAPABILITIES,
    versionNegotiation: { mode: { pin: MODERN } },
  })
  client.setRequestHandler('elicitation/create', async ({ params }) => answer(params.message))
  client.setRequestHandler('sampling/createMessage', async () => REPLY)
  client.setRequestHandler('roots/list', async () => ({ roots: [{ uri: 'file:///home' }] }))
  await client.connect(new HttpV2(url))
  return client
}

async function callV1(
  client: ClientV1,
  name: string,
  args: Record<string, unknown> = {},
): Promise<CallResult & { _meta?: Record<string, unknown> }> {
  return (await client.callTool({ name, arguments: args })) as CallResult
}

const text = ({ content }: CallResult): string => (content[0] as { text: string }).text

export function askingContract(target: string, serve: () => Promise<AskingServed>): void {
  describe(`asking on ${target}`, () => {
    let served: AskingServed
    beforeAll(async () => {
      served = await serve()
    })
    afterAll(() => served?.stop())

    it('legacy, rendezvous: the client is asked on the stream and its answer reaches the tool [legacy.rendezvous]', async () => {
      const client = await connectV1(served.url, accept)
      expect(text(await callV1(client, 'ask'))).toBe('Hello <What is your name?>')
      await client.close()
    })

    it('legacy, rendezvous: decline is an answer', async () => {
      const client = await connectV1(served.url, () => ({ action: 'decline' }))
      expect(text(await callV1(client, 'ask'))).toBe('The user chose decline')
      await client.close()
    })

    it('legacy, rendezvous: sampling and roots ride the same way', async () => {
      const client = await connectV1(served.url, accept)
      expect(text(await callV1(client, 'ask-model'))).toContain('Something')
      expect(text(await callV1(client, 'roots'))).toContain('file:///home')
      await client.close()
    })

    it('legacy, rendezvous: five questions in one call, the step run once', async () => {
      const client = await connectV1(served.url, accept)
      const before = await stepsRun(served)
      const { names } = JSON.parse(text(await callV1(client, 'wizard'))) as { names: string[] }
      expect(names).toHaveLength(5)
      expect((await stepsRun(served)) - before).toBe(1)
      await client.close()
    })

    it('legacy, rendezvous: a client that never answers → a typed result at the deadline [legacy.deadline]', async () => {
      const client = await connectV1(served.url, () => new Promise(() => {}))
      const result = await callV1(client, 'ask')
      expect(result.isError).toBe(true)
      expect(result._meta?.['mayfly/degraded']).toMatchObject({ feature: 'elicitation.form' })
      await client.close()
    })

    it('an answer that nobody waits for → 202, and dropped', async () => {
      const response = await fetch(served.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 'mayfly-nobody',
          result: { action: 'accept', content: {} },
        }),
      })
      expect(response.status).toBe(202)
    })

    it('legacy, explain: the result says what is needed, typed [legacy.explain]', async () => {
      const client = await connectV1(served.url, accept)
      const result = await callV1(client, 'ask', { policy: 'explain' })
      expect(result.isError).toBe(true)
      expect(text(result)).toContain('What is your name?')
      expect(result._meta?.['mayfly/degraded']).toEqual({
        feature: 'elicitation.form',
        reason: expect.any(String),
        remedy: expect.any(String),
      })
      await client.close()
    })

    it('legacy, arguments: the model asks and calls again with the answers [legacy.arguments]', async () => {
      const client = await connectV1(served.url, accept)
      const first = await callV1(client, 'ask', { policy: 'arguments' })
      const { token, questions } = first._meta!['mayfly/continue'] as {
        token: string
        questions: { key: string }[]
      }
      const answers = { [questions[0]!.key]: { action: 'accept', content: { name: 'Ada' } } }
      expect(text(await callV1(client, 'ask', { policy: 'arguments', _continue: { token, answers } }))).toBe(
        'Hello Ada',
      )
      await client.close()
    })

    it('a legacy client that declared nothing → the context says so, and the tool explains', async () => {
      const client = new ClientV1(IDENTITY)
      await client.connect(new HttpV1(served.url) as Transport)
      expect(JSON.parse(text(await callV1(client, 'can', { feature: 'elicitation.form' })))).toMatchObject({
        available: false,
      })
      expect((await callV1(client, 'ask')).isError).toBe(true)
      await client.close()
    })

    it('modern: five rounds by the official client, the step run exactly once [ask.rounds] [ask.step]', async () => {
      const client = await connectV2(served.url, accept)
      const before = await stepsRun(served)
      const result = (await client.callTool({ name: 'wizard', arguments: {} })) as CallResult
      const { names } = JSON.parse(text(result)) as { names: string[] }
      expect(names).toEqual([1, 2, 3, 4, 5].map((round) => `<Name ${round}?>`))
      expect((await stepsRun(served)) - before).toBe(1)
      await client.close()
    })

    it('modern: sampling and roots', async () => {
      const client = await connectV2(served.url, accept)
      expect(text((await client.callTool({ name: 'ask-model', arguments: {} })) as CallResult)).toContain(
        'Something',
      )
      expect(text((await client.callTool({ name: 'roots', arguments: {} })) as CallResult)).toContain(
        'file:///home',
      )
      await client.close()
    })
  })
}

/** Counted in every process: behind a proxy nobody knows which one ran it. */
async function stepsRun({ processes }: AskingServed): Promise<number> {
  const counts = processes.map(async (url) => {
    const client = await connectV1(url, accept)
    const count = Number(text(await callV1(client, 'steps-run')))
    await client.close()
    return count
  })
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
}

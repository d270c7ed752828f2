/** What a call may count on: its time, its process, what it leaves behind, and that it streams. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CLIENTS } from '../../contract/clients.ts'
import { modernRequest, readStream } from '../../contract/wire.ts'
import { type Built, buildFunction, type RunningFunction } from './_function.ts'

interface ProcessFacts {
  pid: number
  calls: number
  secret: string | null
  secretWhileLoading: string | null
  secretsVariable: string | null
}

let built: Built
beforeAll(async () => {
  built = await buildFunction('fixture.ts')
})
afterAll(() => built?.[Symbol.dispose]())

function callTool({ url }: RunningFunction, name: string, args: object = {}): Promise<Response> {
  const meta = { progressToken: 'p' }
  return fetch(modernRequest(url, 'tools/call', { name, arguments: args }, { meta }))
}

async function processFacts(running: RunningFunction): Promise<ProcessFacts> {
  const { result } = (await (await callTool(running, 'process')).json()) as {
    result: { structuredContent: ProcessFacts }
  }
  return result.structuredContent
}

it('a stream arrives event by event: each is read before the next can come', async () => {
  await using running = await built.start({ trigger: 'function-url', handler: 'index.streamingHandler' })
  const file = built.file('read')

  const response = await callTool(running, 'wait', { file })
  const seen: unknown[] = []
  for await (const { message } of readStream(response)) {
    if (message === undefined) continue
    seen.push(message.params?.progress ?? message.result?.content)
    writeFileSync(file, '')
  }

  expect(response.headers.get('content-type')).toBe('text/event-stream')
  expect(seen).toEqual([1, [{ type: 'text', text: 'it exists' }]])
})

it('a REST API that streams gets the same', async () => {
  await using running = await built.start({ trigger: 'rest-api', handler: 'index.streamingHandler' })
  const file = built.file('rest')

  const response = await callTool(running, 'wait', { file })
  for await (const { message } of readStream(response)) if (message !== undefined) writeFileSync(file, '')

  expect(response.headers.get('content-type')).toBe('text/event-stream')
  expect(existsSync(file)).toBe(true)
})

it.each(['cookies', 'picture'])('%s of a streaming function arrive as of another', async (path) => {
  await using running = await built.start({ trigger: 'function-url', handler: 'index.streamingHandler' })

  const response = await fetch(new URL(path, running.origin))

  if (path === 'cookies') {
    expect(response.status).toBe(204)
    expect(response.headers.getSetCookie()).toEqual(['a=1; Path=/', 'b=2; Path=/'])
  } else {
    expect(Buffer.from(await response.arrayBuffer()).toString('base64')).toBe('iVBORwD//g==')
  }
})

it('a streaming function behind a trigger that cannot stream → a fault, and no half answer', async () => {
  await using running = await built.start({ trigger: 'alb', handler: 'index.streamingHandler' })

  const response = await callTool(running, 'process')

  expect(response.status).toBe(502)
})

it.each([
  ['answers whole', 'http-api', 'index.handler'],
  ['streams', 'function-url', 'index.streamingHandler'],
] as const)(
  'a tool that never ends, in a function that %s → an error that names the limit',
  async (_how, trigger, handler) => {
    await using running = await built.start({ trigger, handler, timeoutMs: 3000 })
    await callTool(running, 'echo', { text: 'the process has started' })

    const response = await callTool(running, 'hang')

    expect(response.status).toBe(200)
    const error = {
      code: -32603,
      message: expect.stringContaining('the timeout of the Lambda function'),
      data: { limit: 'deadline', name: 'the timeout of the Lambda function', deadline: expect.any(Number) },
    }
    if (trigger === 'http-api') expect(await response.json()).toMatchObject({ id: 1, error })
    else {
      const messages: unknown[] = []
      for await (const { message } of readStream(response)) if (message !== undefined) messages.push(message)
      expect(messages).toMatchObject([{ id: 1, error }])
    }
    // Lambda ended nothing: the process is there for the next call.
    await processFacts(running)
    expect(running.environments.started).toBe(1)
  },
)

it('subscriptions/listen in a function that streams → ended with its result before the function’s timeout [listen.graceful]', async () => {
  await using running = await built.start({
    trigger: 'function-url',
    handler: 'index.streamingHandler',
    timeoutMs: 3000,
  })
  await callTool(running, 'echo', { text: 'the process has started' })

  const params = { notifications: { toolsListChanged: true } }
  const response = await fetch(modernRequest(running.url, 'subscriptions/listen', params))

  const messages: unknown[] = []
  for await (const { message } of readStream(response)) if (message !== undefined) messages.push(message)
  expect(messages).toMatchObject([
    { params: { notifications: { toolsListChanged: true } } },
    { id: 1, result: { resultType: 'complete' } },
  ])
  await processFacts(running)
  expect(running.environments.started).toBe(1)
})

it('a tool that blocks its process is ended with it, and the next call gets a new one', async () => {
  await using running = await built.start({ trigger: 'function-url', timeoutMs: 2000 })
  const before = await processFacts(running)

  const response = await callTool(running, 'spin')

  expect(response.status).toBe(502)
  expect((await processFacts(running)).pid).not.toBe(before.pid)
})

it('a whole answer goes out when waitUntil work is done', async () => {
  await using running = await built.start({ trigger: 'http-api' })
  const file = built.file('later')

  const response = await callTool(running, 'write_later', { file })

  expect(await response.json()).toMatchObject({ result: { content: [{ text: 'answered' }] } })
  expect(readFileSync(file, 'utf8')).toBe('written')
})

it('waitUntil work that takes too long does not hold the answer back for ever', async () => {
  await using running = await built.start({ trigger: 'http-api', timeoutMs: 2000 })
  await callTool(running, 'echo', { text: 'the process has started' })

  const response = await callTool(running, 'follow', {
    after: built.file('never'),
    file: built.file('unused'),
  })

  expect(await response.json()).toMatchObject({ result: { content: [{ text: 'answered' }] } })
  expect(running.environments.started).toBe(1)
})

it('a streamed answer goes out first, and waitUntil work is done before the next call', async () => {
  await using running = await built.start({ trigger: 'function-url', handler: 'index.streamingHandler' })
  const [after, file] = [built.file('answer-read'), built.file('followed')]

  const response = await callTool(running, 'follow', { after, file })
  expect(await response.json()).toMatchObject({ result: { content: [{ text: 'answered' }] } })
  expect(existsSync(file)).toBe(false)
  writeFileSync(after, '')
  await processFacts(running)

  expect(existsSync(file)).toBe(true)
})

it('calls one after the other share a process, and nothing of their requests', async () => {
  await using running = await built.start({ trigger: 'function-url' })
  await using keeper = await CLIENTS[3]!.connect(running.url, { 'x-keeper': 'yes' })
  await using visitor = await CLIENTS[3]!.connect(running.url)

  const first = await processFacts(running)
  expect(await keeper.call('guarded')).toMatchObject({ content: [{ text: 'open' }] })
  await expect(visitor.call('guarded')).rejects.toMatchObject({ code: -32602 })
  const last = await processFacts(running)

  expect(last).toMatchObject({ pid: first.pid, calls: first.calls + 3 })
  expect(running.environments.started).toBe(1)
})

it('calls at once run in processes of their own', async () => {
  await using running = await built.start({ trigger: 'function-url', max: 2 })
  const file = built.file('meanwhile')

  const slow = callTool(running, 'wait', { file })
  const { pid } = await processFacts(running)
  writeFileSync(file, '')

  expect(await (await slow).json()).toMatchObject({ result: { content: [{ text: 'it exists' }] } })
  expect(pid).toBeGreaterThan(0)
  expect(running.environments.started).toBe(2)
})

it('more calls than there may be processes wait for one', async () => {
  await using running = await built.start({ trigger: 'function-url', max: 1 })

  const answers = await Promise.all(['a', 'b', 'c', 'd'].map((text) => callTool(running, 'echo', { text })))

  const texts = await Promise.all(
    answers.map(async (response) => {
      const { result } = (await response.json()) as { result: { content: { text: string }[] } }
      return result.content[0]?.text
    }),
  )
  expect(texts).toEqual(['a', 'b', 'c', 'd'])
  expect(running.environments.started).toBe(1)
})

it('stored secrets are variables, from before the server loads', async () => {
  const env = { MAYFLY_SECRETS: JSON.stringify({ API_KEY: 'k-123' }) }
  await using running = await built.start({ trigger: 'function-url', env })

  expect(await processFacts(running)).toMatchObject({
    secret: 'k-123',
    secretWhileLoading: 'k-123',
    secretsVariable: null,
  })
})

it('a function that cannot be loaded → a fault, and the reason for its operator', async () => {
  await using running = await built.start({ trigger: 'function-url', handler: 'index.noSuchHandler' })

  const response = await callTool(running, 'process')
  const answer = await running.environments.invoke({})

  expect(response.status).toBe(502)
  expect(await response.text()).not.toContain('noSuchHandler')
  expect(answer).toMatchObject({ kind: 'failed', type: 'Runtime.HandlerNotFound' })
})

it('an event of no trigger → an error that says which are served', async () => {
  await using running = await built.start({ trigger: 'function-url' })

  const answer = await running.environments.invoke({ source: 'aws.events', 'detail-type': 'Scheduled Event' })

  expect(answer).toMatchObject({
    kind: 'failed',
    type: 'TypeError',
    message: expect.stringMatching(/Function URL.*HTTP API.*REST API.*Load Balancer/),
  })
})

it('a stream whose process is ended breaks off', async () => {
  await using running = await built.start({
    trigger: 'function-url',
    handler: 'index.streamingHandler',
    timeoutMs: 3000,
  })
  const file = built.file('spin')

  const response = await callTool(running, 'spin', { file })
  const read = async (): Promise<void> => {
    for await (const { message } of readStream(response)) if (message !== undefined) writeFileSync(file, '')
  }

  await expect(read()).rejects.toThrow()
})

it('a client that goes away ends nothing: Lambda does not tell', async () => {
  await using running = await built.start({ trigger: 'function-url', handler: 'index.streamingHandler' })
  const [file, written] = [built.file('left'), built.file('left-written')]

  const response = await callTool(running, 'wait', { file, written })
  await response.body!.cancel()
  writeFileSync(file, '')
  await processFacts(running)

  expect(readFileSync(written, 'utf8')).toBe('not aborted')
})

// The first use of Node's fetch, or of its Request, Headers or Response, takes 20 ms of CPU: half of all that a first call takes.
it.each(['index.handler', 'index.streamingHandler'])(
  '%s: a plain call does not load Node’s fetch',
  async (handler) => {
    using plain = await buildFunction('plain.ts')
    await using running = await plain.start({ trigger: 'function-url', handler })
    const isLoaded = async (module: string): Promise<string> => {
      const { result } = (await (await callTool(running, 'loaded', { module })).json()) as {
        result: { content: { text: string }[] }
      }
      return result.content[0]!.text
    }

    expect(await isLoaded('internal/deps/undici/undici')).toBe('false')
    expect(await isLoaded('buffer')).toBe('true')

    const response = await callTool(running, 'header', { name: 'mcp-name' })
    expect(await response.text()).toContain('"true POST header"')
    expect(await isLoaded('internal/deps/undici/undici')).toBe('true')
  },
)

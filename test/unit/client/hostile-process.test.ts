/** Servers that are processes, and will not end, or not be quiet. */
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it, type TestContext } from 'vitest'
import { createStdioTransport } from '../../../adapters/stdio-client.ts'
import { MCPClient, type MCPClientConfig } from '../../../src/client.ts'

const FILE = fileURLToPath(new URL('../../hostile/server/process.ts', import.meta.url))

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'mayfly-process-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** By a command, as users give it, and by the transport of these very sources. */
const WAYS = ['command', 'transport'] as const
type Way = (typeof WAYS)[number]

type Finished = Pick<TestContext, 'onTestFinished'>

/** Most of these tests wait for a process: several at once. */
const each = it.concurrent

function open(
  { onTestFinished }: Finished,
  way: Way,
  behaviour: string,
  config: Omit<MCPClientConfig, 'servers'> = {},
) {
  const file = join(folder, `${crypto.randomUUID()}.json`)
  const started = { command: process.execPath, args: [FILE, behaviour, file] }
  const { maxResponseBytes } = config
  const transport = () =>
    createStdioTransport({ ...started, ...(maxResponseBytes && { maxLineBytes: maxResponseBytes }) })
  const client = new MCPClient({
    id: crypto.randomUUID(),
    timeoutMs: 8000,
    ...config,
    servers: { evil: way === 'command' ? started : { transport } },
    onError: () => {},
  })
  onTestFinished(() => client.disconnect())
  const pids = (): number[] => JSON.parse(readFileSync(file, 'utf8')) as number[]
  onTestFinished(() => {
    for (const pid of existsSync(file) ? pids() : []) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  })
  return { client, pids, isStarted: () => existsSync(file) }
}

/** A zombie, which some parent has not looked at yet, is dead. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

each.for(WAYS)(
  'one that neither the end of its input nor SIGTERM ends (%s) is gone after disconnect()',
  async (way, context) => {
    const { client, pids } = open(context, way, 'stubborn')
    await client.listTools()
    const [own, child] = pids() as [number, number]
    expect([isAlive(own), isAlive(child)]).toEqual([true, true])

    const startedAt = Date.now()
    await client.disconnect()
    // 2 seconds to end by itself, 2 more once it was asked.
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(3900)

    expect([isAlive(own), isAlive(child)]).toEqual([false, false])
  },
)

each.for(WAYS)('one that ends, but leaves another behind (%s): both are gone', async (way, context) => {
  const { client, pids } = open(context, way, 'leaving one behind')
  await client.listTools()
  const [own, child] = pids() as [number, number]

  await client.disconnect()

  expect([isAlive(own), isAlive(child)]).toEqual([false, false])
})

each('one that never answered is gone as well', async (context) => {
  const { client, pids, isStarted } = open(context, 'command', 'stubborn and silent', { timeoutMs: 5000 })
  const listed = client.listTools()
  await context.expect.poll(isStarted).toBe(true)
  expect(await listed).toEqual({})
  const [own, child] = pids() as [number, number]

  await client.disconnect()

  expect([isAlive(own), isAlive(child)]).toEqual([false, false])
})

each.for(['disconnect', 'timeout'])(
  'one that is connected and never sets the level of logs (%s) is gone as well',
  async (end, { expect, onTestFinished }) => {
    const file = join(folder, `${crypto.randomUUID()}.json`)
    const client = new MCPClient({
      id: crypto.randomUUID(),
      timeoutMs: end === 'timeout' ? 5000 : 60_000,
      servers: {
        evil: { command: process.execPath, args: [FILE, 'stubborn and without logs', file], log: () => {} },
      },
      onError: () => {},
    })
    onTestFinished(() => client.disconnect())
    const listed = client.listTools().catch(() => {})
    await expect.poll(() => existsSync(`${file}.asked`)).toBe(true)
    if (end === 'timeout') await listed
    const [own, child] = JSON.parse(readFileSync(file, 'utf8')) as [number, number]

    await client.disconnect()

    expect([isAlive(own), isAlive(child)]).toEqual([false, false])
  },
)

each('one whose transport was closed before it began is not started', async () => {
  const file = join(folder, `${crypto.randomUUID()}.json`)
  const transport = createStdioTransport({ command: process.execPath, args: [FILE, 'stubborn', file] })

  await transport.close()

  await expect(transport.start()).rejects.toThrow('closed')
  expect(existsSync(file)).toBe(false)
})

/** A program that starts a process which will not end, and then does this. */
function runProgram(file: string, then: string) {
  const code = `
    import { MCPClient } from ${JSON.stringify(new URL('../../../src/client.ts', import.meta.url).href)}
    import { createStdioTransport } from ${JSON.stringify(new URL('../../../adapters/stdio-client.ts', import.meta.url).href)}
    const options = { command: process.execPath, args: ${JSON.stringify([FILE, 'stubborn', file])} }
    const client = new MCPClient({ servers: { evil: { transport: () => createStdioTransport(options) } } })
    await client.listTools()
    ${then}`
  const program = join(folder, `${crypto.randomUUID()}.ts`)
  writeFileSync(program, code)
  return new Promise<{ status: number | null; signal: string | null; stderr: string }>((resolve) => {
    const child = execFile(process.execPath, [program], { timeout: 30_000 }, (_error, _stdout, stderr) =>
      resolve({ status: child.exitCode, signal: child.signalCode, stderr }),
    )
  })
}

each.for(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'])(
  'what a program leaves running that %s ends is ended',
  async (signal, { expect }) => {
    const file = join(folder, `${signal}.json`)
    const { signal: ended, stderr } = await runProgram(file, `process.kill(process.pid, '${signal}')`)
    expect(ended, stderr).toBe(signal)

    const pids = JSON.parse(readFileSync(file, 'utf8')) as number[]

    await expect.poll(() => pids.map(isAlive)).toEqual([false, false])
  },
)

each('a program that has disconnected its client ends by itself', async () => {
  const { status, stderr } = await runProgram(join(folder, 'ended.json'), 'await client.disconnect()')
  expect(status, stderr).toBe(0)
})

each('what a program leaves running when it exits is ended', async ({ expect }) => {
  const file = join(folder, 'left.json')
  const { status, stderr } = await runProgram(file, 'process.exit(0)')
  expect(status, stderr).toBe(0)

  const [own, child] = JSON.parse(readFileSync(file, 'utf8')) as [number, number]

  await expect.poll(() => [isAlive(own), isAlive(child)]).toEqual([false, false])
})

// It measures the memory of this process: alone.
it.for(WAYS)(
  'a line without end (%s) → RESPONSE_TOO_LARGE, and the next call starts another',
  async (way, context) => {
    const { client } = open(context, way, 'endless line')
    const before = process.memoryUsage.rss()

    for (let round = 0; round < 2; round++) {
      const error = await client.callTool('evil', 'hello').catch((thrown: unknown) => thrown)
      // A transport of one's own says what it likes.
      if (way === 'command') expect(error).toMatchObject({ code: 'RESPONSE_TOO_LARGE', server: 'evil' })
      else expect(error).toMatchObject({ code: 'REQUEST_FAILED' })
    }

    expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 1024 * 1024)
  },
)

each('the limit on lines is an option', async (context) => {
  const { client } = open(context, 'command', 'endless line', { maxResponseBytes: 10_000 })

  await expect(client.callTool('evil', 'hello')).rejects.toMatchObject({
    code: 'RESPONSE_TOO_LARGE',
    message: expect.stringContaining('10000 bytes'),
  })
})

each.for(WAYS)('lines that are no messages (%s) are passed over', async (way, context) => {
  const { client } = open(context, way, 'no messages')

  expect(await client.callTool('evil', 'hello')).toMatchObject({ content: [{ text: 'Hello' }] })
})

each.for(WAYS)('one that ends at what it does not know (%s) is a legacy one', async (way, context) => {
  const { client } = open(context, way, 'ending at what it does not know')

  expect(await client.callTool('evil', 'hello')).toMatchObject({ content: [{ text: 'Hello' }] })
})

each('its question is for the call under way, whose time it suspends', async (context) => {
  const { client } = open(context, 'command', 'question', { timeoutMs: 4000 })
  const asked: AbortSignal[] = []
  client.elicitation.onRequest('evil', (_request, { signal }) => {
    asked.push(signal)
    return new Promise(() => {})
  })
  await client.listTools()
  const controller = new AbortController()
  const call = client.callTool('evil', 'hello', {}, { timeoutMs: 2000, signal: controller.signal })
  await context.expect.poll(() => asked.length).toBe(1)
  await new Promise((resolve) => setTimeout(resolve, 3000))

  controller.abort()

  await expect(call).rejects.toMatchObject({ code: 'ABORTED' })
  expect(asked[0]!.aborted).toBe(true)
})

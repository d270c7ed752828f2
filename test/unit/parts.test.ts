/** The parts of the server that are loaded at their first use, in a process that has used none. */
import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { PartError, part } from '../../src/definition/part.ts'
import type { MCPServer, MCPServerConfig, ToolMiddleware } from '../../src/index.ts'
import { callTool, deferred, legacy, legacyRequest, modern, post, send, textOf } from './_client.ts'

const ELICITS = { meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } } }

/** The package, loaded anew: no part of it is. */
let fresh: typeof import('../../src/index.ts')
beforeEach(async () => {
  vi.resetModules()
  fresh = await import('../../src/index.ts')
})

type Execute = NonNullable<Parameters<typeof fresh.createTool>[0]['execute']>

const serverWith = (execute: Execute, config: Partial<MCPServerConfig> = {}): MCPServer =>
  new fresh.MCPServer({
    name: 'x',
    version: '1',
    log: false,
    tools: { t: fresh.createTool({ id: 't', execute }) },
    ...config,
  })

const form = (name: string): never =>
  fresh.jsonSchema({ type: 'object', properties: { [name]: { type: 'string' } } }) as never

describe('the first call that asks', () => {
  it('asks all that it asks at once in one round, in order, and its steps run first', async () => {
    const steps: string[] = []
    const server = serverWith(
      async (_input, ctx) => {
        const step = ctx.step('one', () => steps.push('one'))
        const [a, b] = await Promise.all([ctx.elicit('A?', form('a')), ctx.elicit('B?', form('b'))])
        await step
        return `${a.action} ${b.action}`
      },
      { secret: 'a secret of more than thirty-two characters' },
    )

    const { result } = await callTool(server, 't', undefined, ELICITS)

    const requests = Object.entries(result!.inputRequests as Record<string, { params: { message: string } }>)
    expect(requests.map(([, { params }]) => params.message)).toEqual(['A?', 'B?'])
    const inputResponses = Object.fromEntries(requests.map(([key]) => [key, { action: 'decline' }]))
    const again = { name: 't', inputResponses, requestState: result!.requestState }
    expect(textOf(await modern(server, 'tools/call', again, ELICITS))).toBe('decline decline')
    expect(steps).toEqual(['one'])
  })

  it('ctx.can knows that a step was begun', async () => {
    const server = serverWith((_input, ctx) => {
      const before = ctx.can('elicitation.form').available
      void ctx.step('one', () => 1)
      return `${before} ${ctx.can('elicitation.form').available}`
    })

    expect(textOf(await callTool(server, 't', undefined, ELICITS))).toBe('true false')
  })

  it('a client that disconnects meanwhile → the tool is stopped, and nothing is reported', async () => {
    const onError = vi.fn()
    const stopped = deferred<unknown>()
    const server = serverWith(
      async (_input, ctx) => {
        client.abort()
        await ctx.elicit('A?', form('a')).catch(stopped.resolve)
      },
      { onError },
    )
    const client = new AbortController()
    void callTool(server, 't', undefined, { ...ELICITS, signal: client.signal })

    expect(await stopped.promise).toMatchObject({ name: 'AbortError' })
    expect(onError).not.toHaveBeenCalled()
  })

  it('a question that is not awaited does not end the process, and the result is sent', async () => {
    const server = serverWith((_input, ctx) => {
      void ctx.elicit('A?', form('a'))
      void ctx.step('one', () => {
        throw new Error('late')
      })
      return 'done'
    })

    expect(textOf(await callTool(server, 't', undefined, ELICITS))).toBe('done')
  })

  it('a tool that is executed without a request has its steps', async () => {
    const server = serverWith((_input, ctx) => ctx.step('one', () => 'stepped'))

    expect(await server.executeTool('t', {})).toBe('stepped')
  })
})

it('a server that is closed while its first stream of changes loads → the stream ends with its result', async () => {
  const server = serverWith(() => '', { bus: fresh.createMemoryBus() })
  vi.doMock('../../src/protocol/listen.ts', async (load) => {
    await server.close()
    return load()
  })
  onTestFinished(() => void vi.doUnmock('../../src/protocol/listen.ts'))

  const opening = modern(server, 'subscriptions/listen', { notifications: { toolsListChanged: true } })

  expect((await opening).result).toMatchObject({ resultType: 'complete' })
})

describe('a part that cannot be loaded the first time', () => {
  /** A server whose only tool counts its calls, in a process in which `load` of `module` fails once. */
  const failing = async (
    module: string,
    load: string,
    config: (called: () => undefined) => Promise<Partial<MCPServerConfig>>,
  ) => {
    vi.resetModules()
    vi.doMock(module, async (original) => {
      const real = (await original()) as Record<string, () => Promise<unknown>>
      return {
        ...real,
        [load]: vi.fn(real[load]).mockRejectedValueOnce(new Error('EMFILE: too many open files')),
      }
    })
    onTestFinished(() => void vi.doUnmock(module))
    fresh = await import('../../src/index.ts')
    const [executed, called, onError] = [vi.fn(() => 'done'), vi.fn((): undefined => {}), vi.fn()]
    const server = serverWith(executed, { onError, ...(await config(called)) })
    return { server, executed, called, onError }
  }

  it.each<
    [
      what: string,
      module: string,
      load: string,
      (called: () => undefined) => Promise<Partial<MCPServerConfig>>,
    ]
  >([
    [
      'the check of tokens',
      '../../src/http/load-callers.ts',
      'loadCallers',
      async (called) => {
        const { bearer } = await import('../../src/auth.ts')
        return { auth: bearer((token) => called() ?? { clientId: token, scopes: [] }) }
      },
    ],
    [
      'the rate limit',
      '../../src/http/load-callers.ts',
      'loadCallers',
      async (called) => ({ http: { rateLimiter: { limit: () => ({ ok: called() ?? true }) } } }),
    ],
    [
      'the audit trail',
      '../../src/http/load-audit.ts',
      'loadAudit',
      // The call that was not made has an entry, too.
      async (called) => ({ audit: { record: ({ code }) => (code === undefined ? called() : undefined) } }),
    ],
    [
      'the middleware',
      '../../src/request/load-around-tool.ts',
      'loadAroundTool',
      async (called) => ({ use: [async (_call, next) => called() ?? next()] }),
    ],
  ])('%s → the call is not made without it, and the next one is made with it', async (_what, ...part) => {
    const { server, executed, called, onError } = await failing(...part)
    const options = { headers: { authorization: 'Bearer ada' }, platform: { clientAddress: '192.0.2.1' } }

    const refused = await callTool(server, 't', undefined, options)
    expect(refused.error).toMatchObject({ code: -32603, message: 'Internal error' })
    expect(executed).not.toHaveBeenCalled()
    expect(String(onError.mock.calls[0])).toContain('EMFILE')
    called.mockClear()

    const answered = await callTool(server, 't', undefined, options)
    expect(textOf(answered)).toBe('done')
    expect(called).toHaveBeenCalledTimes(1)
  })

  it('what reads large bodies → -32603 with 500, and the next one is read', async () => {
    const { server, executed, onError } = await failing(
      '../../src/http/load-other.ts',
      'loadOther',
      async () => ({}),
    )
    const text = 'x'.repeat(100_000)

    const refused = await callTool(server, 't', { text })
    expect(refused).toMatchObject({ status: 500, error: { code: -32603, message: 'Internal error' } })
    expect(executed).not.toHaveBeenCalled()
    expect(String(onError.mock.calls[0])).toContain('EMFILE')
    expect(textOf(await callTool(server, 't', { text }))).toBe('done')
  })

  it('what reads messages without a result → -32603 with 500, and the next one is accepted', async () => {
    const { server, onError } = await failing(
      '../../src/protocol/load-engine.ts',
      'loadOtherMessages',
      async () => ({}),
    )
    const message = { jsonrpc: '2.0', method: 'notifications/initialized' }

    const refused = await send(server, post(message))
    expect(refused).toMatchObject({ status: 500, error: { code: -32603, message: 'Internal error' } })
    expect(String(onError.mock.calls[0])).toContain('EMFILE')
    expect((await send(server, post(message))).status).toBe(202)
  })

  it('the spans → the call is made without one, and the next one has it', async () => {
    const { server, called, onError } = await failing(
      '../../src/protocol/load-engine.ts',
      'loadTraced',
      async (called) => ({
        telemetry: { start: () => called() ?? { run: (work) => work(), end() {} } },
      }),
    )

    expect(textOf(await callTool(server, 't'))).toBe('done')
    expect(called).not.toHaveBeenCalled()
    expect(String(onError.mock.calls[0])).toContain('EMFILE')
    expect(textOf(await callTool(server, 't'))).toBe('done')
    expect(called).toHaveBeenCalledTimes(1)
  })
})

describe('a part that cannot be loaded', () => {
  let folder: string
  const sources = { server: new URL('../contract/parts-server.ts', import.meta.url) }
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mayfly-parts-'))
    await build({
      entryPoints: [sources.server.pathname],
      ...{ bundle: true, splitting: true, format: 'esm', outdir: folder, outExtension: { '.js': '.mjs' } },
    })
  })
  afterAll(() => rm(folder, { recursive: true }))

  /** The server of a process in which the part has no file, and what brings it back. */
  const without = async (name: string) => {
    const path = join(folder, (await readdir(folder)).find((file) => file.startsWith(`${name}-part-`))!)
    await rename(path, `${path}.away`)
    onTestFinished(() => copyFile(`${path}.away`, path))
    const own = join(folder, `${name}.mjs`)
    await copyFile(join(folder, 'parts-server.mjs'), own)
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => printed.mockRestore())
    const start = async (): Promise<MCPServer> =>
      (await import(/* @vite-ignore */ pathToFileURL(own).href)).createPartsServer()
    return { path, own, start, printed }
  }

  // In a process of its own: vitest remembers what it could not import.
  it('a question → -32603 and a line for the operator; once its file is there, it is asked', async () => {
    const { path, own } = await without('asking')
    const request = legacyRequest('tools/call', { name: 'work' })
    const init = { method: 'POST', headers: Object.fromEntries(request.headers), body: await request.text() }
    const script = `
      import { copyFileSync } from 'node:fs'
      const { createPartsServer } = await import(${JSON.stringify(pathToFileURL(own).href)})
      const server = createPartsServer()
      const call = async () => (await server.fetch(new Request(${JSON.stringify(request.url)}, ${JSON.stringify(init)}))).text()
      console.log(await call())
      copyFileSync(${JSON.stringify(`${path}.away`)}, ${JSON.stringify(path)})
      console.log(await call())`

    const { stdout, stderr } = await promisify(execFile)(process.execPath, [
      '--input-type=module',
      '-e',
      script,
    ])

    expect(stdout).toMatch(/-32603,"message":"Internal error".*\n.*"text":"worked"/)
    expect(stderr).toContain('A part of Mayfly could not be loaded')
  })

  it('the page → 500 and a line for the operator', async () => {
    const { start, printed } = await without('page')
    const server = await start()

    const response = await server.fetch(
      new Request('https://x.example/', { headers: { accept: 'text/html' } }),
    )

    expect(response.status).toBe(500)
    expect(JSON.stringify(printed.mock.calls)).toContain('A part of Mayfly could not be loaded')
  })

  it('a prompt → -32603; a call of a tool is answered as ever', async () => {
    const { start } = await without('prompts')
    const server = await start()

    expect((await modern(server, 'prompts/list')).error).toMatchObject({ code: -32603 })
    expect(textOf(await legacy(server, 'tools/call', { name: 'plain' }))).toBe('plain')
  })

  it('a task that waits when the middleware cannot be loaded → it is tried again, and not failed', async () => {
    const executed: string[] = []
    const tasks = await import('../../src/tasks.ts')
    const store = tasks.createMemoryTaskStore()
    /** A process, with what it has loaded. */
    const start = async () => {
      vi.resetModules()
      const { createTool } = await import('../../src/index.ts')
      const { createTasks } = await import('../../src/tasks.ts')
      const { TaskClient } = await import('./tasks/_tasks.ts')
      const job = createTool({
        id: 'job',
        task: 'required',
        execute: async (_input, ctx) => {
          await ctx.step('one', () => executed.push('one'))
          await ctx.waitFor('go')
          return 'done'
        },
      })
      const onError = vi.fn()
      const use = [((_call, next) => next()) satisfies ToolMiddleware]
      return {
        onError,
        client: new TaskClient({ tools: { job }, use, tasks: createTasks({ store }), onError }),
      }
    }
    const before = await start()
    const { taskId } = await before.client.call('job')
    await vi.waitFor(() => expect(executed).toEqual(['one']))
    await before.client.settle()
    const loadAroundTool = vi
      .fn(() => import('../../src/request/around-tool.ts'))
      .mockRejectedValueOnce(new Error('EMFILE: too many open files'))
    vi.doMock('../../src/request/load-around-tool.ts', () => ({ loadAroundTool }))
    onTestFinished(() => void vi.doUnmock('../../src/request/load-around-tool.ts'))
    const { client, onError } = await start()

    await client.server.tasks.send(taskId, 'go', {})
    await client.server.tasks.run(taskId)
    expect((await client.get(taskId)).status).toBe('working')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 })
    onTestFinished(() => void vi.useRealTimers())
    await client.server.tasks.run(taskId)

    expect(await client.get(taskId)).toMatchObject({
      status: 'completed',
      result: { content: [{ text: 'done' }] },
    })
    expect(executed).toEqual(['one'])
    expect(String(onError.mock.calls[0])).toContain('EMFILE')
  })

  it('that never loads → PartError after ten seconds, and the next use tries again', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const module = { name: 'part' }
    const load = vi
      .fn<() => Promise<object>>()
      .mockReturnValueOnce(new Promise(() => {}))
      .mockResolvedValue(module)
    const first = Promise.resolve(part(load)).catch((error: unknown) => error)

    await vi.advanceTimersByTimeAsync(10_000)

    expect(await first).toBeInstanceOf(PartError)
    expect(await part(load)).toBe(module)
    expect(part(load)).toBe(module)
    expect(load).toHaveBeenCalledTimes(2)
  })
})

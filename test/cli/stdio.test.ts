/** `mayfly stdio`, started by the official clients as a desktop client would. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client as ModernClient } from '@modelcontextprotocol/client'
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import {
  ElicitRequestSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { afterEach, describe, expect, test } from 'vitest'
import { eventually } from '../_eventually.ts'
import { Project } from './_dev-process.ts'
import { WRAPPED_SERVERS } from './_wrapped-servers.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const CLI = join(ROOT, 'deploy/cli.ts')

const SERVER = `
  import { createMemoryBus, createResource, createTool, MCPServer } from 'mayfly-mcp'
  import * as z from 'zod'

  console.log('a line of the module')
  let goOn = () => {}
  const server = new MCPServer({
    id: 'desk',
    name: 'Desk',
    version: '1.0.0',
    bus: createMemoryBus(),
    resources: [createResource({ uri: 'note://1', name: 'note', read: () => 'a note' })],
    tools: {
      order: createTool({
        id: 'order',
        execute: async (_input, ctx) => {
          console.log('a line of the tool')
          const answer = await ctx.elicit('How many?', z.object({ count: z.number() }))
          return answer.action === 'accept' ? String(answer.content.count) : answer.action
        },
      }),
      work: createTool({
        id: 'work',
        execute: async (_input, ctx) => {
          ctx.reportProgress({ progress: 1 })
          // Until its client has heard of it.
          await new Promise((resolve) => { goOn = resolve })
          return ctx.era
        },
      }),
      era: createTool({ id: 'era', execute: (_input, ctx) => ctx.era }),
      heard: createTool({ id: 'heard', execute: () => { goOn(); return 'so be it' } }),
      change: createTool({
        id: 'change',
        execute: async () => {
          await server.tools.notifyListChanged()
          await server.resources.notifyUpdated({ uri: 'note://1' })
          return 'changed'
        },
      }),
      wait: createTool({
        id: 'wait',
        execute: (_input, ctx) => new Promise((resolve) => ctx.signal.addEventListener('abort', () => {
          console.error('aborted')
          resolve('late')
        })),
      }),
    },
  })
  export default server
`

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

function createProject(server = SERVER): Project {
  const project = new Project()
  cleanups.push(() => project[Symbol.asyncDispose]())
  const packages = join(project.folder, 'node_modules')
  mkdirSync(packages)
  symlinkSync(ROOT, join(packages, 'mayfly-mcp'))
  symlinkSync(join(ROOT, 'node_modules/zod'), join(packages, 'zod'))
  project.write('server.ts', server)
  return project
}

const command = (project: Project) => ({
  command: process.execPath,
  args: [CLI, 'stdio', 'server.ts'],
  cwd: project.folder,
  env: { PATH: process.env.PATH ?? '' },
  stderr: 'pipe' as const,
})

/** What a transport's process prints to stderr. */
function readErrors(transport: StdioClientTransport | ModernTransport): () => string {
  let text = ''
  transport.stderr?.on('data', (chunk) => {
    text += chunk
  })
  return () => text
}

describe('mayfly stdio', { timeout: 180_000 }, () => {
  test('a legacy client is asked, hears progress and changes, and cancels', async () => {
    const transport = new StdioClientTransport(command(createProject()))
    const errors = readErrors(transport)
    const client = new Client({ name: 'desktop', version: '1' }, { capabilities: { elicitation: {} } })
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { count: 3 } }))
    const heard: string[] = []
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void heard.push('tools'))
    client.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }) => void heard.push(params.uri),
    )
    await client.connect(transport as never)
    cleanups.push(() => client.close())

    expect((await client.listTools()).tools).toHaveLength(6)
    expect((await client.callTool({ name: 'order' })).content).toEqual([{ type: 'text', text: '3' }])
    // Before the result, and not with it: SDK v1's client drops what it reads in one piece with the result.
    const progress: number[] = []
    let heardOf: Promise<unknown> | undefined
    const { content } = await client.callTool({ name: 'work' }, undefined, {
      onprogress: (report) => {
        progress.push(report.progress)
        heardOf = client.callTool({ name: 'heard' })
      },
    })
    expect(content).toEqual([{ type: 'text', text: 'legacy' }])
    await heardOf
    expect(progress).toEqual([1])
    await client.subscribeResource({ uri: 'note://1' })
    await client.callTool({ name: 'change' })
    await eventually(() => expect(heard).toEqual(['tools', 'note://1']))

    const cancel = new AbortController()
    const waiting = client.callTool({ name: 'wait' }, undefined, { signal: cancel.signal })
    await client.listTools()
    cancel.abort()
    await expect(waiting).rejects.toThrow()
    await eventually(() => expect(errors()).toContain('aborted'))
    expect(errors()).toContain('a line of the module')
    expect(errors()).toContain('a line of the tool')
  })

  test('a modern client is asked by rounds, and listens', async () => {
    const transport = new ModernTransport(command(createProject()))
    const client = new ModernClient(
      { name: 'desktop', version: '1' },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { count: 5 } }))
    await client.connect(transport)
    cleanups.push(() => client.close())

    expect((await client.callTool({ name: 'order' })).content).toEqual([{ type: 'text', text: '5' }])
    expect((await client.callTool({ name: 'era' })).content).toEqual([{ type: 'text', text: 'modern' }])
    const heard: string[] = []
    client.setNotificationHandler('notifications/tools/list_changed', () => void heard.push('tools'))
    const subscription = await client.listen({ toolsListChanged: true })
    await client.callTool({ name: 'change' })
    await eventually(() => expect(heard).toEqual(['tools']))
    await subscription.close()
  })

  test('runs wherever its client starts it', async () => {
    const project = createProject()
    project.write('package.json', '{ "name": "desk" }')
    const transport = new StdioClientTransport({
      ...command(project),
      args: [CLI, 'stdio', join(project.folder, 'server.ts')],
      cwd: '/',
    })
    const client = new Client({ name: 'desktop', version: '1' })
    await client.connect(transport as never)
    expect((await client.listTools()).tools).toHaveLength(6)
    await client.close()
    expect(existsSync('/node_modules')).toBe(false)
  })

  test('the client closes its end → exit code 0, nothing but messages on stdout', async () => {
    const { command: program, args, cwd, env } = command(createProject())
    const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    await eventually(() => expect(output).toContain('"id":1'))
    child.stdin.end()
    const [code] = await once(child, 'exit')
    expect(code).toBe(0)
    expect(output).toBe('{"jsonrpc":"2.0","id":1,"result":{}}\n')
  })

  /** Writes lines to a server that speaks `protocolVersion`, and returns its answers, `count` of them. */
  async function converse(protocolVersion: string, count: number, lines: readonly (string | Buffer)[]) {
    const { command: program, args, cwd, env } = command(createProject())
    const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 'i', method: 'initialize', params })}\n`)
    await eventually(() => expect(output).toContain('"id":"i"'))
    output = ''
    for (const line of lines) child.stdin.write(Buffer.concat([Buffer.from(line), Buffer.from('\n')]))
    child.stdin.write('{"jsonrpc":"2.0","id":"last","method":"ping"}\n')
    const answers = () => output.split('\n').slice(0, -1)
    await eventually(() => expect(answers().length).toBeGreaterThan(count))
    child.stdin.end()
    await once(child, 'exit')
    return answers()
      .map((line) => JSON.parse(line))
      .filter(({ id }) => id !== 'last')
  }

  test('what is no request is answered as over HTTP', async () => {
    const answers = await converse('2025-11-25', 8, [
      'garbage',
      Buffer.from([0x7b, 0xff, 0xfe, 0x7d]),
      '5',
      '{"id":1,"method":"ping"}',
      '{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
      '{"jsonrpc":"2.0","id":2,"method":"ping","params":[]}',
      '[{"jsonrpc":"2.0","id":3,"method":"ping"}]',
      `{"jsonrpc":"2.0","id":4,"method":"ping","params":{"deep":${'['.repeat(1000)}${']'.repeat(1000)}}}`,
    ])
    // In whatever order they were ready.
    expect(answers.map(({ id, error }) => `${error.code} ${id ?? 'without id'}`).sort()).toEqual([
      '-32600 1',
      '-32600 2',
      '-32600 4',
      '-32600 without id',
      '-32600 without id',
      '-32600 without id',
      '-32700 without id',
      '-32700 without id',
    ])
  })

  test('blank lines, answers to nothing and notifications get none; one member more does no harm', async () => {
    const answers = await converse('2025-11-25', 1, [
      '',
      ' \r',
      '{"jsonrpc":"2.0","id":"nobody","result":{}}',
      '{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}',
      '{"jsonrpc":"2.0","method":"notifications/unheard"}',
      '{"jsonrpc":"2.0","id":1,"method":"ping","more":"é"}\r',
    ])
    expect(answers).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }])
  })

  test('a batch is answered with a batch where 2025-03-26 was agreed on', async () => {
    const answers = await converse('2025-03-26', 1, [
      '[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/unheard"},{"jsonrpc":"2.0","id":2,"method":"ping"}]',
      '[{"jsonrpc":"2.0","method":"notifications/unheard"}]',
    ])
    expect(answers).toEqual([
      [
        { jsonrpc: '2.0', id: 1, result: {} },
        { jsonrpc: '2.0', id: 2, result: {} },
      ],
    ])
  })

  test.for(WRAPPED_SERVERS)('serves the server that has %s around it', async ([, source]) => {
    const client = new Client({ name: 'desktop', version: '1' })
    await client.connect(new StdioClientTransport(command(createProject(source))) as never)
    cleanups.push(() => client.close())

    expect((await client.callTool({ name: 'hello' })).content).toEqual([{ type: 'text', text: 'hello' }])
  })

  test.for([
    ['export default { fetch() {} }', 'does not export an MCPServer'],
    ['export const server = 1', 'no default export'],
    [`throw new TypeError('tools.x needs a description')\nexport default {}`, 'tools.x needs a description'],
  ] as const)('%s → one line, exit code 1', async ([server, message]) => {
    const { command: program, args, cwd, env } = command(createProject(server))
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let [output, errors] = ['', '']
    child.stdout.on('data', (text) => {
      output += text
    })
    child.stderr.on('data', (text) => {
      errors += text
    })
    const [code] = await once(child, 'close')
    expect({ code, output }).toEqual({ code: 1, output: '' })
    expect(errors).toMatch(/^mayfly: [^\n]+\n$/)
    expect(errors).toContain(message)
  })
})

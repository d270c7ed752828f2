/** Mayfly's own runtime interface client, for machines without AWS's: the function of test/runtimes/lambda behaves on it as on AWS's. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testPort } from '../_port.ts'
import { CLIENTS } from '../contract/clients.ts'
import { modernRequest, readStream } from '../contract/wire.ts'
import {
  type Built,
  buildFunction,
  type FunctionOptions,
  type RunningFunction,
} from '../runtimes/lambda/_function.ts'
import { MayflyProcess, Project, stopAll } from './_dev-process.ts'

const OWN_CLIENT = join(import.meta.dirname, '../../deploy/targets/lambda/runtime-client.ts')

let built: Built
beforeAll(async () => {
  built = await buildFunction('fixture.ts')
})
afterAll(async () => {
  built?.[Symbol.dispose]()
  await stopAll()
})

const start = (options: Omit<FunctionOptions, 'ric'>): Promise<RunningFunction> =>
  built.start({ ...options, ric: OWN_CLIENT })

function callTool({ url }: RunningFunction, name: string, args: object = {}): Promise<Response> {
  const meta = { progressToken: 'p' }
  return fetch(modernRequest(url, 'tools/call', { name, arguments: args }, { meta }))
}

describe('a function on Mayfly’s own client', () => {
  test('a stream arrives event by event: each is read before the next can come', async () => {
    await using running = await start({ trigger: 'function-url', handler: 'index.streamingHandler' })
    const file = built.file('own-read')
    const response = await callTool(running, 'wait', { file })
    const seen: unknown[] = []
    for await (const { message } of readStream(response)) {
      if (message === undefined) continue
      seen.push(message.params?.progress ?? message.result?.content)
      writeFileSync(file, '')
    }
    expect(seen).toEqual([1, [{ type: 'text', text: 'it exists' }]])
  })

  test.each(['http-api', 'rest-api', 'alb'] as const)(
    '%s: official clients of both eras are answered',
    async (trigger) => {
      await using running = await start({ trigger })
      for (const { connect } of [CLIENTS[0]!, CLIENTS[2]!]) {
        await using connection = await connect(running.url)
        expect(await connection.call('echo', { text: 'hello' })).toMatchObject({
          content: [{ text: 'hello' }],
        })
      }
    },
  )

  test('cookies and bytes arrive as they were sent', async () => {
    await using running = await start({ trigger: 'function-url', handler: 'index.streamingHandler' })
    const response = await fetch(new URL('cookies', running.origin))
    expect(response.headers.getSetCookie()).toEqual(['a=1; Path=/', 'b=2; Path=/'])
    const picture = await (await fetch(new URL('picture', running.origin))).arrayBuffer()
    expect(Buffer.from(picture).toString('base64')).toBe('iVBORwD//g==')
  })

  test('a tool that blocks its process is ended with it, and the next call gets a new one', async () => {
    await using running = await start({ trigger: 'function-url', timeoutMs: 2000 })
    expect((await callTool(running, 'spin')).status).toBe(502)
    expect((await callTool(running, 'echo', { text: 'again' })).status).toBe(200)
    expect(running.environments.started).toBe(2)
  })

  test('waitUntil work of a streamed answer is done before the next call', async () => {
    await using running = await start({ trigger: 'function-url', handler: 'index.streamingHandler' })
    const [after, file] = [built.file('own-answer-read'), built.file('own-followed')]
    const response = await callTool(running, 'follow', { after, file })
    expect(await response.json()).toMatchObject({ result: { content: [{ text: 'answered' }] } })
    writeFileSync(after, '')
    expect((await callTool(running, 'echo', { text: 'next' })).status).toBe(200)
    expect(running.environments.started).toBe(1)
  })
})

describe('mayfly dev --target lambda without AWS’s client', () => {
  const dev = async (project: Project): Promise<MayflyProcess> =>
    new MayflyProcess(['dev', '--target', 'lambda', '--port', String(await testPort())], project.folder)

  test('runs on Mayfly’s own, and says so in one line', async () => {
    await using project = new Project()
    project.write(
      'server.ts',
      `export default { fetch: () => Response.json({ jsonrpc: '2.0', id: 1, result: {} }) }`,
    )
    await using mayfly = await dev(project)
    await mayfly.ready()
    expect((await mayfly.signal('SIGINT')).stderr).toMatch(
      /^mayfly: aws-lambda-ric .*: the function runs on Mayfly’s own/,
    )
  })

  test('a function that throws as it is loaded → why, in one line', async () => {
    await using project = new Project()
    project.write('server.ts', `throw new TypeError('tools.x needs a description')\nexport default {}`)
    const mayfly = await dev(project)
    const { code, stderr } = await mayfly.exited
    expect(code).toBe(1)
    expect(stderr.trimEnd().split('\n').slice(1)).toEqual([
      'mayfly: server.ts cannot be loaded: TypeError: tools.x needs a description',
    ])
  })
})

/** What is Deno's own: its permissions, its request signal, and the way Deno Deploy ends an instance. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { untilAnswers } from '../../../deploy/run/probe.ts'
import { startProcessGroup } from '../../../deploy/run/process-group.ts'
import { deno } from '../../../deploy/targets/deno/target.ts'
import { testPort } from '../../_port.ts'
import { CLIENTS, MODERN_CLIENTS } from '../../contract/clients.ts'
import { type ServedArtefact, serveArtefact } from '../_artefact.ts'

const SERVER = 'test/runtimes/deno/_server.ts'

describe('one process', () => {
  let served: ServedArtefact
  beforeAll(async () => {
    served = await serveArtefact(SERVER, deno)
  })
  afterAll(() => served?.stop())

  it('has the permissions net and env, and no other', async () => {
    await using connection = await CLIENTS[0]!.connect(served.url)
    const { structuredContent } = await connection.call('granted')
    expect(structuredContent).toEqual({ granted: ['env', 'net'] })
  })

  // Deno aborts request.signal after every response, not only when its client has gone.
  it.each([
    ['whole', {}],
    ['as a stream', { onProgress: () => {} }],
  ])('an answer %s does not abort ctx.signal once it is sent', async (_how, options) => {
    await using connection = await MODERN_CLIENTS[0]!.connect(served.url)
    await connection.call('answer', {}, options)
    await expect
      .poll(async () => (await connection.call('later')).structuredContent)
      .toEqual({ wasAborted: false })
  })
})

it('SIGINT lets a running call end and takes no other; then the process ends by itself', async () => {
  const outDir = mkdtempSync(join(tmpdir(), 'mayfly-deno-'))
  const project = { cwd: process.cwd(), entry: join(process.cwd(), SERVER), name: 'signal' }
  await deno.build(project, outDir)
  const port = await testPort()
  const { command, args, cwd, env } = deno.preview(outDir, { port, project })
  const group = startProcessGroup([command, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: 'ignore',
  })
  const url = new URL(`http://127.0.0.1:${port}/mcp`)
  try {
    await untilAnswers(url.href, AbortSignal.timeout(20_000))
    await using connection = await MODERN_CLIENTS[0]!.connect(url)
    const onProgress = () => process.kill(-group.child.pid!, 'SIGINT')

    const result = await connection.call('slow', { ms: 500 }, { onProgress })

    expect(result.content).toEqual([{ type: 'text', text: 'done' }])
    await expect.poll(() => isAlive(group.child.pid!)).toBe(false)
    await expect(fetch(url)).rejects.toThrow()
  } finally {
    await group.stop()
    rmSync(outDir, { recursive: true, force: true })
  }
})

/** Whether any process of the group is left. */
function isAlive(group: number): boolean {
  try {
    return process.kill(-group, 0)
  } catch {
    return false
  }
}

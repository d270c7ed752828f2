/** Processes of one build on Node, each of which can be killed and started again at its address. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { untilAnswers } from '../../../../deploy/run/probe.ts'
import { buildInto } from '../../../../deploy/targets/build-into.ts'
import { node } from '../../../../deploy/targets/node/target.ts'
import { testPort } from '../../../_port.ts'
import { type OpenIdProvider, startOpenIdProvider } from '../../../unit/sign-in/_provider.ts'
import type { BusServer } from '../../buses/_servers.ts'
import { PUBLIC_URL, STORES, type Variables, variablesFor } from '../_flow.ts'

export interface Instance {
  readonly url: URL
  /** `kill -9`. */
  kill(): Promise<void>
  /** Resolves when it answers. */
  start(variables?: Variables): Promise<void>
}

/** A store, a provider, and as many instances as are wanted between them. */
export interface Cluster {
  readonly provider: OpenIdProvider
  readonly instances: readonly [Instance, ...Instance[]]
  stop(): Promise<void>
}

export async function startCluster(kind: 'postgres' | 'redis', count: number): Promise<Cluster> {
  const { entry, variable, startEngine } = STORES[kind]
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-instances-'))
  const project = { cwd: process.cwd(), entry: join(import.meta.dirname, '..', entry), name: 'notes' }
  await buildInto(node, project, folder)
  const engine: BusServer = await startEngine()
  const provider = await startOpenIdProvider({ redirectUri: PUBLIC_URL.replace(/mcp$/, 'oauth/callback') })
  const common = { ...variablesFor(provider), PUBLIC_URL, [variable]: engine.url }
  const create = async () => createInstance(join(folder, 'server.mjs'), common, await testPort())
  const first = await create()
  const others = await Promise.all(Array.from({ length: count - 1 }, create))
  for (const one of [first, ...others]) await one.start()
  return {
    provider,
    instances: [first, ...others],
    async stop() {
      await Promise.all([first, ...others].map((one) => one.kill()))
      await provider[Symbol.asyncDispose]()
      await engine.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function createInstance(file: string, common: Variables, port: number): Instance {
  const url = new URL(`http://127.0.0.1:${port}/mcp`)
  let child: ChildProcess | undefined
  const kill = async (): Promise<void> => {
    const running = child
    child = undefined
    if (running === undefined || running.exitCode !== null) return
    const ended = once(running, 'exit')
    running.kill('SIGKILL')
    await ended
  }
  return {
    url,
    kill,
    async start(variables = {}) {
      await kill()
      const env = { ...process.env, ...common, ...variables, PORT: String(port), HOST: '127.0.0.1' }
      child = spawn(process.execPath, [file], { env, stdio: 'ignore' })
      const ended = once(child, 'exit').then(([code]) => {
        throw new Error(`The server ended with ${code}.`)
      })
      ended.catch(() => {})
      await Promise.race([untilAnswers(url.href, AbortSignal.timeout(60_000)), ended])
    },
  }
}

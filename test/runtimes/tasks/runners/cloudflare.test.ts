/** The runners' suite over queues, over workflows and over alarms, in a real workerd whose tasks are kept elsewhere. */
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import { TaskWire } from '../_wire.ts'
import { type Running, runnerSuite } from './suite.ts'

const WORKER = fileURLToPath(new URL('./worker.ts', import.meta.url))

async function startWorkerd(kind: 'alarm' | 'queue' | 'workflow', storeUrl: string): Promise<Running> {
  const { outputFiles } = await build({
    entryPoints: [WORKER],
    bundle: true,
    write: false,
    format: 'esm',
    conditions: ['workerd', 'worker'],
    external: ['cloudflare:workers'],
  })
  const modules = { 'worker.js': { type: 'esm' as const, contents: outputFiles[0]!.text } }
  const config = {
    name: 'tasks',
    compatibilityDate: '2025-09-01',
    manifest: { mainModule: 'worker.js', modulesRoot: import.meta.dirname, modules },
    env: {
      STORE_URL: { type: 'text' as const, value: storeUrl },
      ALARMS: { type: 'durable-object' as const, worker: 'tasks', exportName: 'Alarms' },
      TASK_QUEUE: { type: 'queue' as const, name: 'tasks' },
      TASK_WORKFLOW: { type: 'workflow' as const, name: 'tasks', worker: 'tasks', exportName: 'Tasks' },
    },
    exports: {
      Alarms: { type: 'durable-object' as const, storage: 'sqlite' as const },
      Tasks: { type: 'workflow' as const, name: 'tasks' },
    },
    triggers: [{ type: 'queue' as const, name: 'tasks', maxBatchTimeout: 0, maxRetries: 100 }],
  }
  // Its default asks the internet where it is.
  const miniflare = new Miniflare({
    cf: false,
    workers: [{ config, dev: { unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }] } }],
  })
  await miniflare.ready
  const origin = await miniflare.unsafeGetDirectURL('tasks')
  const ask = async <Answer>(action: string, init?: RequestInit): Promise<Answer> =>
    (await (await fetch(new URL(`/${kind}/${action}`, origin), init)).json()) as Answer
  return {
    wire: new TaskWire(new URL(`/${kind}/mcp`, origin)),
    go: (taskId) => ask(`go?task=${taskId}`),
    wakes: () => ask('wakes'),
    call: (wake) => ask('call', { method: 'POST', body: JSON.stringify(wake) }),
    stop: () => miniflare.dispose(),
  }
}

runnerSuite('Cloudflare Queues', (storeUrl) => startWorkerd('queue', storeUrl))
runnerSuite('Cloudflare Workflows', (storeUrl) => startWorkerd('workflow', storeUrl))
runnerSuite('Durable Object alarms', (storeUrl) => startWorkerd('alarm', storeUrl))

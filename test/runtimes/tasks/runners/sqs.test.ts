/** The runners' suite over SQS messages, with AWS's clients: that of SQS, and that of Lambda's runtime. The queue is one of these tests. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { SqsBatchResult } from 'mayfly-mcp/lambda'
import { NODE_BANNER } from '../../../../deploy/build/bundle-server.ts'
import { createEnvironments } from '../../../../deploy/targets/lambda/environments.ts'
import { startGateway } from '../../../../deploy/targets/lambda/gateway.ts'
import { runtimeClient } from '../../../../deploy/targets/lambda/target.ts'
import { CWD } from '../../lambda/_function.ts'
import { TaskWire } from '../_wire.ts'
import { startSqs } from './_sqs.ts'
import { type Running, runnerSuite } from './suite.ts'

async function startFunction(storeUrl: string): Promise<Running> {
  const taskRoot = mkdtempSync(join(tmpdir(), 'mayfly-sqs-'))
  await build({
    entryPoints: [join(import.meta.dirname, 'function.mjs')],
    outfile: join(taskRoot, 'index.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: { js: NODE_BANNER },
    nodePaths: [join(import.meta.dirname, 'aws/node_modules')],
  })
  const sqs = await startSqs()
  const env = { ...process.env, STORE_URL: storeUrl, QUEUE_URL: sqs.url }
  const common = { ric: runtimeClient(CWD), taskRoot, timeoutMs: 20_000, env }
  const server = createEnvironments({ ...common, handler: 'index.handler' }, 2)
  const worker = createEnvironments({ ...common, handler: 'index.tasks' }, 3)
  const gateway = await startGateway(server, { trigger: 'function-url', port: 0 })
  sqs.deliverTo(async (event) => {
    const answer = await worker.invoke(event)
    return answer.kind === 'whole' ? (JSON.parse(String(answer.payload)) as SqsBatchResult) : undefined
  })
  return {
    wire: new TaskWire(`http://127.0.0.1:${gateway.port}/mcp`),
    go: (taskId) => server.invoke({ go: taskId }),
    wakes: async () => sqs.sent.map(({ body }) => JSON.parse(body) as { id: string; at: number }),
    call: (wake) => sqs.send(JSON.stringify(wake)),
    hasProcesses: true,
    async stop() {
      sqs.stop()
      await gateway.close()
      await Promise.all([server.stop(), worker.stop()])
      rmSync(taskRoot, { recursive: true, force: true })
    },
  }
}

runnerSuite('AWS SQS', startFunction)

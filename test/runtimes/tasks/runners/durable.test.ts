/**
 * The runners' suite over Lambda durable functions, in AWS's own local test runner, with AWS's client of Lambda. What that client calls is
 * of these tests.
 */
import { createRequire } from 'node:module'
import type { DurableInvoker, DurableTaskContext } from 'mayfly-mcp/lambda'
import { durableRunner } from 'mayfly-mcp/lambda'
import { serve } from 'mayfly-mcp/node'
import { TaskWire } from '../_wire.ts'
import { startInvocations } from './_invoke.ts'
import { createJobs } from './_job.ts'
import { did, remoteStore } from './_remote-store.ts'
import { type Running, runnerSuite } from './suite.ts'

/** Of a package of their own: casts, since they are not there for the compiler. */
const require = createRequire(new URL('aws/package.json', import.meta.url))

type Handler = (event: unknown, context: unknown) => Promise<unknown>

interface LocalRunner {
  new (options: { handlerFunction: Handler }): { run(options: { payload: unknown }): Promise<unknown> }
  setupTestEnvironment(options: { skipTime: boolean }): Promise<void>
  teardownTestEnvironment(): Promise<void>
}

const FUNCTION = 'tasks:live'

async function startDurable(storeUrl: string): Promise<Running> {
  const { Lambda } = require('@aws-sdk/client-lambda') as { Lambda: new (options: object) => DurableInvoker }
  const { withDurableExecution } = require('@aws/durable-execution-sdk-js') as {
    withDurableExecution(handler: (event: unknown, context: DurableTaskContext) => Promise<unknown>): Handler
  }
  const { LocalDurableTestRunner } = require('@aws/durable-execution-sdk-js-testing') as {
    LocalDurableTestRunner: LocalRunner
  }
  await LocalDurableTestRunner.setupTestEnvironment({ skipTime: false })
  const invocations = await startInvocations(FUNCTION)
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const client = new Lambda({ endpoint: invocations.url, region: 'local', credentials })
  const runner = durableRunner(client, { functionName: FUNCTION })
  const server = createJobs(remoteStore(storeUrl), runner, (what) => did(storeUrl, what))
  const handlerFunction = withDurableExecution(runner.handler)
  const begin = (payload: unknown): Promise<unknown> =>
    new LocalDurableTestRunner({ handlerFunction }).run({ payload })
  invocations.deliverTo(begin)
  const { url, close } = await serve(server, { port: 0 })
  return {
    wire: new TaskWire(url),
    go: (taskId) => server.tasks.send(taskId, 'go', true),
    wakes: async () => invocations.sent as { id: string; at: number }[],
    call: begin,
    async stop() {
      await close()
      invocations.stop()
      await LocalDurableTestRunner.teardownTestEnvironment()
    },
  }
}

runnerSuite('Lambda durable functions', startDurable)

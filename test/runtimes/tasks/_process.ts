/** A process that serves and runs tasks, to be killed: `node _process.ts redis|postgres <url of the store> <file for what steps did> [maxCrashes]`. */
import { appendFileSync } from 'node:fs'
import { createTool, MCPServer } from 'mayfly-mcp'
import { serve } from 'mayfly-mcp/node'
import { postgresTaskStore } from 'mayfly-mcp/postgres'
import { redisTaskStore } from 'mayfly-mcp/redis'
import { createTasks, pollingRunner, type TaskStore } from 'mayfly-mcp/tasks'
import postgres from 'postgres'
import { createClient } from 'redis'
import * as z from 'zod'
import { createKilledJob } from './_killed-job.ts'

const [, , kind, url = '', log = '', maxCrashes = '100'] = process.argv

async function openStore(): Promise<TaskStore> {
  if (kind === 'redis') return redisTaskStore(await createClient({ url }).connect())
  const store = postgresTaskStore(postgres(url, { onnotice: () => {}, fetch_types: false }))
  await store.migrate({ server: 'killed' })
  return store
}

const job = createKilledJob((line) => {
  appendFileSync(log, line)
  if (line.startsWith('poison ')) process.kill(process.pid, 'SIGKILL')
})

/** Nothing else runs in its process meanwhile, and no lease is renewed. */
const block = createTool({
  id: 'block',
  inputSchema: z.object({ ms: z.number() }),
  task: { mode: 'required', pollIntervalMs: 100 },
  execute: async ({ ms }, ctx) => {
    await ctx.step('block', () => {
      appendFileSync(log, 'block 0\n')
      const until = performance.now() + ms
      while (performance.now() < until);
    })
    return 'blocked'
  },
})

const tasks = createTasks({
  store: await openStore(),
  runner: pollingRunner({ everyMs: 100 }),
  leaseMs: 800,
  maxIdleRuns: 100,
  maxCrashes: Number(maxCrashes),
  maxOpenTasks: 20_000,
})
const server = new MCPServer({
  id: 'killed',
  name: 'Killed',
  version: '1.0.0',
  log: false,
  tools: { job, block },
  tasks,
})
const { url: endpoint } = await serve(server, { port: 0 })
console.log(endpoint)

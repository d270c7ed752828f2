/** A Worker with a plain tool, and the same as a task in a Durable Object. */
import { env } from 'cloudflare:workers'
import { createTool, MCPServer } from 'mayfly-mcp'
import { durableObjectTaskStore, taskObject } from 'mayfly-mcp/cloudflare'
import { createTasks } from 'mayfly-mcp/tasks'

const { Tasks: objects } = env as unknown as { Tasks: Parameters<typeof durableObjectTaskStore>[0] }

const server = new MCPServer({
  id: 'bench',
  name: 'Bench',
  version: '1.0.0',
  log: false,
  tools: {
    plain: createTool({ id: 'plain', execute: () => 'done' }),
    task: createTool({ id: 'task', task: 'required', execute: () => 'done' }),
  },
  tasks: createTasks({ store: durableObjectTaskStore(objects), maxOpenTasks: 10_000 }),
})

export class Tasks extends taskObject(() => server) {}

export default server

/** Events of tasks, sent by other services to `mount` on a real server of Node. */
import { createTool, MCPServer } from 'mayfly-mcp'
import { serve } from 'mayfly-mcp/node'
import { createMemoryTasks, createTaskEndpoint } from 'mayfly-mcp/tasks'
import { expect, it, vi } from 'vitest'
import { secretOf } from '../../_secrets.ts'

it('an event at a mounted task endpoint arrives with its value', async () => {
  const hello = createTool({ id: 'hello', execute: () => 'hi' })
  const server = new MCPServer({
    ...{ id: 'a', name: 'A', version: '1.0.0', log: false, tools: { hello } },
    tasks: createMemoryTasks(),
  })
  const send = vi.spyOn(server.tasks, 'send').mockResolvedValue(true)
  const at = 'http://127.0.0.1'
  const endpoint = createTaskEndpoint({ server, secret: secretOf('x'), url: `${at}/tasks` })
  const { port, close } = await serve(endpoint.mount(), { port: 0, env: {} })
  try {
    const url = new URL(await endpoint.urlFor('task-1', 'paid'))
    url.port = String(port)

    const response = await fetch(url, { method: 'POST', body: '{"amount":2}' })

    expect(response.status).toBe(202)
    expect(send).toHaveBeenCalledExactlyOnceWith('task-1', 'paid', { amount: 2 })
  } finally {
    await close()
  }
})

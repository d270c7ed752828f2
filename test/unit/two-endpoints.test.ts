/** The endpoints of tasks and of events, beside one server. */
import { expect, it } from 'vitest'
import * as z from 'zod'
import { createEventEndpoint } from '../../src/events-admin.ts'
import { createTool } from '../../src/index.ts'
import { createEvent, createMemoryEvents, events } from '../../src/mcp-events.ts'
import { createMemoryTasks, createTaskEndpoint } from '../../src/tasks.ts'
import { createServer, modern } from './_client.ts'

const SECRET = 'kX9vQ2mT7rB4nW8yL3pZ6cF1hJ5sD0gA'

function start() {
  const note = createEvent({ id: 'note', description: 'A note', payloadSchema: z.object({}) })
  const say = createTool({ id: 'say', description: 'Says', execute: () => 'said' })
  return createServer({
    tools: { say },
    tasks: createMemoryTasks(),
    events: events({ types: { note }, store: createMemoryEvents() }),
  })
}

const parts = (server: ReturnType<typeof start>) => ({
  tasks: createTaskEndpoint({ server, secret: SECRET }),
  events: createEventEndpoint({ server, secret: SECRET }),
})

it.each([
  [
    'events beside tasks',
    ({ tasks, events }: ReturnType<typeof parts>) => events.mount('/e', tasks.mount('/t')),
  ],
  [
    'tasks beside events',
    ({ tasks, events }: ReturnType<typeof parts>) => tasks.mount('/t', events.mount('/e')),
  ],
])('%s: each answers at its path, and the server at its own', async (_what, mount) => {
  const served = mount(parts(start()))
  const headers = { authorization: `Bearer ${SECRET}` }
  const ask = async (path: string, init?: RequestInit) =>
    served.fetch(new Request(`https://mcp.example${path}`, init))
  expect(await (await ask('/t', { headers })).json()).toEqual({ run: 0 })
  expect(await (await ask('/e', { headers })).json()).toEqual({ delivered: 0, failed: 0, nextDueAt: null })
  expect([(await ask('/t')).status, (await ask('/e')).status]).toEqual([401, 401])
  const { result } = await modern({ handle: served.handle! }, 'tools/call', { name: 'say', arguments: {} })
  expect(result).toMatchObject({ content: [{ text: 'said' }] })
  expect(served.getDeploymentInfo?.()).toMatchObject({ hasEvents: true })
})

it('another server → TypeError', () => {
  const { tasks } = parts(start())
  expect(() => parts(start()).events.mount('/e', tasks.mount('/t'))).toThrow(
    'mount takes the server of this endpoint',
  )
})

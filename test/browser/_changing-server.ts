/** The code of a server that the tests write, and change while `mayfly dev` serves it. */
import { fileURLToPath } from 'node:url'

const SOURCE = fileURLToPath(new URL('../../src', import.meta.url))

export interface Changed {
  /** Names of tools that are added. */
  readonly more?: readonly string[]
  /** An argument that `order` has instead of `note`. */
  readonly renamed?: string
}

export function changingServer({ more = [], renamed = 'note' }: Changed = {}): string {
  return `
import * as z from 'zod'
import { createResource, createTool, MCPServer } from '${SOURCE}/index.ts'
import { createMemoryTasks } from '${SOURCE}/tasks.ts'

const order = createTool({
  id: 'order',
  description: 'Orders flowers',
  inputSchema: z.object({
    customer: z.string().describe('Who pays'),
    stems: z.number().int().min(1).max(99).default(3),
    size: z.number().int().optional(),
    mail: z.email().optional(),
    colour: z.enum(['red', 'white']),
    tags: z.array(z.string()).optional(),
    extra: z.record(z.string(), z.unknown()).optional(),
    ${renamed}: z.string().optional(),
  }),
  execute: (input) => input,
})

const project = createTool({
  id: 'project',
  description: 'Says which roots its client has',
  execute: async (_input, ctx) => (await ctx.listRoots()).map(({ uri }) => uri).join(),
})

const joke = createTool({
  id: 'joke',
  description: 'Lets the model of the client say something',
  execute: async (_input, ctx) => {
    const messages = [{ role: 'user', content: { type: 'text', text: 'A joke, please' } }]
    return (await ctx.createMessage({ messages, maxTokens: 10 })).content
  },
})

const refund = createTool({
  id: 'refund',
  description: 'Pays back, as a task that asks',
  task: 'required',
  execute: async (_input, ctx) => {
    const paid = await ctx.step('load the order', () => 25)
    ctx.reportProgress({ progress: 1, total: 2, message: 'loaded' })
    const schema = z.object({ reason: z.enum(['damaged', 'late']), notify: z.boolean() })
    const answer = await ctx.elicit('Why <b>pay</b> back?', schema)
    if (answer.action !== 'accept') return 'Kept'
    return ctx.step('pay', () => \`Paid \${paid} back: \${answer.content.reason}\`)
  },
})

const endless = createTool({
  id: 'endless',
  description: 'A task that nobody ends',
  task: 'required',
  execute: async (_input, ctx) => {
    await ctx.sleep('wait for spring', 3_600_000)
    return 'spring'
  },
})

const broken = createTool({
  id: 'broken',
  description: 'A task that fails',
  task: 'required',
  execute: () => {
    throw new Error('the printer is on fire')
  },
})

const touch = createTool({
  id: 'touch',
  description: 'Changes the news',
  execute: async () => {
    await server.resources.notifyUpdated({ uri: 'news://today' })
    return 'changed'
  },
})

const server = new MCPServer({
  id: 'changing',
  name: 'Changing',
  version: '1.0.0',
  secret: 'of-no-value-outside-these-tests-3',
  tasks: createMemoryTasks({ pollIntervalMs: 200 }),
  tools: { order, project, joke, refund, endless, broken, touch${more.map((name) => `, ${name}: createTool({ id: '${name}', description: 'Added', execute: () => '${name} answers' })`).join('')} },
  resources: [
    createResource({ uri: 'news://today', name: 'News', read: () => 'Nothing happened' }),
    createResource({ uri: 'news://yesterday', name: 'Old news', read: () => 'Nothing either' }),
  ],
})

export default server
`
}

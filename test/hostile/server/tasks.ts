/** Modern servers that do harm by their tasks. */
import { type Exchange, type HostileServer, startHostile } from './server.ts'

export const TASK_ID = 'task-of-the-hostile-server'

/** A task as it should be, but for `changes`. */
export const task = (changes: object = {}): object => ({
  taskId: TASK_ID,
  status: 'working',
  createdAt: '2026-07-28T10:00:00Z',
  lastUpdatedAt: '2026-07-28T10:00:00Z',
  ttlMs: null,
  pollIntervalMs: 100,
  ...changes,
})

const RESULT = { content: [{ type: 'text', text: 'Hello' }] }

export const completed = (changes: object = {}): object =>
  task({ status: 'completed', result: RESULT, ...changes })

/** Asks these questions, by key. */
export const asking = (inputRequests: object, changes: object = {}): object =>
  task({ status: 'input_required', inputRequests, ...changes })

export const question = (message = 'Your password?'): object => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema: { type: 'object', properties: {} } },
})

export interface TaskServer extends HostileServer {
  /** How often a method was called. */
  count(method: string): number
}

export interface TaskAnswers {
  /** The answer to `tools/call`, but for its `resultType`. Default: a task that is working. */
  readonly created?: object
  /** The answer to the look with this number, from 1; or what to do with it. */
  readonly look: (count: number, exchange: Exchange) => object | undefined
  /** What to do with `tasks/update`. Default: it is acknowledged. */
  readonly update?: (exchange: Exchange) => unknown
  /** The same of `tasks/cancel`. */
  readonly cancel?: (exchange: Exchange) => unknown
  readonly capabilities?: object
  readonly tools?: readonly unknown[]
}

export async function tasking(answers: TaskAnswers): Promise<TaskServer> {
  const counts = new Map<string, number>()
  const { created = task(), look, update, cancel, tools } = answers
  const capabilities = { tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } }
  const server = await startHostile(
    (exchange) => {
      const method = exchange.message?.method ?? ''
      const count = (counts.get(method) ?? 0) + 1
      counts.set(method, count)
      if (method === 'tools/call') exchange.result({ resultType: 'task', ...created })
      else if (method === 'tasks/get') {
        const answer = look(count, exchange)
        if (answer !== undefined) exchange.result({ resultType: 'complete', ...answer })
      } else if (method === 'tasks/update' && update !== undefined) update(exchange)
      else if (method === 'tasks/cancel' && cancel !== undefined) cancel(exchange)
      else if (method.startsWith('tasks/')) exchange.result({ resultType: 'complete' })
      else return false
      return true
    },
    {
      era: 'modern',
      capabilities: answers.capabilities ?? capabilities,
      ...(tools !== undefined && { tools }),
    },
  )
  return Object.assign(server, { count: (method: string) => counts.get(method) ?? 0 })
}

/** A client with the tasks extension, and a clock that tests move. */
import { vi } from 'vitest'
import { createTool, type MCPServer, type MCPServerConfig } from '../../../src/index.ts'
import { type Answer, createServer, META, modern, type SendOptions } from '../_client.ts'

export const TASKS = 'io.modelcontextprotocol/tasks'

export const ABLE = {
  [META.clientCapabilities]: { extensions: { [TASKS]: {} }, elicitation: { form: {} } },
}

export interface SeenTask {
  resultType: string
  taskId: string
  status: string
  statusMessage?: string
  ttlMs: number | null
  pollIntervalMs: number
  inputRequests?: { [key: string]: { method: string; params: { message: string } } }
  result?: { content: { text: string }[]; isError?: boolean; structuredContent?: unknown }
  error?: { code: number; message: string }
}

export class TaskClient {
  readonly server: MCPServer
  readonly work: Promise<unknown>[] = []

  constructor(config: Partial<MCPServerConfig>) {
    this.server = createServer(config)
  }

  send(method: string, params: Record<string, unknown>, options: SendOptions = {}): Promise<Answer> {
    const { taskId } = params
    const headers = typeof taskId === 'string' ? { 'mcp-name': taskId } : {}
    const platform = { waitUntil: (promise: Promise<unknown>) => void this.work.push(promise) }
    return modern(this.server, method, params, {
      platform,
      ...options,
      headers: { ...headers, ...options.headers },
      meta: { ...ABLE, ...options.meta },
    })
  }

  async call(name: string, args: object = {}, options: SendOptions = {}): Promise<SeenTask> {
    return seen(await this.send('tools/call', { name, arguments: args }, options))
  }

  async get(taskId: string, options: SendOptions = {}): Promise<SeenTask> {
    return seen(await this.send('tasks/get', { taskId }, options))
  }

  async update(taskId: string, inputResponses: object, options: SendOptions = {}): Promise<Answer> {
    return this.send('tasks/update', { taskId, inputResponses }, options)
  }

  async cancel(taskId: string, options: SendOptions = {}): Promise<Answer> {
    return this.send('tasks/cancel', { taskId }, options)
  }

  /** What the requests so far have left to do in the background. */
  async settle(): Promise<void> {
    while (this.work.length > 0) await Promise.all(this.work.splice(0))
  }

  /** The task once it has one of these statuses. */
  async until(taskId: string, ...statuses: string[]): Promise<SeenTask> {
    return vi.waitFor(
      async () => {
        const task = await this.get(taskId)
        if (!statuses.includes(task.status)) throw new Error(`it is ${task.status}: ${JSON.stringify(task)}`)
        return task
      },
      { timeout: 10_000, interval: 10 },
    )
  }
}

/** A task with one step, which gets the number of its run. */
export function createCounted(inStep: (run: number) => unknown) {
  let count = 0
  const job = createTool({
    id: 'job',
    task: 'required',
    execute: async (_input, ctx) => {
      await ctx.step('one', () => inStep(++count))
      return 'done'
    },
  })
  return { job, runs: () => count }
}

function seen(answer: Answer): SeenTask {
  if (answer.result === undefined) throw Object.assign(new Error(answer.error?.message), answer.error)
  return answer.result as unknown as SeenTask
}

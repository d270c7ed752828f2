/** A client of the tasks extension, as bare as the wire. */
import { META, VERSION } from '../../unit/_client.ts'

export interface Seen {
  resultType: string
  taskId: string
  status: string
  statusMessage?: string
  inputRequests?: { [key: string]: { method: string; params: { message: string } } }
  result?: { content: { text: string }[] }
}

export class TaskWire {
  readonly #url: string
  #id = 0

  constructor(url: string | URL) {
    this.#url = String(url)
  }

  call(name: string, args: object): Promise<Seen> {
    return this.#send('tools/call', name, { name, arguments: args })
  }

  get(taskId: string): Promise<Seen> {
    return this.#send('tasks/get', taskId, { taskId })
  }

  update(taskId: string, inputResponses: object): Promise<Seen> {
    return this.#send('tasks/update', taskId, { taskId, inputResponses })
  }

  cancel(taskId: string): Promise<Seen> {
    return this.#send('tasks/cancel', taskId, { taskId })
  }

  /** The task once it has this status. */
  async until(taskId: string, status: string, withinMs = 20_000): Promise<Seen> {
    const deadline = Date.now() + withinMs
    for (;;) {
      const task = await this.get(taskId)
      if (task.status === status) return task
      if (Date.now() > deadline) throw new Error(`The task is ${task.status}, and not ${status}.`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  async #send(method: string, name: string, params: object): Promise<Seen> {
    const extensions = { 'io.modelcontextprotocol/tasks': {} }
    const _meta = {
      [META.protocolVersion]: VERSION,
      [META.clientInfo]: { name: 'wire', version: '1.0.0' },
      [META.clientCapabilities]: { extensions, elicitation: { form: {} } },
    }
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': VERSION,
        'mcp-method': method,
        'mcp-name': name,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: ++this.#id, method, params: { ...params, _meta } }),
    })
    const text = await response.text()
    const message = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) as { result?: Seen; error?: object }
    if (message.result === undefined) throw new Error(JSON.stringify(message.error))
    return message.result
  }
}

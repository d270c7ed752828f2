/** A Worker that sends what it is told, by `fetch`. */
import { createFetchSender } from '../../../../src/mcp-events/deliver/fetch-sender.ts'
import { send, type Task } from './_requests.ts'

export default {
  async fetch(request: Request): Promise<Response> {
    const tasks = (await request.json()) as readonly Task[]
    return Response.json(await Promise.all(tasks.map((task) => send(createFetchSender(), task))))
  },
}

/** A process of Node, Deno or Bun that sends what its argument says, and prints what became of it. */
import { nodeEventSender } from '../../../../adapters/_node/event-sender.ts'
import { createFetchSender } from '../../../../src/mcp-events/deliver/fetch-sender.ts'
import { send, type Task } from './_requests.ts'

const tasks = JSON.parse(process.argv[2]!) as readonly Task[]

function toSender({ by, allowLoopback = false, resolved }: Task) {
  if (by === 'fetch') return createFetchSender()
  let asked = 0
  const resolve = async (): Promise<readonly string[]> => resolved![Math.min(asked++, resolved!.length - 1)]!
  return nodeEventSender({ allowLoopback, ...(resolved !== undefined && { resolve }) })
}

const ended = await Promise.all(tasks.map((task) => send(toSender(task), task)))
console.log(JSON.stringify(ended))
process.exit(0)

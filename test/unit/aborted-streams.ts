/** Opens and aborts `subscriptions/listen` streams, in a process of its own; prints the heap, and what is left on the bus. */
import { type Bus, createMemoryBus, createTool } from '../../src/index.ts'
import { createServer, modernRequest } from './_client.ts'

const memory = createMemoryBus()
let subscriptions = 0
const bus: Bus = {
  publish: memory.publish,
  async subscribe(listener) {
    const unsubscribe = await memory.subscribe(listener)
    subscriptions++
    return () => {
      subscriptions--
      unsubscribe()
    }
  },
}
const server = createServer({ bus, tools: { t: createTool({ id: 't', execute: () => '' }) } })

async function openAndAbort(index: number): Promise<void> {
  const client = new AbortController()
  const uris = [`a://${index}/`.padEnd(2000, 'x')]
  const notifications = { toolsListChanged: true, resourceSubscriptions: uris }
  const request = modernRequest('subscriptions/listen', { notifications }, { signal: client.signal })
  const { body } = await server.fetch(request)
  const reader = body!.getReader()
  await reader.read()
  const pending = reader.read()
  if (index % 2 === 0) await reader.cancel()
  client.abort()
  await pending
}

async function heapAfter(streams: number): Promise<number> {
  for (let index = 0; index < streams; index += 10)
    await Promise.all(Array.from({ length: 10 }, (_, one) => openAndAbort(index + one)))
  await new Promise((resolve) => setTimeout(resolve, 50))
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

await heapAfter(1000)
const early = await heapAfter(1000)
const late = await heapAfter(10_000)
console.log(JSON.stringify({ early, late, subscriptions }))

/** Holds `subscriptions/listen` streams open, in a process of its own; prints how many bytes of the heap each takes. */
import { createMemoryBus } from '../../src/index.ts'
import { createServer, modernRequest } from './_client.ts'
import { everything } from './_listen.ts'

const STREAMS = 40
const URIS = 1000

const server = createServer({ ...everything, bus: createMemoryBus() })
const open: unknown[] = []

/** The body is a stream, as on a platform: a `Request` keeps a body of text. */
async function openStream(index: number): Promise<void> {
  const uris = Array.from({ length: URIS }, (_, uri) => `a://${index}/${uri}/`.padEnd(95, 'x'))
  const made = modernRequest('subscriptions/listen', { notifications: { resourceSubscriptions: uris } })
  const text = await made.text()
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text))
      controller.close()
    },
  })
  const init = { method: 'POST', headers: made.headers, body, duplex: 'half' }
  const reader = (await server.fetch(new Request(made.url, init))).body!.getReader()
  await reader.read()
  open.push(reader, reader.read())
}

async function heap(): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 50))
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

await openStream(0)
const before = await heap()
for (let index = 1; index <= STREAMS; index++) await openStream(index)
console.log(JSON.stringify({ bytes: Math.round(((await heap()) - before) / STREAMS), open: open.length }))
process.exit()

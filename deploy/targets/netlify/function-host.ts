/** Runs a Netlify Function locally, called as Netlify calls it: `function-host.ts <port> <file>`. */

import { pathToFileURL } from 'node:url'
import type { NetlifyContext } from '../../../adapters/netlify.ts'
import { serve } from '../../../adapters/node.ts'
import { printError } from '../../../src/definition/print-error.ts'

const [port = '', file = ''] = process.argv.slice(2)

const outliving = new Set<Promise<unknown>>()
const waitUntil = (promise: Promise<unknown>): void => {
  outliving.add(promise)
  promise.catch(printError).finally(() => outliving.delete(promise))
}
Object.assign(globalThis, { Netlify: { env: { toObject: () => ({ ...process.env }) } } })

const { default: handler } = (await import(pathToFileURL(file).href)) as {
  default: (request: Request, context: NetlifyContext) => Promise<Response>
}
const context: NetlifyContext = { ip: '127.0.0.1', waitUntil }
const running = await serve({ fetch: (request) => handler(request, context) }, { port: Number(port) })
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await running.close()
    await Promise.allSettled(outliving)
    process.exit(0)
  })
}

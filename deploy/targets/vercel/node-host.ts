/**
 * Runs a function of the Build Output API locally, according to its `.vc-config.json`: `node-host.ts <port> <folder>`.
 * `waitUntil` is in the same place as in Vercel's Node runtime.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type FetchServer, serve } from '../../../adapters/node.ts'
import { printError } from '../../../src/definition/print-error.ts'

const [port = '', folder = ''] = process.argv.slice(2)
const { handler } = JSON.parse(readFileSync(join(folder, '.vc-config.json'), 'utf8')) as { handler: string }

const outliving = new Set<Promise<unknown>>()
const context = {
  waitUntil: (promise: Promise<unknown>): void => {
    outliving.add(promise)
    promise.catch(printError).finally(() => outliving.delete(promise))
  },
}
Object.assign(globalThis, { [Symbol.for('@vercel/request-context')]: { get: () => context } })

const { default: server } = (await import(pathToFileURL(join(folder, handler)).href)) as {
  default: FetchServer
}
const running = await serve({ fetch: (request) => server.fetch(request) }, { port: Number(port) })
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await running.close()
    await Promise.allSettled(outliving)
    process.exit(0)
  })
}

/** Run by `mayfly dev`: `host.ts <bundle> <entry>` serves a server on `PORT` of 127.0.0.1 until a signal ends it. */

import { relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type FetchServer, serve } from '../../../adapters/node.ts'
import { isA, memberOf, stackOf, textOf } from '../../../src/definition/error-text.ts'
import { noFetch } from '../../project/entry.ts'

// Makes stack traces refer to the user's own files.
process.setSourceMapsEnabled(true)

const [, , bundle = '', entry = ''] = process.argv
const running = await serve(await load(), { port: Number(process.env.PORT) })
const stop = (): void => void running.close().then(() => process.exit(0))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)

/** Ends this process with a one-line message if there is no server to serve. */
async function load(): Promise<FetchServer> {
  try {
    const { default: server } = (await import(pathToFileURL(bundle).href)) as { default?: unknown }
    if (isFetchServer(server)) return server
    return end(`TypeError: ${noFetch(entry).message}`)
  } catch (error) {
    return end(isA(error, Error) ? reasonOf(error) : `Error: ${textOf(error)}`)
  }
}

function end(reason: string): never {
  process.stderr.write(`${reason}\n`)
  process.exit(1)
}

function isFetchServer(value: unknown): value is FetchServer {
  return typeof value === 'object' && value !== null && 'fetch' in value && typeof value.fetch === 'function'
}

function reasonOf(error: Error): string {
  const name = String(memberOf(error, 'name'))
  const place = (stackOf(error) ?? '')
    .split('\n')
    .map((line) => / \(?(?:file:\/\/)?(\/[^()]+:\d+:\d+)\)?$/.exec(line)?.[1])
    .find((path) => path?.startsWith(process.cwd()) && !path.includes('/node_modules/'))
  // loadError() of held-output.ts recognizes the line by that word.
  const kind = /^\w*Error$/.test(name) ? name : `Error: ${name}`
  return `${kind}: ${textOf(error).split('\n')[0]}${place === undefined ? '' : ` (${relative(process.cwd(), place)})`}`
}

/**
 * Run as `api-call.ts <netlify-cli's program> <options>...` with `{ method, data }` on stdin: calls Netlify's API by the CLI's own `netlify
 * api`, with the CLI's login, proxy and address. The CLI accepts `data` only on its command line, where every user of the machine could
 * read it. This process adds it to the arguments after the start, where the system does not see it.
 */
import { readFileSync, realpathSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const [, , program = '', ...options] = process.argv
const { method, data } = JSON.parse(readFileSync(0, 'utf8')) as { method: string; data: object }
const file = realpathSync(program)
process.argv.splice(1, process.argv.length, file, 'api', method, '--data', JSON.stringify(data), ...options)
await import(pathToFileURL(file).href)

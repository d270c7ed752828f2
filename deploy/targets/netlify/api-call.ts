/**
 * Run as `api-call.ts <netlify-cli's program> <options>...` with `{ method, data }` on stdin: one call of Netlify's API by the
 * CLI's own `netlify api`, with the CLI's login, proxy and address. The CLI takes `data` on its command line alone, where every
 * user of the machine could read it: in this process it is put into the arguments after the start, which the system does not see.
 */
import { readFileSync, realpathSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const [, , program = '', ...options] = process.argv
const { method, data } = JSON.parse(readFileSync(0, 'utf8')) as { method: string; data: object }
const file = realpathSync(program)
process.argv.splice(1, process.argv.length, file, 'api', method, '--data', JSON.stringify(data), ...options)
await import(pathToFileURL(file).href)

/**
 * One cold start, in a process of its own: `<bundle> <dialect as JSON>`. Imports nothing that could warm what a
 * bundle brings along. Reports milliseconds from the start of `import` to the text of the first answer.
 */

import { pathToFileURL } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { CALL_ARGUMENTS, callTemplate, type Dialect, toRequest } from './requests.ts'

interface Worker {
  readonly default: { fetch(request: Request): Promise<Response> }
}

const [bundle, dialect] = process.argv.slice(2)
const template = callTemplate(JSON.parse(dialect!) as Dialect, 'echo')

// The fetch classes are the platform's, not the bundle's: Node loads them on first use, edge platforms have them ready.
await new Response(await toRequest(template).text(), { headers: { 'content-type': 'text/plain' } }).text()

const start = performance.now()
const worker: Worker = await import(pathToFileURL(bundle!).href)
const imported = performance.now()
const response = await worker.default.fetch(toRequest(template))
const text = await response.text()
const answered = performance.now()

const { result } = JSON.parse(text)
if (!isDeepStrictEqual(result?.content, [{ type: 'text', text: CALL_ARGUMENTS.text }])) {
  throw new Error(`Wrong first answer from ${bundle}, status ${response.status}: ${text}`)
}
console.log(JSON.stringify({ importMs: imported - start, totalMs: answered - start }))

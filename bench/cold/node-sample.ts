/**
 * One cold start in a process of its own: `<a Start as JSON>`. Imports nothing that could warm what a bundle brings along. Its clock
 * runs from the start of `import` to the text of the first answer.
 */
import { pathToFileURL } from 'node:url'
import { toRequest } from '../requests.ts'
import { type ColdSample, expectFirstAnswer, type Start } from './start.ts'

interface Worker {
  readonly default: { fetch(request: Request): Promise<Response> }
}

const { bundle, template } = JSON.parse(process.argv[2]!) as Start

// The fetch classes are the platform's, not the bundle's: Node loads them on first use, edge platforms have them ready.
await new Response(await toRequest(template).text(), { headers: { 'content-type': 'text/plain' } }).text()

const start = performance.now()
const before = process.cpuUsage()
const worker: Worker = await import(pathToFileURL(bundle).href)
const response = await worker.default.fetch(toRequest(template))
const text = await response.text()
const firstAnswerMs = performance.now() - start
const { user, system } = process.cpuUsage(before)

expectFirstAnswer(bundle, response.status, text)
console.log(JSON.stringify({ firstAnswerMs, cpuMs: (user + system) / 1000 } satisfies ColdSample))

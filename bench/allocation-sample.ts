/**
 * Serves calls in a process of its own and reports what one allocates on the heap, in bytes: `<index of the peer>`. The young generation
 * must be so large that nothing is collected meanwhile: `--max-semi-space-size=512 --min-semi-space-size=512 --expose-gc`.
 */
import { PerformanceObserver } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import { PEERS } from './peers/peers.ts'
import { callTemplate, toRequest } from './requests.ts'
import { echoTools } from './tools.ts'

const WARM_UP = 3000
const CALLS = 2000

const peer = PEERS[Number(process.argv[2])]!
const tools = echoTools(10)
const fetch = peer.serve(tools)
const template = callTemplate(peer.dialect, tools.at(-1)!.name)

async function call(times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    const response = await fetch(toRequest(template))
    const text = await response.text()
    if (response.status !== 200) throw new Error(`Status ${response.status}: ${text}`)
  }
}

const collections: number[] = []
new PerformanceObserver((list) => {
  collections.push(...list.getEntries().map(({ startTime }) => startTime))
}).observe({ entryTypes: ['gc'] })

await call(WARM_UP)
globalThis.gc!()
const start = performance.now()
const before = process.memoryUsage().heapUsed
await call(CALLS)
const after = process.memoryUsage().heapUsed
await setImmediate()
if (collections.some((time) => time >= start))
  throw new Error('Something was collected while it was measured')
console.log(JSON.stringify((after - before) / CALLS))

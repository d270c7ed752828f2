/**
 * `npm run bench`: measures Mayfly beside its peers, prints the tables, and writes them to `RESULTS.md` and
 * the plots to `docs/images/`. With
 * `-- --quick` it takes under 20 seconds, is rough, and writes nothing.
 *
 * Exits with 0 whatever the numbers are, and with 1 when an answer is wrong. Needs `npm run build` before.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { measureAsking } from './asking.ts'
import { bundleWorkers } from './bundle.ts'
import { measureColdStart } from './cold-start.ts'
import { measureInProcess } from './in-process.ts'
import { measureMemory } from './memory.ts'
import { floor } from './peers/floor.ts'
import { mayfly } from './peers/mayfly.ts'
import { mcpLite, mcpLiteStream } from './peers/mcp-lite.ts'
import { sdkV1 } from './peers/sdk-v1.ts'
import { sdkV2 } from './peers/sdk-v2.ts'
import { writePlots } from './plots.ts'
import { toReport } from './report.ts'
import { LEGACY, MODERN } from './requests.ts'

const isQuick = process.argv.includes('--quick')
const settings = isQuick
  ? { rounds: 7, batchMs: 5, coldStarts: 11, memoryRequests: 24_000 }
  : { rounds: 41, batchMs: 30, coldStarts: 21, memoryRequests: 200_000 }

const peers = [
  floor(MODERN),
  mayfly(MODERN),
  sdkV2,
  floor(LEGACY),
  mayfly(LEGACY),
  mcpLite,
  mcpLiteStream,
  sdkV1,
]

function announce(step: string): void {
  process.stderr.write(`${step} …\n`)
}

const directory = await mkdtemp(join(tmpdir(), 'mayfly-bench-'))
try {
  announce('in process')
  const timings = await measureInProcess(peers, settings)
  announce('asking')
  const asking = await measureAsking(isQuick ? 3 : 15)
  announce('bundles')
  const bundles = await bundleWorkers(directory)
  announce('cold start')
  const coldStarts = await measureColdStart(bundles, settings.coldStarts)
  announce('memory')
  const memory = await measureMemory(settings.memoryRequests)
  const results = { peers, timings, asking, bundles, coldStarts, memory, settings }
  const report = await toReport(results)
  if (!isQuick) {
    await writeFile(new URL('RESULTS.md', import.meta.url), report)
    await writePlots(results)
  }
  console.log(report)
} finally {
  await rm(directory, { recursive: true, force: true })
}

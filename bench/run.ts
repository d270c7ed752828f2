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
import { measureAllocations } from './allocation.ts'
import { measureAsking } from './asking.ts'
import { bundleWorkers } from './bundle.ts'
import { measureColdStart } from './cold-start.ts'
import { measureInProcess } from './in-process.ts'
import { measureMemory } from './memory.ts'
import { PEERS } from './peers/peers.ts'
import { writePlots } from './plots.ts'
import { toReport } from './report.ts'
import { measureSdkServers } from './sdk-servers.ts'

const isQuick = process.argv.includes('--quick')
const settings = isQuick
  ? { rounds: 7, batchMs: 5, coldStarts: 11, memoryRequests: 24_000 }
  : { rounds: 41, batchMs: 30, coldStarts: 21, memoryRequests: 200_000 }

function announce(step: string): void {
  process.stderr.write(`${step} …\n`)
}

const directory = await mkdtemp(join(tmpdir(), 'mayfly-bench-'))
try {
  announce('in process')
  const timings = await measureInProcess(PEERS, settings)
  announce('servers of the SDKs')
  const sdkServers = await measureSdkServers(isQuick ? 5 : 41)
  announce('asking')
  const asking = await measureAsking(isQuick ? 3 : 15)
  announce('bundles')
  const bundles = await bundleWorkers(directory)
  announce('cold start')
  const coldStarts = await measureColdStart(bundles, settings.coldStarts)
  announce('memory')
  const memory = await measureMemory(settings.memoryRequests)
  announce('allocation')
  const allocations = await measureAllocations()
  const results = {
    ...{ peers: PEERS, timings, sdkServers, asking, bundles, coldStarts, memory, allocations, settings },
  }
  const report = await toReport(results)
  if (!isQuick) {
    await writeFile(new URL('RESULTS.md', import.meta.url), report)
    await writePlots(results)
  }
  console.log(report)
} finally {
  await rm(directory, { recursive: true, force: true })
}

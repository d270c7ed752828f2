/**
 * `npm run bench`: measures Mayfly beside its peers, prints the tables, and writes them to `RESULTS.md`, what the pictures show to
 * `results.json`, and the pictures to `docs/images/`. With `-- --quick` it takes under 20 seconds, is rough, and writes nothing;
 * `-- --cold-starts` measures those alone, and leaves the rest as it is; `-- --pictures` measures nothing, and draws what was recorded.
 *
 * Exits with 0 whatever the numbers are, and with 1 when an answer is wrong. Needs `npm run build` before.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { measureAllocations } from './allocation.ts'
import { measureAsking } from './asking.ts'
import { bundleWorkers } from './bundle.ts'
import { measureColdStart } from './cold-start.ts'
import { withColdStarts } from './cold-starts-alone.ts'
import { measureInProcess } from './in-process.ts'
import { measureMemory } from './memory.ts'
import { PEERS } from './peers/peers.ts'
import { writePictures } from './pictures/pictures.ts'
import { readRecorded, recordedCalls, recordedStarts, writeRecorded } from './recorded.ts'
import { coldStartSection, toReport } from './report.ts'
import { measureSdkServers } from './sdk-servers.ts'

const REPORT = new URL('RESULTS.md', import.meta.url)

const isQuick = process.argv.includes('--quick')
const settings = isQuick
  ? { rounds: 7, batchMs: 5, coldStarts: 11, memoryRequests: 24_000 }
  : { rounds: 41, batchMs: 30, coldStarts: 21, memoryRequests: 200_000 }

const directory = await mkdtemp(join(tmpdir(), 'mayfly-bench-'))
try {
  if (process.argv.includes('--pictures')) writePictures()
  else if (process.argv.includes('--cold-starts')) await measureColdStartsAlone()
  else await measureAll()
} finally {
  await rm(directory, { recursive: true, force: true })
}

async function measureAll(): Promise<void> {
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
    await writeFile(REPORT, report)
    writeRecorded({
      calls: recordedCalls(results),
      coldStarts: recordedStarts(coldStarts, settings.coldStarts),
    })
    writePictures()
  }
  console.log(report)
}

/** What else was recorded stays. */
async function measureColdStartsAlone(): Promise<void> {
  const bundles = await bundleWorkers(directory)
  const coldStarts = await measureColdStart(bundles, settings.coldStarts)
  console.log(coldStartSection({ coldStarts }, settings.coldStarts))
  if (isQuick) return
  await writeFile(REPORT, withColdStarts(await readFile(REPORT, 'utf8'), coldStarts, settings.coldStarts))
  writeRecorded({ ...readRecorded(), coldStarts: recordedStarts(coldStarts, settings.coldStarts) })
  writePictures()
}

function announce(step: string): void {
  process.stderr.write(`${step} …\n`)
}

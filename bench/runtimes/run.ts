/**
 * `npm run bench:runtimes`: what a `tools/call` costs over HTTP on workerd, Node, deno and bun, beside the peers, printed as a table.
 * `-- workerd,bun` runs some of them; `--quick` is rough. Linux only: the processor's time of a process is read from /proc.
 *
 * Exits with 0 whatever the numbers are, and with 1 when an answer is wrong. Needs `npm run build` before.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pairedRatio, spread } from '../statistics.ts'
import { CONTENDERS, measureRuntime, type RuntimeTiming } from './measure.ts'
import { RUNTIMES, type Runtime } from './servers.ts'

const args = process.argv.slice(2)
const isQuick = args.includes('--quick')
const chosen = args.find((arg) => !arg.startsWith('-'))?.split(',') ?? RUNTIMES
const settings = isQuick
  ? { rounds: 5, requests: 200, warmUp: 800, toolCount: 10 }
  : { rounds: 21, requests: 400, warmUp: 2000, toolCount: 10 }

const folder = mkdtempSync(join(tmpdir(), 'mayfly-bench-'))
try {
  console.log('| runtime | server | CPU a call (fastest round) | of the floor | of mcp-lite | resident |')
  console.log('|---|---|---|---|---|---|')
  for (const runtime of RUNTIMES.filter((one) => chosen.includes(one))) await measure(runtime)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function measure(runtime: Runtime): Promise<void> {
  const timings = await measureRuntime(runtime, CONTENDERS, settings, folder)
  const of = (name: string): RuntimeTiming => timings.find((timing) => timing.name === name)!
  for (const timing of timings) {
    const { median, min } = spread(timing.samples)
    const ratio = (name: string): string => pairedRatio(timing.samples, of(name).samples).median.toFixed(2)
    console.log(
      `| ${runtime} | ${timing.name} | ${median.toFixed(0)} µs (${min.toFixed(0)}) | ${ratio('floor')} | ${ratio('mcp-lite')} | ${(timing.residentBytes / 1e6).toFixed(0)} MB |`,
    )
  }
}

/**
 * `npm run bench:cold`: how long a fresh start takes to its first answered `tools/call`, by the number of tools, printed as a table.
 *
 * `-- node,vm,workerd` runs some of them; `--json <file>` writes the medians for other programs, beside what `bench:runtimes` writes;
 * `--quick` is rough. The floor shows what the runtime itself takes. Linux only. Exits with 1 when a first answer is wrong. Needs
 * `npm run build` before.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runChild } from '../child.ts'
import { callTemplate } from '../requests.ts'
import { CONTENDERS, servingOf } from '../runtimes/contenders.ts'
import { writeEntry } from '../runtimes/entry.ts'
import { type ColdRow, type ColdRuntime, writeResults } from '../runtimes/results.ts'
import { fileNameOf, type Runtime } from '../runtimes/subject.ts'
import { pairedRatio, spread } from '../statistics.ts'
import { FIELD_COUNT } from '../tools.ts'
import type { ColdSample, Start } from './start.ts'
import { startWorkerd } from './workerd-sample.ts'

const RUNTIMES: readonly ColdRuntime[] = ['node', 'vm', 'workerd']
const SERVERS = ['floor', 'mcp-lite', 'mayfly', 'SDK v2']
const TOOL_COUNTS = [10, 100, 524]
const TIMEOUT_MS = 600_000

interface Subject extends Start {
  readonly server: string
  readonly toolCount: number
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'string' }, quick: { type: 'boolean', default: false } },
})
const starts = values.quick ? 5 : 21
const names = positionals[0]?.split(',') ?? RUNTIMES
const chosen = RUNTIMES.filter((runtime) => names.includes(runtime))
if (chosen.length < names.length)
  throw new TypeError(`Name some of ${RUNTIMES.join(', ')}, with commas and no spaces.`)

const folder = mkdtempSync(join(tmpdir(), 'mayfly-bench-'))
const rows: ColdRow[] = []
try {
  console.log('| runtime | tools | server | first answer (fastest) | of mcp-lite | of SDK v2 | CPU |')
  console.log('|---|---|---|---|---|---|---|')
  for (const runtime of chosen) await measure(runtime)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
if (values.json !== undefined) writeResults(values.json, { cold: rows })

async function measure(runtime: ColdRuntime): Promise<void> {
  const subjects = await Promise.all(
    TOOL_COUNTS.flatMap((toolCount) => SERVERS.map((server) => prepare(runtime, server, toolCount))),
  )
  const samples = await takeSamples(runtime, subjects)
  for (const [index, { server, toolCount }] of subjects.entries()) {
    const times = (name: string): readonly number[] => {
      const at = subjects.findIndex((other) => other.server === name && other.toolCount === toolCount)
      return samples[at]!.map(({ firstAnswerMs }) => firstAnswerMs)
    }
    const { median, min } = spread(times(server))
    const cpuMs = spread(samples[index]!.map((sample) => sample.cpuMs)).median
    rows.push({ runtime, server, toolCount, firstAnswerMs: median, cpuMs })
    const ratio = (name: string): string => pairedRatio(times(server), times(name)).median.toFixed(2)
    const shown = `${median.toFixed(1)} ms (${min.toFixed(1)})`
    const cells = [runtime, toolCount, server, shown, ratio('mcp-lite'), ratio('SDK v2')]
    console.log(`| ${cells.join(' | ')} | ${cpuMs.toFixed(1)} ms |`)
  }
}

/** Bundled as for an edge platform: for a context as a script, else as a module. */
async function prepare(runtime: ColdRuntime, server: string, toolCount: number): Promise<Subject> {
  const contender = CONTENDERS.find(({ name }) => name === server)!
  const platform: Runtime = runtime === 'vm' ? 'edge-runtime' : 'workerd'
  const serving = servingOf(contender, platform, 'tools')
  if (typeof serving !== 'object' || serving.kind === 'xmcp')
    throw new TypeError(`${server} is not served there.`)
  const fixture = { toolCount, fieldCount: FIELD_COUNT }
  const bundle = join(folder, `${runtime}-${fileNameOf(platform, server, fixture)}.mjs`)
  await writeEntry({ runtime: platform, serving, fixture, port: 0, outfile: bundle })
  return {
    server,
    toolCount,
    bundle,
    template: callTemplate(contender.dialects[0]!, `echo_${toolCount - 1}`),
  }
}

/** Of each subject, in interleaved rounds. */
async function takeSamples(
  runtime: ColdRuntime,
  subjects: readonly Subject[],
): Promise<readonly (readonly ColdSample[])[]> {
  if (runtime === 'vm') {
    const args = [String(starts), JSON.stringify(subjects)]
    return (await runChild('cold/vm-sample.ts', {
      ...{ args, nodeOptions: ['--expose-gc'], timeoutMs: TIMEOUT_MS },
    })) as ColdSample[][]
  }
  const samples = subjects.map((): ColdSample[] => [])
  for (let round = 0; round < starts; round++) {
    for (const [index, subject] of subjects.entries()) samples[index]!.push(await startOnce(runtime, subject))
  }
  return samples
}

async function startOnce(runtime: 'node' | 'workerd', subject: Subject): Promise<ColdSample> {
  if (runtime === 'workerd') return startWorkerd(subject)
  const args = [JSON.stringify(subject)]
  return (await runChild('cold/node-sample.ts', { args, timeoutMs: TIMEOUT_MS })) as ColdSample
}

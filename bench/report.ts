/** Writes the results of one run as Markdown, undated, so that a rerun shows only what moved. */
import { readFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { judge } from './budgets.ts'
import { METHODS, TOOL_COUNTS, type ToolCount } from './in-process.ts'
import type { Peer } from './peers/peer.ts'
import type { Method } from './requests.ts'
import { coldStartOf, type Results, samplesOf } from './results.ts'
import { pairedRatio, quartiles, spread } from './statistics.ts'

const PACKAGES = [
  '@modelcontextprotocol/server',
  '@modelcontextprotocol/sdk',
  'mcp-lite',
  'zod',
  'esbuild',
  'hono',
]

export async function toReport(results: Results): Promise<string> {
  const { rounds, coldStarts, memoryRequests } = results.settings
  return `# Benchmark

Written by \`npm run bench\`, which measures all peers side by side in one run. Absolute times are this machine's; ratios are
what counts. Every answer was checked before it was timed.

${await environmentTable()}

## Budgets

${table(
  ['what', 'budget', 'measured', 'fastest rounds', ''],
  judge(results).map(({ what, budget, measured, fastest, isMet }) => [
    what,
    budget,
    measured,
    fastest,
    isMet ? 'pass' : '**FAIL**',
  ]),
)}

## In process

One request at a time, \`new Request\` to the text of the answer. All tools are async functions with a zod schema of four
fields. The floor parses the body and answers, nothing else; its list is a constant string. mcp-lite is spoken to in
2025-06-18, the newest revision it knows, and streams its answer to a client that accepts a stream, as all conforming
clients do; "JSON" is a client that does not.

${METHODS.map((method) => methodSection(results, method)).join('\n\n')}

${rounds} interleaved rounds; ratios are medians of what each round measured.

## Servers of the official SDKs

${sdkServersTable(results)}

A \`tools/call\` of 53 tools of 25 fields each, whose schemas are at module scope: by the SDK's own handler, and by \`fromSdk\`.

## Asking the user

${askingTable(results)}

A conversation: the call that is told to ask, and the retry with the answer, five hundred at once. The sealed one encrypts and decrypts what it
remembers.

## Bundle of a worker with one tool

${bundleTable(results)}

Minified by esbuild, gzip level 9, 1 KB = 1000 bytes, under the conditions of workerd, without Node polyfills. What it is made of, minified:

${table(
  ['bundle', 'parts'],
  results.bundles.map(({ name, parts }) => [
    name,
    parts
      .slice(0, 8)
      .map((part) => `${part.name} ${kilobytes(part.bytes)}`)
      .join(', '),
  ]),
)}

${coldStartSection(results, coldStarts)}

## Memory

${table(
  ['', ...results.memory[0]!.points.map(({ x }) => `after ${x}`), 'growth a request'],
  results.memory.map(({ subject, points, bytesPerRequest }) => [
    subject,
    ...points.map(({ y }) => kilobytes(y)),
    `${bytesPerRequest.toFixed(2)} bytes`,
  ]),
)}

Heap in use after collection, over ${memoryRequests} requests. One request in ten arrives aborted, one is aborted while its tool waits, one
while its tool never settles. The control answers the same requests without a server.

What a \`tools/call\` with 10 tools allocates on the heap, \`new Request\` included:

${table(
  ['', 'era', 'bytes a call'],
  results.allocations.map(({ name, era, bytesPerCall }) => [name, era, bytesPerCall.toFixed(0)]),
)}
`
}

async function environmentTable(): Promise<string> {
  const versions = await Promise.all(PACKAGES.map(async (name) => [name, await versionOf(name)]))
  return table(
    ['', ''],
    [['Node', process.versions.node], ['CPU', cpus()[0]?.model.trim() ?? 'unknown'], ...versions],
  )
}

/** From the file, not through resolution: not every package exports its package.json. */
async function versionOf(name: string): Promise<string> {
  const url = new URL(`../node_modules/${name}/package.json`, import.meta.url)
  const { version }: { version: string } = JSON.parse(await readFile(url, 'utf8'))
  return version
}

function methodSection(results: Results, method: Method): string {
  const counts = TOOL_COUNTS.map((count) => `${count} ${count === 1 ? 'tool' : 'tools'}`)
  const rows = (cell: (peer: Peer, count: ToolCount) => string): string[][] =>
    results.peers.map((peer) => [
      peer.name,
      peer.dialect.era,
      ...TOOL_COUNTS.map((count) => cell(peer, count)),
    ])
  const samples = ({ name, dialect }: Peer, count: ToolCount): readonly number[] =>
    samplesOf(results, name, dialect.era, method, count)
  const ratiosTo = (reference: string): string[][] =>
    rows((peer, count) => {
      const others = samplesOf(results, reference, peer.dialect.era, method, count)
      return times(pairedRatio(samples(peer, count), others).median)
    })
  return `### \`${method}\`

Microseconds a request, median (fastest round):

${table(
  ['', 'era', ...counts],
  rows((peer, count) => both(samples(peer, count))),
)}

As a multiple of the floor in the same era:

${table(['', 'era', ...counts], ratiosTo('floor'))}

As a multiple of mayfly in the same era:

${table(['', 'era', ...counts], ratiosTo('mayfly'))}`
}

function sdkServersTable({ sdkServers }: Results): string {
  return table(
    ['', 'era', 'µs of the processor a call'],
    sdkServers.map(({ name, era, samples }) => [name, era, both(samples)]),
  )
}

function askingTable({ asking }: Results): string {
  const reference = asking[0]!.samples
  return table(
    ['', 'µs a conversation', 'of two plain calls'],
    asking.map(({ what, samples }) => [what, both(samples), times(pairedRatio(samples, reference).median)]),
  )
}

function bundleTable({ bundles }: Results): string {
  return table(
    ['', 'minified', 'gzipped', 'imports of Node'],
    bundles.map(({ name, minifiedBytes, gzippedBytes, builtins }) => [
      name,
      kilobytes(minifiedBytes),
      kilobytes(gzippedBytes),
      builtins.length > 0 ? builtins.join(', ') : 'none',
    ]),
  )
}

export function coldStartSection(results: Pick<Results, 'coldStarts'>, starts: number): string {
  return `## Cold start of that worker

${coldStartTable(results)}

\`import\` of the bundle and the first answered \`tools/call\`, in a fresh process each time, ${starts} interleaved samples. The
process starts, and loads its fetch classes, before the clock does.`
}

function coldStartTable(results: Pick<Results, 'coldStarts'>): string {
  const reference = coldStartOf(results, 'sdk-v2').totalMs
  return table(
    ['', 'import, ms', 'import + first answer, ms', 'quartiles', 'of SDK v2'],
    results.coldStarts.map(({ bundle, importMs, totalMs }) => [
      bundle.name,
      both(importMs),
      both(totalMs),
      quartiles(totalMs).map(number).join(' to '),
      times(pairedRatio(totalMs, reference).median),
    ]),
  )
}

function both(samples: readonly number[]): string {
  const { median, min } = spread(samples)
  return `${number(median)} (${number(min)})`
}

function number(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1)
}

function times(ratio: number): string {
  return `${ratio >= 10 ? ratio.toFixed(0) : ratio.toFixed(2)}×`
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} KB`
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows]
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]!.length)))
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`
  return [
    line(header),
    `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`,
    ...rows.map(line),
  ].join('\n')
}

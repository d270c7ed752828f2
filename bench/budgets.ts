/** The budgets of the design, held against one run. A missed one is reported and fails nothing: timing is no test. */
import type { Bundle, WorkerId } from './bundle.ts'
import type { ToolCount } from './in-process.ts'
import type { Era } from './requests.ts'
import { bundleOf, coldStartOf, memoryOf, type Results, samplesOf, sdkServerOf } from './results.ts'
import { pairedRatio, spread } from './statistics.ts'
import { caseOf, isRough, type Measurements, PEERS, type PeerName, ratiosTo } from './young/results.ts'

export interface Verdict {
  readonly what: string
  readonly budget: string
  /** The median of what the rounds measured: this is held against the budget. */
  readonly measured: string
  /** The same from each side's fastest round alone. Where it differs much from the median, the machine was busy. */
  readonly fastest: string
  readonly isMet: boolean
}

/** The smallest object and the set entry that holds it cost 40 bytes; leaked by the rarest kind of request, one in ten, 4. */
const FLAT_BYTES_PER_REQUEST = 4

const KILOBYTE = 1000

export function judge(results: Results): readonly Verdict[] {
  const call = (name: string, era: Era, toolCount: ToolCount = 10): readonly number[] =>
    samplesOf(results, name, era, 'tools/call', toolCount)
  const list = (name: string): readonly number[] => samplesOf(results, name, 'modern', 'tools/list', 100)
  const modern = call('mayfly', 'modern')
  const legacy = call('mayfly', 'legacy')
  const asking = (name: string): readonly number[] =>
    results.asking.find(({ what }) => what === name)?.samples ?? []
  return [
    atMost('call, 10 tools, modern, of the floor', compare(modern, call('floor', 'modern')), 1.5),
    atMost('call, 10 tools, legacy, of the floor', compare(legacy, call('floor', 'legacy')), 1.5),
    atLeast('call, 10 tools, faster than SDK v2', compare(call('SDK v2', 'modern'), modern), 5),
    atLeast(
      'call, 500 tools, faster than SDK v2',
      compare(call('SDK v2', 'modern', 500), call('mayfly', 'modern', 500)),
      50,
    ),
    atMost('call, modern, 500 tools of 10', compare(call('mayfly', 'modern', 500), modern), 1.1),
    atMost('call, legacy, 500 tools of 10', compare(call('mayfly', 'legacy', 500), legacy), 1.1),
    atLeast('list, 100 tools, faster than SDK v2', compare(list('SDK v2'), list('mayfly')), 50),
    atMost(
      'a question, of two plain calls',
      compare(asking('a question, nothing to remember'), asking('two plain calls')),
      2,
    ),
    timeAtMost('fromSdk, 53 tools of 25 fields', sdkServerOf(results, 'SDK v2 by fromSdk'), 500),
    ...judgeColdStarts(results),
    bundleAtMost('bundle without zod', bundleOf(results, 'mayfly-json-schema'), 42.5),
    bundleAtMost('bundle with zod', bundleOf(results, 'mayfly-zod'), 62),
    memoryFlat(results),
  ]
}

/** By runtime and case: our cost as a multiple of each peer's, at each of the calls that are measured (`bench/young-budgets.json`). */
export interface YoungBudgets {
  readonly [runtime: string]: { readonly [name: string]: YoungBudget }
}

type YoungBudget = { readonly [peer in PeerName]?: readonly number[] } & {
  /** Of `--quick`: any measurement replaces it. */
  readonly isRough?: true
}

/** One verdict for each peer in each case that has a budget. */
export function judgeYoung(results: Measurements, budgets: YoungBudgets): readonly Verdict[] {
  return ownYoung(results).flatMap(({ row, name, ratios }) =>
    PEERS.flatMap((peer) => {
      const limits = budgets[row.runtime]?.[name]?.[peer]
      const reached = ratios[peer]
      if (limits === undefined || reached === undefined) return []
      return {
        what: `${row.runtime}, ${name}, of ${peer}`,
        budget: `≤ ${limits.map((limit) => limit.toFixed(2)).join(' / ')}`,
        measured: reached.map((ratio) => ratio.toFixed(2)).join(' / '),
        fastest: '',
        isMet: reached.every((ratio, index) => ratio <= limits[index]!),
      }
    }),
  )
}

/** What two runs differ by. */
const ALLOWANCE = 1.05

/** The budgets after a run: cells without one get what was reached, the others only shrink. */
export function shrunkBudgets(results: Measurements, budgets: YoungBudgets): YoungBudgets {
  const shrunk: Record<string, Record<string, YoungBudget>> = structuredClone(budgets)
  for (const { row, name, ratios } of ownYoung(results)) {
    const before = budgets[row.runtime]?.[name]
    if (before !== undefined && before.isRough === undefined && isRough(row)) continue
    const limits = PEERS.flatMap((peer) => {
      const reached = ratios[peer]?.map((ratio) => Math.ceil(ratio * ALLOWANCE * 100) / 100)
      const earlier = before?.isRough ? undefined : before?.[peer]
      if (reached === undefined) return earlier === undefined ? [] : [[peer, earlier] as const]
      return [[peer, reached.map((limit, at) => Math.min(limit, earlier?.[at] ?? limit))] as const]
    })
    shrunk[row.runtime] = {
      ...shrunk[row.runtime],
      [name]: { ...Object.fromEntries(limits), ...(isRough(row) && { isRough: true }) },
    }
  }
  return shrunk
}

function ownYoung({ rows }: Measurements) {
  return rows
    .filter(({ server }) => server === 'mayfly')
    .map((row) => ({
      row,
      name: caseOf(row),
      ratios: Object.fromEntries(PEERS.map((peer) => [peer, ratiosTo(peer, row, rows)])) as {
        readonly [peer in PeerName]: readonly number[] | undefined
      },
    }))
}

export function judgeColdStarts(results: Pick<Results, 'coldStarts'>): readonly Verdict[] {
  const coldStart = (id: WorkerId): readonly number[] => coldStartOf(results, id).totalMs
  return [
    atMost('cold start, of SDK v2', compare(coldStart('mayfly-zod'), coldStart('sdk-v2')), 0.3),
    atMost('cold start, of mcp-lite', compare(coldStart('mayfly-zod'), coldStart('mcp-lite')), 1.3),
  ]
}

interface Comparison {
  readonly median: number
  readonly fastest: number
}

function compare(samples: readonly number[], others: readonly number[]): Comparison {
  return { median: pairedRatio(samples, others).median, fastest: spread(samples).min / spread(others).min }
}

function atMost(what: string, { median, fastest }: Comparison, limit: number): Verdict {
  return {
    what,
    budget: `≤ ${limit}×`,
    measured: times(median),
    fastest: times(fastest),
    isMet: median <= limit,
  }
}

function atLeast(what: string, { median, fastest }: Comparison, limit: number): Verdict {
  return {
    what,
    budget: `≥ ${limit}×`,
    measured: times(median),
    fastest: times(fastest),
    isMet: median >= limit,
  }
}

function timeAtMost(what: string, samples: readonly number[], limit: number): Verdict {
  const { median, min } = spread(samples)
  return {
    what,
    budget: `≤ ${limit} µs`,
    measured: `${median.toFixed(0)} µs`,
    fastest: `${min.toFixed(0)} µs`,
    isMet: median <= limit,
  }
}

function bundleAtMost(what: string, { gzippedBytes }: Bundle, limit: number): Verdict {
  const size = gzippedBytes / KILOBYTE
  return {
    what,
    budget: `≤ ${limit} KB`,
    measured: `${size.toFixed(1)} KB`,
    fastest: '',
    isMet: size <= limit,
  }
}

function memoryFlat(results: Results): Verdict {
  const { bytesPerRequest } = memoryOf(results, 'mayfly')
  return {
    what: `memory over ${results.settings.memoryRequests} requests, aborted ones included`,
    budget: `flat (< ${FLAT_BYTES_PER_REQUEST} bytes a request)`,
    measured: `${bytesPerRequest.toFixed(2)} bytes`,
    fastest: '',
    isMet: bytesPerRequest < FLAT_BYTES_PER_REQUEST,
  }
}

function times(ratio: number): string {
  return `${ratio.toFixed(2)}×`
}

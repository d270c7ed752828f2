/** `bench/results.json`: what `npm run bench` measured, for the pictures of the documentation. */
import { readFileSync, writeFileSync } from 'node:fs'
import type { ColdStart } from './cold-start.ts'
import type { Era } from './requests.ts'
import type { Results } from './results.ts'
import { quartiles, spread } from './statistics.ts'

const FILE = new URL('results.json', import.meta.url)

export interface Recorded {
  /** Of `tools/call`, in process. */
  readonly calls: { readonly node: string; readonly rounds: number; readonly rows: readonly RecordedCall[] }
  readonly coldStarts: {
    readonly node: string
    readonly starts: number
    readonly rows: readonly RecordedStart[]
  }
}

export interface RecordedCall {
  readonly server: string
  readonly era: Era
  readonly toolCount: number
  /** The median. */
  readonly microseconds: number
  /** Not recorded before November 2026. */
  readonly quartiles?: readonly [number, number]
}

export interface RecordedStart {
  /** Its name and its validator: `mayfly, zod`. */
  readonly worker: string
  /** The median, of the import and the first answer. */
  readonly ms: number
  readonly fastestMs: number
  readonly quartiles?: readonly [number, number]
}

export function readRecorded(): Recorded {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Recorded
}

export function writeRecorded(recorded: Recorded): void {
  writeFileSync(FILE, `${JSON.stringify(recorded, null, 2)}\n`)
}

export function recordedCalls({ timings, settings }: Results): Recorded['calls'] {
  const rows = timings
    .filter(({ method }) => method === 'tools/call')
    .map(({ peer, toolCount, samples }) => ({
      ...{ server: peer.name, era: peer.dialect.era, toolCount },
      ...{ microseconds: spread(samples).median, quartiles: quartiles(samples) },
    }))
  return { node: process.versions.node, rounds: settings.rounds, rows }
}

export function recordedStarts(coldStarts: readonly ColdStart[], starts: number): Recorded['coldStarts'] {
  const rows = coldStarts.map(({ bundle, totalMs }) => ({
    worker: bundle.name,
    ms: spread(totalMs).median,
    fastestMs: spread(totalMs).min,
    quartiles: quartiles(totalMs),
  }))
  return { node: process.versions.node, starts, rows }
}

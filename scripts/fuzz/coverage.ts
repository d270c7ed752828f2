/**
 * Which parts of `src/` have run, by V8's own block coverage.
 *
 * V8 reports ranges whose ends depend on what has run beside them, so two reports cannot be compared. So coverage is kept for each
 * character of a source file.
 */
import { Session } from 'node:inspector/promises'

const SOURCES = new URL('../../src/', import.meta.url).href

interface Ranges {
  readonly functionName: string
  readonly ranges: readonly {
    readonly startOffset: number
    readonly endOffset: number
    readonly count: number
  }[]
}

interface Script {
  /** 1 where covered. */
  covered: Uint8Array
  /** Where blocks begin or end. */
  readonly edges: Set<number>
  /** Every function, by `start-end`: V8 does not report one that has not run, which would then count as part of the one around it. */
  readonly functions: Map<string, readonly [start: number, end: number]>
  /** The same, outer functions first. */
  inOrder: (readonly [key: string, range: readonly [start: number, end: number]])[]
}

export interface Coverage {
  /** Adds what has run since the last call, and returns whether any of it is new. */
  take(): Promise<boolean>
  /** Returns whether anything that has run since the last call is new, without adding it. */
  hasNew(): Promise<boolean>
  /** Blocks covered so far. */
  blocks(): number
  /** Forgets what is covered, but not the sources and functions. */
  reset(): void
}

/** Start it before the modules of `src/` are loaded. */
export async function startCoverage(): Promise<Coverage> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  const scripts = new Map<string, Script>()
  const look = async (add: (script: Script, at: number) => void): Promise<boolean> => {
    const { result } = await session.post('Profiler.takePreciseCoverage')
    let isNew = false
    for (const { url, functions } of result) {
      if (!url.startsWith(SOURCES)) continue
      const script = scripts.get(url) ?? createScript()
      scripts.set(url, script)
      const painted = paint(script, functions)
      grow(script, painted.length)
      for (let at = 0; at < painted.length; at++) {
        if (painted[at] === 0 || script.covered[at] === 1) continue
        isNew = true
        add(script, at)
      }
    }
    return isNew
  }
  return {
    take: () =>
      look(({ covered }, at) => {
        covered[at] = 1
      }),
    hasNew: () => look(() => {}),
    blocks: () => [...scripts.values()].reduce((sum, script) => sum + blocksOf(script), 0),
    reset: () => {
      for (const { covered } of scripts.values()) covered.fill(0)
    },
  }
}

function createScript(): Script {
  return { covered: new Uint8Array(0), edges: new Set(), functions: new Map(), inOrder: [] }
}

function grow(script: Script, length: number): void {
  if (length <= script.covered.length) return
  const grown = new Uint8Array(length)
  grown.set(script.covered)
  script.covered = grown
}

/** 1 for each character that ran. Inner ranges overwrite outer ones. */
function paint(script: Script, reported: readonly Ranges[]): Uint8Array {
  const ran = new Map<string, Ranges>()
  for (const entry of reported) {
    const { startOffset, endOffset } = entry.ranges[0]!
    const key = `${startOffset}-${endOffset}`
    script.functions.set(key, [startOffset, endOffset])
    ran.set(key, entry)
    for (const range of entry.ranges) script.edges.add(range.startOffset).add(range.endOffset)
  }
  if (script.inOrder.length < script.functions.size)
    script.inOrder = [...script.functions].sort(([, a], [, b]) => a[0] - b[0] || b[1] - a[1])
  const painted = new Uint8Array(Math.max(0, ...script.inOrder.map(([, [, end]]) => end)))
  for (const [key, [start, end]] of script.inOrder) {
    const entry = ran.get(key)
    if (entry === undefined) painted.fill(0, start, end)
    else
      for (const { startOffset, endOffset, count } of entry.ranges)
        painted.fill(count > 0 ? 1 : 0, startOffset, endOffset)
  }
  return painted
}

function blocksOf({ covered, edges }: Script): number {
  return [...edges].filter((start) => covered[start] === 1).length
}

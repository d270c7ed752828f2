/**
 * Times `fetch(new Request(…))` up to the text of the answer, for every peer, method and number of tools. In each
 * round, peers that are compared run right after one another, in another order each time, so that a busy machine or
 * a warm cache hits all alike.
 */
import * as z from 'zod'
import { expectAnswer, WrongAnswer } from './expect.ts'
import type { FetchHandler, Peer } from './peers/peer.ts'
import { callTemplate, listTemplate, type Method, type RequestTemplate, toRequest } from './requests.ts'
import { echoTools } from './tools.ts'

export const METHODS: readonly Method[] = ['tools/call', 'tools/list']
export const TOOL_COUNTS = [1, 10, 100, 500] as const
export type ToolCount = (typeof TOOL_COUNTS)[number]

const WARM_UP_MS = 40

export interface InProcessOptions {
  readonly rounds: number
  /** How long each case runs in a round, about. */
  readonly batchMs: number
}

export interface Timing {
  readonly peer: Peer
  readonly method: Method
  readonly toolCount: ToolCount
  /** Microseconds per request, one sample a round. */
  readonly samples: readonly number[]
}

interface Case extends Timing {
  readonly fetch: FetchHandler
  readonly template: RequestTemplate
  readonly expectedLength: number
  iterations: number
  readonly samples: number[]
}

/** @throws WrongAnswer before anything is timed, or as soon as an answer turns wrong while it is. */
export async function measureInProcess(
  peers: readonly Peer[],
  { rounds, batchMs }: InProcessOptions,
): Promise<readonly Timing[]> {
  const groups: Case[][] = []
  for (const toolCount of TOOL_COUNTS) {
    for (const method of METHODS) groups.push(await prepareCases(peers, method, toolCount))
  }
  for (const entry of groups.flat()) await calibrate(entry, batchMs)
  for (let round = 0; round < rounds; round++) {
    for (const group of shuffled(groups, round)) {
      for (const entry of shuffled(group, round)) await sample(entry)
    }
  }
  return groups.flat()
}

async function prepareCases(peers: readonly Peer[], method: Method, toolCount: ToolCount): Promise<Case[]> {
  const tools = echoTools(toolCount)
  const expected = tools.map((tool) => ({ ...tool, inputSchema: { ...z.toJSONSchema(tool.inputSchema) } }))
  const cases: Case[] = []
  for (const peer of peers) {
    const fetch = peer.serve(tools)
    // The last tool: whoever searches a list finds it last.
    const toolName = tools.at(-1)!.name
    const template =
      method === 'tools/call' ? callTemplate(peer.dialect, toolName) : listTemplate(peer.dialect)
    const response = await fetch(toRequest(template))
    const text = await response.text()
    expectAnswer(`${peer.name} (${peer.dialect.era}), ${toolCount} tools`, method, expected, response, text)
    cases.push({
      peer,
      method,
      toolCount,
      fetch,
      template,
      expectedLength: text.length,
      iterations: 1,
      samples: [],
    })
  }
  return cases
}

async function sample(entry: Case): Promise<void> {
  // One peer's garbage is not collected on another's time. Minor only: major ones would discard compiled code.
  globalThis.gc?.({ type: 'minor', execution: 'sync' })
  await timeBatch(entry, Math.ceil(entry.iterations / 10))
  entry.samples.push(await timeBatch(entry, entry.iterations))
}

/**
 * Runs a case long enough for it to be compiled, and sets how often it runs in a batch: by its fastest time, since one
 * unlucky moment would leave it with short batches, which are slow for being short.
 */
async function calibrate(entry: Case, batchMs: number): Promise<void> {
  const end = performance.now() + WARM_UP_MS
  let fastest = Number.POSITIVE_INFINITY
  for (let iterations = 1; performance.now() < end; iterations++) {
    fastest = Math.min(fastest, await timeBatch(entry, iterations))
  }
  entry.iterations = Math.max(3, Math.ceil((batchMs * 1000) / fastest))
}

/** Microseconds per request, one request at a time. */
async function timeBatch(entry: Case, iterations: number): Promise<number> {
  const { fetch, template, expectedLength } = entry
  const start = performance.now()
  for (let i = 0; i < iterations; i++) {
    const response = await fetch(toRequest(template))
    const text = await response.text()
    if (response.status !== 200 || text.length !== expectedLength) {
      throw new WrongAnswer(
        `${entry.peer.name}, ${entry.method}: status ${response.status} while timing: ${text}`,
      )
    }
  }
  return ((performance.now() - start) * 1000) / iterations
}

/** A Fisher-Yates shuffle with the round as its seed (mulberry32), so that runs are comparable. */
function shuffled<T>(items: readonly T[], seed: number): T[] {
  const result = [...items]
  let state = seed + 1
  for (let i = result.length - 1; i > 0; i--) {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    const j = ((mixed ^ (mixed >>> 14)) >>> 0) % (i + 1)
    const swapped = result[i]!
    result[i] = result[j]!
    result[j] = swapped
  }
  return result
}

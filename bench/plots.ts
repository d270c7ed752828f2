/** The plots of docs/performance.md that `npm run bench` draws from what it measured. */
import { mkdir, writeFile } from 'node:fs/promises'
import { TOOL_COUNTS } from './in-process.ts'
import type { Peer } from './peers/peer.ts'
import { barPlot, linePlot } from './plot.ts'
import { type Results, samplesOf } from './results.ts'
import { spread } from './statistics.ts'

export const IMAGES: URL = new URL('../docs/images/', import.meta.url)

export async function writePlots(results: Results): Promise<void> {
  await mkdir(IMAGES, { recursive: true })
  await writeFile(new URL('cost-by-tools.svg', IMAGES), costByTools(results))
  await writeFile(new URL('cold-start.svg', IMAGES), coldStart(results))
}

function costByTools(results: Results): string {
  const { rounds } = results.settings
  const valuesOf = ({ name, dialect }: Peer): number[] =>
    TOOL_COUNTS.map((count) => spread(samplesOf(results, name, dialect.era, 'tools/call', count)).median)
  // Each once: ours and the floor cost alike in both eras.
  const shown = results.peers.filter(
    ({ name }, index, peers) =>
      name !== 'mcp-lite (SSE)' && peers.findIndex((peer) => peer.name === name) === index,
  )
  const lines = shown.map((peer) => ({
    label: peer.name,
    values: valuesOf(peer),
    isOurs: peer.name === 'mayfly',
  }))
  return linePlot(
    'What one tools/call costs, by the number of tools',
    'µs',
    `In process on Node ${process.versions.node}, medians of ${rounds} rounds. Both axes are logarithmic.`,
    TOOL_COUNTS,
    'tools',
    lines,
  )
}

function coldStart({ coldStarts, settings }: Results): string {
  const bars = coldStarts.map(({ bundle, totalMs }) => ({
    label: bundle.name,
    value: spread(totalMs).median,
    isOurs: bundle.id.startsWith('mayfly'),
  }))
  return barPlot(
    'Cold start: import of the bundle and the first answer',
    'ms',
    `One tool, a fresh process of Node ${process.versions.node} each time, medians of ${settings.coldStarts} starts.`,
    bars,
  )
}

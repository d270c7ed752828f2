/**
 * The pictures of docs/images/ that are drawn: of what was recorded in bench/results.json and bench/runtimes.json, and the life of a task.
 * `npm run bench -- --pictures` draws them without measuring.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type Recorded, readRecorded } from '../recorded.ts'
import type { ResultsFile } from '../runtimes/results.ts'
import { barPlot } from './bars.ts'
import { linePlot } from './lines.ts'
import { taskPicture } from './task.ts'

const IMAGES = new URL('../../docs/images/', import.meta.url)
const RUNTIMES = new URL('../runtimes.json', import.meta.url)

const FLOOR = 'Floor: only parses the body and answers.'

export function drawPictures(): Readonly<Record<string, string>> {
  const recorded = readRecorded()
  const { rows } = JSON.parse(readFileSync(RUNTIMES, 'utf8')) as ResultsFile
  return {
    'cold-start.svg': coldStart(recorded),
    'cost-by-tools.svg': costByTools(recorded),
    'task.svg': taskPicture(),
    'workerd.svg': workerd(rows),
  }
}

export function writePictures(): void {
  mkdirSync(IMAGES, { recursive: true })
  for (const [name, content] of Object.entries(drawPictures())) writeFileSync(new URL(name, IMAGES), content)
}

function costByTools({ calls }: Recorded): string {
  const counts = [...new Set(calls.rows.map(({ toolCount }) => toolCount))]
  // Each once, in the newest era that it speaks: ours and the floor cost alike in both. mcp-lite is fastest when it answers in JSON.
  const names = [...new Set(calls.rows.map(({ server }) => server))].filter(
    (name) => name !== 'mcp-lite (SSE)',
  )
  const lines = names.map((name) => {
    const { era } = calls.rows.find(({ server }) => server === name)!
    const rows = calls.rows.filter((row) => row.server === name && row.era === era)
    return {
      label: name.replace(' (JSON)', ''),
      values: counts.map((count) => rows.find(({ toolCount }) => toolCount === count)!.microseconds),
      kind: name === 'mayfly' ? ('ours' as const) : name === 'floor' ? ('floor' as const) : ('peer' as const),
    }
  })
  return linePlot({
    title: 'One tools/call, by the number of tools',
    unit: 'µs',
    xs: counts,
    xName: 'tools',
    lines,
    notes: [
      `In process on Node ${calls.node}, medians of ${calls.rounds} rounds. Both axes are logarithmic. mcp-lite answers in JSON.`,
      FLOOR,
    ],
  })
}

function coldStart({ coldStarts }: Recorded): string {
  const figures = coldStarts.rows.map(({ worker, ms, fastestMs, quartiles }) => {
    const [label = '', validator = ''] = worker.split(', ')
    return { validator, label, median: ms, fastest: fastestMs, quartiles, isOurs: label === 'mayfly' }
  })
  const validators = [...new Set(figures.map(({ validator }) => validator))]
  return barPlot({
    title: 'Cold start: import and first answer',
    unit: 'ms',
    groups: validators.map((validator) => ({
      heading: `Schemas in ${validator}`,
      figures: figures.filter((figure) => figure.validator === validator),
    })),
    notes: [
      `One tool, a fresh process of Node ${coldStarts.node} each time, medians of ${coldStarts.starts} starts.`,
    ],
  })
}

function workerd(rows: ResultsFile['rows']): string {
  const figures = rows
    .filter(
      ({ runtime, case: name, toolCount }) =>
        runtime === 'workerd' && name === 'tools/call' && toolCount === 10,
    )
    .map(({ server, cpuMicroseconds, fastestCpuMicroseconds, cpuQuartiles }) => ({
      label: server,
      median: cpuMicroseconds,
      quartiles: cpuQuartiles,
      fastest: fastestCpuMicroseconds,
      isOurs: server.startsWith('mayfly'),
    }))
  return barPlot({
    title: 'CPU time of one tools/call on workerd',
    unit: 'µs',
    groups: [{ figures }],
    notes: [
      '10 tools, over HTTP on loopback, without wrangler in front; medians, each in the newest revision that it speaks.',
      FLOOR,
    ],
  })
}

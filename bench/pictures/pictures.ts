/**
 * The pictures of docs/images/ that are drawn: of what was recorded in bench/results.json, bench/runtimes.json and bench/young.json, and
 * the life of a task.
 * `npm run bench -- --pictures` draws them without measuring.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type Recorded, readRecorded } from '../recorded.ts'
import type { ResultsFile } from '../runtimes/results.ts'
import { RUNTIMES } from '../runtimes/subject.ts'
import { CALLS, mediansOf, quartilesOf, readYoung, rowsOf, type YoungFile } from '../young/results.ts'
import { barPlot } from './bars.ts'
import { linePlot } from './lines.ts'
import { taskPicture } from './task.ts'

const IMAGES = new URL('../../docs/images/', import.meta.url)
const RUNTIME_ROWS = new URL('../runtimes.json', import.meta.url)
const YOUNG = new URL('../young.json', import.meta.url)

const FLOOR = 'Floor: only parses the body and answers.'

export function drawPictures(): Readonly<Record<string, string>> {
  const recorded = readRecorded()
  const { rows } = JSON.parse(readFileSync(RUNTIME_ROWS, 'utf8')) as ResultsFile
  return {
    'cold-start.svg': coldStart(recorded),
    'cost-by-tools.svg': costByTools(recorded),
    'task.svg': taskPicture(),
    'workerd.svg': workerd(rows),
    'young.svg': young(readYoung(YOUNG)),
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

/** Those of each runtime that readers compare. */
const YOUNG_SERVERS = ['floor', 'mcp-lite', 'mayfly', 'SDK v2']

/** Between a cold start and a warm server: what an isolate has cost when it goes. */
const YOUNG_CALL = CALLS.indexOf(100)

function young(file: YoungFile): string {
  const groups = RUNTIMES.map((runtime) => ({
    heading: runtime === 'lambda' ? "AWS's client on Node (Lambda)" : runtime,
    figures: rowsOf(file, runtime)
      .filter(
        ({ case: name, toolCount, server }) =>
          name === 'tools/call' && toolCount === 10 && YOUNG_SERVERS.includes(server),
      )
      .map((row) => ({
        label: row.server,
        median: mediansOf(row)[YOUNG_CALL]!,
        quartiles: quartilesOf(row)[YOUNG_CALL]!,
        isOurs: row.server === 'mayfly',
      })),
  }))
  return barPlot({
    title: 'CPU time of a young process: its start and 100 calls',
    unit: 'ms',
    groups: groups.filter(({ figures }) => figures.length > 0),
    notes: [
      '10 tools, over HTTP on loopback, each server and its host in one bundle; medians of fresh processes.',
      FLOOR,
    ],
  })
}

/** The report of a check: a table for people, one JSON document for scripts. */
import { styleText } from 'node:util'
import type { Verdict } from './outcome.ts'
import type { Report, Result } from './run.ts'

export type Counts = { readonly [verdict in Verdict]: number }

const COLOURS = { works: 'green', degrades: 'yellow', wrong: 'red', skipped: 'gray' } as const

export function countVerdicts({ results }: Report): Counts {
  const count = (verdict: Verdict): number => results.filter((result) => result.verdict === verdict).length
  return {
    works: count('works'),
    degrades: count('degrades'),
    wrong: count('wrong'),
    skipped: count('skipped'),
  }
}

/** Grouped by topic and aligned; the last line is the summary. Two lines alone for what is no MCP server. */
export function renderTable(report: Report, url: string, isColoured: boolean): string {
  const style: Style = (format, text) =>
    isColoured ? styleText(format, text, { validateStream: false }) : text
  const { server, eras, results } = report
  if (results.length === 1) return renderOnly(results[0]!, url, style)
  const width = Math.max(...results.map(({ title }) => title.length))
  const row = (result: Result): string => {
    const line = `  ${verdictOf(result, style)}  ${result.title.padEnd(width)}  ${detailOf(result, style)}`
    return 'fix' in result ? `${line}\n${' '.repeat(12)}${style('bold', 'fix')}: ${result.fix}` : line
  }
  const topics = [...new Set(results.map(({ topic }) => topic))]
  const groups = topics.map((topic) => {
    const rows = results.filter((result) => result.topic === topic).map(row)
    return [style('bold', topic), ...rows, ''].join('\n')
  })
  const head = [url, server && `${server.name} ${server.version}`.trim(), eras.join(' and ')]
  return `${head.filter(Boolean).join('  ')}\n\n${groups.join('\n')}\n${summary(countVerdicts(report))}\n`
}

type Style = (format: Parameters<typeof styleText>[0], text: string) => string

function renderOnly(result: Result, url: string, style: Style): string {
  const line = `${verdictOf(result, style)}  ${url} does not answer MCP: ${detailOf(result, style)}`
  return 'fix' in result ? `${line}\n${' '.repeat(10)}${style('bold', 'fix')}: ${result.fix}\n` : `${line}\n`
}

function verdictOf({ verdict }: Result, style: Style): string {
  return style(COLOURS[verdict], verdict.padEnd(8))
}

/** Of a finding with its id, for scripts and searches. */
function detailOf(result: Result, style: Style): string {
  return 'fix' in result ? `${result.detail}  ${style('gray', `[${result.id}]`)}` : result.detail
}

/** Its shape is documented in docs/check.md; members may be added. */
export function renderJson(report: Report, url: string): string {
  const { server, eras, results } = report
  return `${JSON.stringify({ url, server: server ?? null, eras, summary: countVerdicts(report), results }, null, 2)}\n`
}

function summary({ works, degrades, wrong, skipped }: Counts): string {
  return `${works} work, ${degrades} degrade, ${wrong} wrong, ${skipped} skipped`
}

/** The report of a check: a table for people, one JSON document for scripts. */
import { styleText } from 'node:util'
import type { Outcome, Verdict } from './outcome.ts'
import type { Report, Result } from './run.ts'

export type Counts = { readonly [verdict in Verdict]: number }

const COLOURS = { works: 'green', hint: 'cyan', degrades: 'yellow', wrong: 'red', skipped: 'gray' } as const

export function countVerdicts({ results }: Report): Counts {
  return toCounts(results)
}

export function toCounts(outcomes: readonly Outcome[]): Counts {
  const count = (verdict: Verdict): number => outcomes.filter((outcome) => outcome.verdict === verdict).length
  return {
    works: count('works'),
    degrades: count('degrades'),
    wrong: count('wrong'),
    skipped: count('skipped'),
    hint: count('hint'),
  }
}

/** Grouped by topic and aligned; the last line is the summary. Only two lines if it is not an MCP server. */
export function renderTable(report: Report, url: string, isColoured: boolean): string {
  const style = createStyle(isColoured)
  const { server, eras, results } = report
  if (results.length === 1) return renderOnly(results[0]!, url, style)
  const width = Math.max(...results.map(({ title }) => title.length))
  const row = (result: Result): string => {
    const line = `  ${verdictOf(result, style)}  ${result.title.padEnd(width)}  ${detailOf(result, style)}`
    return 'fix' in result ? `${line}\n${fixOf(result, style)}` : line
  }
  const topics = [...new Set(results.map(({ topic }) => topic))]
  const groups = topics.map((topic) => {
    const rows = results.filter((result) => result.topic === topic).map(row)
    return [style('bold', topic), ...rows, ''].join('\n')
  })
  const head = [url, server && `${server.name} ${server.version}`.trim(), eras.join(' and ')]
  return `${head.filter(Boolean).join('  ')}\n\n${groups.join('\n')}\n${summary(countVerdicts(report))}\n`
}

export type Style = (format: Parameters<typeof styleText>[0], text: string) => string

export function createStyle(isColoured: boolean): Style {
  return (format, text) => (isColoured ? styleText(format, text, { validateStream: false }) : text)
}

function renderOnly(result: Result, url: string, style: Style): string {
  const line = `${verdictOf(result, style)}  ${url} does not answer MCP: ${detailOf(result, style)}`
  return 'fix' in result ? `${line}\n${' '.repeat(10)}${style('bold', 'fix')}: ${result.fix}\n` : `${line}\n`
}

export function verdictOf({ verdict }: Outcome, style: Style): string {
  return style(COLOURS[verdict], verdict.padEnd(8))
}

/** A finding with its id, for scripts and searches. */
export function detailOf(result: Outcome & { readonly id: string }, style: Style): string {
  return 'fix' in result ? `${result.detail}  ${style('gray', `[${result.id}]`)}` : result.detail
}

/** The line below a finding. */
export function fixOf({ fix }: { readonly fix: string }, style: Style): string {
  return `${' '.repeat(12)}${style('bold', 'fix')}: ${fix}`
}

/** Its shape is documented in docs/check-reference.md; members may be added. */
export function renderJson(report: Report, url: string): string {
  const { server, eras, results } = report
  return `${JSON.stringify({ url, server: server ?? null, eras, summary: countVerdicts(report), results }, null, 2)}\n`
}

export function summary({ works, degrades, wrong, skipped, hint }: Counts): string {
  const hints = hint === 0 ? '' : `, ${hint} ${hint === 1 ? 'hint' : 'hints'}`
  return `${works} work, ${degrades} degrade, ${wrong} wrong, ${skipped} skipped${hints}`
}

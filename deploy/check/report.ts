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

/** Grouped by topic and aligned; the last line is the summary. */
export function renderTable(report: Report, url: string, isColoured: boolean): string {
  const style = (format: Parameters<typeof styleText>[0], text: string): string =>
    isColoured ? styleText(format, text, { validateStream: false }) : text
  const width = Math.max(...report.results.map(({ title }) => title.length))
  const row = (result: Result): string => {
    const verdict = style(COLOURS[result.verdict], result.verdict.padEnd(8))
    const line = `  ${verdict}  ${result.title.padEnd(width)}  ${result.detail}`
    return 'fix' in result ? `${line}\n            ${style('bold', 'fix')}: ${result.fix}` : line
  }
  const topics = [...new Set(report.results.map(({ topic }) => topic))]
  const groups = topics.map((topic) => {
    const rows = report.results.filter((result) => result.topic === topic).map(row)
    return [style('bold', topic), ...rows, ''].join('\n')
  })
  const { server, eras } = report
  const head = [url, server && `${server.name} ${server.version}`.trim(), eras.join(' and ')]
  return `${head.filter(Boolean).join('  ')}\n\n${groups.join('\n')}\n${summary(countVerdicts(report))}\n`
}

/** Its shape is documented in docs/check.md; members may be added. */
export function renderJson(report: Report, url: string): string {
  const { server, eras, results } = report
  return `${JSON.stringify({ url, server: server ?? null, eras, summary: countVerdicts(report), results }, null, 2)}\n`
}

function summary({ works, degrades, wrong, skipped }: Counts): string {
  return `${works} work, ${degrades} degrade, ${wrong} wrong, ${skipped} skipped`
}

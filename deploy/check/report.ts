/** The report of a check: a table for people, one JSON document for scripts. */
import { type Styles, stylesFor, wrap } from '../terminal/styles.ts'
import { NEEDS_TOKEN, type Outcome, REFUSED_TOKEN, type Verdict } from './outcome.ts'
import type { Report, Result } from './run.ts'

export type Counts = { readonly [verdict in Verdict]: number }

const MEANINGS = {
  works: 'ok',
  hint: 'hint',
  degrades: 'warning',
  wrong: 'failure',
  skipped: 'dim',
} as const

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

export interface TableOptions {
  /** The option of the command that takes a token. Default `--bearer-env`. */
  readonly tokenOption?: string
  /** Columns. Default: as many as it takes, for a file. */
  readonly width?: number
}

/** A table needs this much for its last column; otherwise it is a list. */
const MIN_DETAIL = 40
const BEFORE_TITLE = 12

/**
 * Grouped by topic and aligned; the last line is the summary. Only two lines if it is not an MCP server. What was not tried without a
 * token is one line.
 */
export function renderTable(
  report: Report,
  url: string,
  isColoured: boolean,
  { tokenOption = '--bearer-env', width = Number.POSITIVE_INFINITY }: TableOptions = {},
): string {
  const styles = stylesFor(isColoured)
  const { server, eras } = report
  if (report.results.length === 1) return renderOnly(report.results[0]!, url, styles)
  const locked = describeLock(report, tokenOption)
  const results = locked === undefined ? report.results : report.results.filter(isJudged(report))
  const longest = Math.max(...results.map(({ title }) => title.length))
  const isTable = width - BEFORE_TITLE - longest >= MIN_DETAIL
  const inside = (text: string): string =>
    wrap(text, width - BEFORE_TITLE).join(`\n${' '.repeat(BEFORE_TITLE)}`)
  const row = (result: Result): string => {
    const detail = detailOf(result, styles)
    const words = isTable
      ? `${result.title.padEnd(longest)}  ${detail}`
      : inside(`${result.title}: ${detail}`)
    const line = `  ${verdictOf(result, styles)}  ${words}`
    return 'fix' in result ? `${line}\n${' '.repeat(BEFORE_TITLE)}${inside(fixOf(result, styles))}` : line
  }
  const topics = [...new Set(results.map(({ topic }) => topic))]
  const groups = topics.map((topic) => {
    const rows = results.filter((result) => result.topic === topic).map(row)
    return [styles.heading(topic), ...rows, ''].join('\n')
  })
  const head = [url, server && `${server.name} ${server.version}`.trim(), eras.join(' and ')]
  const said =
    locked === undefined ? '' : `${wrap(`${styles.warning('401')}: ${locked}`, width).join('\n')}\n\n`
  return `${head.filter(Boolean).join('  ')}\n\n${said}${groups.join('\n')}\n${summary(countVerdicts(report))}\n`
}

/** Why a server could be judged only in part, and what to do: one line. Undefined if it asked for no token. */
export function describeLock(report: Report, tokenOption = '--bearer-env'): string | undefined {
  const { results, eras } = report
  const waiting = results.filter(isWaiting)
  if (waiting.length === 0) return undefined
  const judged = results.filter(isJudged(report))
  const what = `${results.length - judged.length} of ${results.length} probes were skipped`
  if (waiting.some(({ detail }) => detail === REFUSED_TOKEN))
    return `the server refuses this token, so ${what}: pass one that is not expired and is for this server`
  const who = eras.length === 0 ? 'the server wants' : 'a part of the server wants'
  return `${who} a token or an API key, so ${what}: put it into a variable, such as MCP_TOKEN, and pass ${tokenOption} MCP_TOKEN`
}

function isWaiting({ detail }: Result): boolean {
  return detail === NEEDS_TOKEN || detail === REFUSED_TOKEN
}

/** What follows from a probe that was not tried is not told either: without a token, a skipped probe says nothing about the server. */
function isJudged({ eras }: Report): (result: Result) => boolean {
  return (result) => (eras.length === 0 ? result.verdict !== 'skipped' : !isWaiting(result))
}

function renderOnly(result: Result, url: string, styles: Styles): string {
  const line = `${verdictOf(result, styles)}  ${url} does not answer MCP: ${detailOf(result, styles)}`
  return 'fix' in result ? `${line}\n${' '.repeat(10)}${styles.heading('fix')}: ${result.fix}\n` : `${line}\n`
}

export function verdictOf({ verdict }: Outcome, styles: Styles): string {
  return styles[MEANINGS[verdict]](verdict.padEnd(8))
}

/** A finding with its id, for scripts and searches. */
export function detailOf(result: Outcome & { readonly id: string }, styles: Styles): string {
  return 'fix' in result ? `${result.detail}  ${styles.dim(`[${result.id}]`)}` : result.detail
}

/** What is below a finding. */
export function fixOf({ fix }: { readonly fix: string }, styles: Styles): string {
  return `${styles.heading('fix')}: ${fix}`
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

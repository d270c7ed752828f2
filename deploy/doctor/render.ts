/** The reports of `mayfly doctor` for people: what all targets have in common once, then each target. */

import type { Feature } from '../../src/definition/context.ts'
import type { Finding, Target } from '../contract/target.ts'
import { printable, printableLines } from '../terminal/cli-error.ts'
import { listed } from '../terminal/listed.ts'
import { type Styles, stylesFor, wrap } from '../terminal/styles.ts'
import type { Degradation } from './findings.ts'

export interface Examined {
  readonly title: Target['title']
  readonly findings: readonly Finding[]
  readonly degrades: readonly Degradation[]
}

export interface RenderOptions {
  /** What degrades and is not among these is only counted. Undefined: everything is told. */
  readonly used: ReadonlySet<Feature> | undefined
  readonly isColoured: boolean
  /** Columns. */
  readonly width: number
}

export function renderDoctor(reports: readonly Examined[], options: RenderOptions): string {
  const styles = stylesFor(options.isColoured)
  const rows = (findings: readonly Finding[]): string[] => findings.map((one) => row(one, styles, options))
  if (reports.length === 1) return block(reports[0]!, rows(reports[0]!.findings), styles, options)
  const isShared = (finding: Finding): boolean =>
    reports.every(({ findings }) => findings.some((other) => isSame(finding, other)))
  const shared = reports[0]!.findings.filter(isShared)
  const own = reports.map((report) =>
    block(report, rows(report.findings.filter((finding) => !isShared(finding))), styles, options),
  )
  const head = styles.heading(listed(reports.map(({ title }) => title)))
  return [[head, ...rows(shared), ''].join('\n'), ...own].join('\n')
}

function isSame(one: Finding, other: Finding): boolean {
  return one.level === other.level && one.message === other.message
}

const MARKS = { ok: 'ok      ', warning: 'warning ', error: 'error   ' } as const
const MEANINGS = { ok: 'ok', warning: 'warning', error: 'failure' } as const
const AFTER_MARK = ' '.repeat(10)

function row({ level, message }: Finding, styles: Styles, { width }: RenderOptions): string {
  const lines = wrap(printableLines(message), width - AFTER_MARK.length)
  return `  ${styles[MEANINGS[level]](MARKS[level])}${lines.join(`\n${AFTER_MARK}`)}`
}

/** Ends with a line feed. */
function block(
  { title, degrades }: Examined,
  rows: readonly string[],
  styles: Styles,
  options: RenderOptions,
): string {
  const { used, width } = options
  const isTold = (name: string): boolean => used?.has(featureIn(name)) ?? true
  const told = degrades.flatMap(({ features, ...why }) => {
    const names = features.filter(isTold)
    return names.length === 0 ? [] : [{ ...why, names }]
  })
  const lost = told.flatMap(({ names, reason, remedy }) => [
    ...wrap(names.join(', '), width - 2).map((line) => `  ${styles.heading(line)}`),
    ...wrap(printable(`${reason} ${remedy}`), width - 4).map((line) => `    ${line}`),
  ])
  const what =
    used === undefined ? 'What degrades, and is not advertised' : 'What your server uses, and degrades here'
  const rest = new Set(
    degrades.flatMap(({ features }) => features.filter((name) => !isTold(name)).map(featureIn)),
  )
  return [
    styles.heading(title),
    ...rows,
    ...(lost.length === 0 ? [] : ['', styles.heading(what), ...lost]),
    ...(rest.size === 0 ? [] : ['', counted(rest.size, told.length > 0)]),
    '',
  ].join('\n')
}

function counted(count: number, isMore: boolean): string {
  const features = `${count} ${isMore ? 'more ' : ''}${count === 1 ? 'feature degrades' : 'features degrade'} here`
  return `${features}, unused by your server: --verbose`
}

/** `elicitation.form (legacy)` is `elicitation.form`. */
function featureIn(name: string): Feature {
  return name.replace(/ \(\w+\)$/, '') as Feature
}

/** The results, as text and as the table in SECURITY.md. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GROUPS } from './groups.ts'
import { ROOT } from './identity.ts'
import type { Score, Tried } from './score.ts'

/** The numbers of one group as saved between runs. */
export interface Result {
  readonly mutants: number
  readonly killed: number
  readonly accepted: number
}

const RESULTS = join(ROOT, 'scripts/mutation/results.json')
const DOCUMENT = join(ROOT, 'SECURITY.md')
const BEGIN = '<!-- mutation:begin -->'
const END = '<!-- mutation:end -->'

export const isKilled = ({ fate }: Tried): boolean => fate === 'killed' || fate === 'hung'

export function resultOf({ tried }: Score): Result {
  return {
    mutants: tried.length,
    killed: tried.filter(isKilled).length,
    accepted: tried.filter((one) => one.isAccepted && !isKilled(one)).length,
  }
}

export const percent = ({ killed, mutants }: Result): number => Math.floor((killed / mutants) * 1000) / 10

/** Survivors that are not accepted, one line each. */
export function survivorsOf({ tried }: Score): readonly string[] {
  return tried
    .filter((one) => !isKilled(one) && !one.isAccepted)
    .map(({ mutant, fate }) => {
      const { file, lineNumber, original, replacement } = mutant
      return `${file}:${lineNumber} ${original} → ${replacement}${fate === 'not covered' ? '  (no test reaches it)' : ''}`
    })
}

/** By file: how many were killed, and the rest. */
export function filesOf({ tried }: Score): readonly string[] {
  const files = new Set(tried.map(({ mutant }) => mutant.file))
  return [...files].map((file) => {
    const those = tried.filter(({ mutant }) => mutant.file === file)
    const result = {
      mutants: those.length,
      killed: those.filter(isKilled).length,
      accepted: 0,
    }
    const count = (wanted: (one: Tried) => boolean) => those.filter(wanted).length
    return `${file}: ${result.killed} of ${result.mutants} killed (${percent(result)} %), ${count(
      ({ fate }) => fate === 'hung',
    )} of them hung, ${count(({ fate }) => fate === 'survived')} survived, ${count(
      ({ fate }) => fate === 'not covered',
    )} not covered`
  })
}

export function readResults(): { readonly [group: string]: Result } {
  return JSON.parse(readFileSync(RESULTS, 'utf8')) as { readonly [group: string]: Result }
}

export function renderTable(): string {
  const results = readResults()
  const rows = GROUPS.filter(({ name }) => results[name]).map(({ name, title }) => {
    const { mutants, killed, accepted } = results[name]!
    return `| ${title} (\`${name}\`) | ${mutants} | ${killed} (${percent(results[name]!)} %) | ${accepted} |`
  })
  if (rows.length === 0) return 'Run it to see: no result of this code is kept yet.'
  return ['| group | mutants | killed | survive on purpose |', '|---|---|---|---|', ...rows].join('\n')
}

/** The table as it is in SECURITY.md. */
export function writtenTable(): string {
  const [, after = ''] = readFileSync(DOCUMENT, 'utf8').split(`${BEGIN}\n`)
  return after.split(`\n${END}`)[0]!
}

/** Saves the numbers of these groups, and rewrites the table. */
export function write(scores: readonly Score[]): void {
  const results = {
    ...readResults(),
    ...Object.fromEntries(scores.map((score) => [score.group.name, resultOf(score)])),
  }
  writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`)
  const document = readFileSync(DOCUMENT, 'utf8')
  const [before, rest] = document.split(BEGIN)
  const after = rest?.split(END)[1]
  if (after === undefined) throw new TypeError(`SECURITY.md has no ${BEGIN} … ${END}.`)
  writeFileSync(DOCUMENT, `${before}${BEGIN}\n${renderTable()}\n${END}${after}`)
}

/** Puts cold starts that were measured alone into `RESULTS.md`, in place of those of an earlier run: their section and their budgets. */
import { judgeColdStarts, type Verdict } from './budgets.ts'
import type { ColdStart } from './cold-start.ts'
import { coldStartSection } from './report.ts'

/** @throws Error where the report lacks them. */
export function withColdStarts(report: string, coldStarts: readonly ColdStart[], starts: number): string {
  const section = /## Cold start of that worker\n[\s\S]*?(?=\n\n## )/
  if (!section.test(report)) throw new Error('RESULTS.md has no cold starts: run `npm run bench` once.')
  const next = report.replace(section, () => coldStartSection({ coldStarts }, starts))
  return judgeColdStarts({ coldStarts }).reduce(withVerdict, next)
}

function withVerdict(report: string, { what, budget, measured, fastest, isMet }: Verdict): string {
  const found = report.split('\n').find((line) => line.startsWith(`| ${what} `))
  if (found === undefined) throw new Error(`RESULTS.md has no budget "${what}": run \`npm run bench\` once.`)
  const widths = found.split('|').slice(1, -1)
  const cells = [what, budget, measured, fastest, isMet ? 'pass' : '**FAIL**']
  return report.replace(
    found,
    () => `|${cells.map((cell, at) => ` ${cell}`.padEnd(widths[at]!.length)).join('|')}|`,
  )
}

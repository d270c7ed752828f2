/**
 * Writes the table of entries and guards into SECURITY.md, from what `test/guards` runs, so that the two cannot disagree.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { ENTRIES, type EntryRow, GUARDS, type GuardId } from '../test/guards/matrix.ts'
import { withMarked } from './marked.ts'

const FILE = new URL('../SECURITY.md', import.meta.url)

/** The table, and the reasons for the cells without a tick. */
export function renderGuards(): string {
  const reasons: string[] = []
  const cell = (reason: string | undefined): string => {
    if (reason === undefined) return '✓'
    if (!reasons.includes(reason)) reasons.push(reason)
    return String(reasons.indexOf(reason) + 1)
  }
  const guards = Object.keys(GUARDS) as GuardId[]
  const rows = Object.values<EntryRow>(ENTRIES).map(({ title, exempt }) => [
    title,
    ...guards.map((guard) => cell(exempt[guard])),
  ])
  const lines = [['', ...Object.values(GUARDS)], ['---', ...guards.map(() => ':-:')], ...rows]
  const table = lines.map((cells) => `| ${cells.join(' | ')} |`)
  const notes = reasons.map((reason, index) => `${index + 1}. ${reason}`)
  return [...table, '', ...notes].join('\n')
}

/** SECURITY.md as it is on disk, and as it should be. @throws Error where the markers are gone. */
export function securityPage(): { readonly written: string; readonly rendered: string } {
  const written = readFileSync(FILE, 'utf8')
  return { written, rendered: withMarked(written, 'guards', renderGuards()) }
}

if (import.meta.main) writeFileSync(FILE, securityPage().rendered)

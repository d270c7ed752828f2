/** For suites whose rows start processes: of a table with more than four rows, the first, the last and two between are tried. */
import type { Plugin } from 'vite'

const ROWS = 4
const TABLE = /\b((?:describe|it|test)(?:\.(?:concurrent|sequential))?)\.(each|for)\b/g

/** Makes the tables of a suite shorter. */
export const fewerRows: Plugin = {
  name: 'mayfly-fewer-rows',
  enforce: 'pre',
  transform(code, id) {
    if (!id.endsWith('.test.ts')) return undefined
    const shorter = code.replace(TABLE, 'mayflyFewer($1).$2')
    // On the same line: the numbers of the others stay.
    return `import { fewer as mayflyFewer } from ${JSON.stringify(import.meta.filename)};${shorter}`
  },
}

type Table = (rows: readonly unknown[], ...more: unknown[]) => unknown

/** `test`, `describe`, or one of them with a modifier, for fewer rows. */
export function fewer(declares: { readonly each: Table; readonly for: Table }): { each: Table; for: Table } {
  return {
    each: (rows, ...more) => declares.each(some(rows), ...more),
    for: (rows, ...more) => declares.for(some(rows), ...more),
  }
}

/** Evenly, with the first and the last. A template's strings are no rows. */
function some(rows: readonly unknown[]): readonly unknown[] {
  if (!Array.isArray(rows) || 'raw' in rows || rows.length <= ROWS) return rows
  return Array.from({ length: ROWS }, (_none, at) => rows[Math.round((at * (rows.length - 1)) / (ROWS - 1))])
}

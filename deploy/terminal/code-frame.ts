/** The line of a source file that an error names, with a caret below the place. */
import { readFileSync, statSync } from 'node:fs'
import { printable } from './cli-error.ts'
import { WIDTH } from './styles.ts'

/** As esbuild's errors begin, and as `loadReason` ends: a path, a line and a column. Other files may hold secrets. */
const PLACE =
  /^([^\s:()][^:()]*\.[cm]?[jt]sx?):(\d+):(\d+): |\(([^\s:()][^:()]*\.[cm]?[jt]sx?):(\d+):(\d+)\)$/

const MAX_BYTES = 1_000_000

/**
 * Undefined for a message that names no place, and for a file that cannot be read.
 *
 * @param message One line of an error; its path is relative to this process's folder.
 */
export function codeFrame(message: string): string | undefined {
  const [, ...groups] = PLACE.exec(message) ?? []
  const [path, line, column] = groups.filter((group) => group !== undefined)
  const source = path === undefined ? undefined : lineOf(path, Number(line))
  if (source === undefined || source.trim() === '') return undefined
  const gutter = `  ${line} | `
  const { text, at } = excerpt(source, Number(column) - 1, WIDTH - gutter.length)
  return `${gutter}${text}\n${' '.repeat(gutter.length - 2)}| ${' '.repeat(at)}^`
}

function lineOf(path: string, line: number): string | undefined {
  try {
    const stat = statSync(path)
    if (!stat.isFile() || stat.size > MAX_BYTES) return undefined
    return readFileSync(path, 'utf8').split(/\r?\n/)[line - 1]
  } catch {
    return undefined
  }
}

/** The part of a line around a place, without what would move the caret. */
function excerpt(line: string, column: number, width: number): { text: string; at: number } {
  const start = Math.max(0, Math.min(column - Math.floor(width / 2), line.length - width))
  const clean = (part: string): string => printable(part.replaceAll('\t', '  '))
  const before = clean(line.slice(start, column))
  return { text: (before + clean(line.slice(column, start + width))).slice(0, width), at: before.length }
}

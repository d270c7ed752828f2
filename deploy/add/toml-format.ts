/**
 * The TOML file of Codex. An entry is a separate table at the end of the file, so nothing else changes; this is checked before the text is
 * returned.
 */

import { isDeepStrictEqual } from 'node:util'
import { parse as parseToml, stringify, type TomlTable } from 'smol-toml'
import { memberOf } from '../../src/definition/error-text.ts'
import { type Format, isEntry, UnreadableError } from './format.ts'

export const tomlFormat: Format = {
  read: (text, key, name) => own(own(parse(text), key), name),
  write: (text, name, { key, entry }) => {
    const eol = text.includes('\r\n') ? '\r\n' : '\n'
    const before = parse(text)
    const rest = own(own(before, key), name) === undefined ? text : without(text, key, name)
    const added = stringify({ [key]: { [name]: entry } }).replaceAll('\n', eol)
    const gap = rest.trim() === '' ? '' : rest.endsWith(eol) ? eol : eol + eol
    const changed = `${rest}${gap}${added}${added.endsWith(eol) ? '' : eol}`
    if (!isSame(before, changed, key, name, entry)) {
      throw new UnreadableError(`keeps "${key}" in a form that cannot be added to: add the entry by hand`)
    }
    return changed
  },
  render: (name, { key, entry }) => `${stringify({ [key]: { [name]: entry } }).trimEnd()}\n`,
}

function parse(text: string): TomlTable {
  try {
    return parseWhole(text)
  } catch (error) {
    throw new UnreadableError(`is not TOML (line ${memberOf(error, 'line') ?? 1})`)
  }
}

/** Numbers that JavaScript cannot hold are BigInts. */
function parseWhole(text: string): TomlTable {
  return parseToml(text, { integersAsBigInt: 'asNeeded' })
}

function own(table: unknown, key: string): unknown {
  return typeof table === 'object' && table !== null && Object.hasOwn(table, key)
    ? (table as TomlTable)[key]
    : undefined
}

/** Removes a table and its subtables that have headers. Keeps the comment lines above the next header and at the end of the file. */
function without(text: string, key: string, name: string): string {
  const quote = (word: string): string => `(?:${word}|"${word}"|'${word}')`
  const own = new RegExp(`^\\s*\\[\\s*${quote(key)}\\s*\\.\\s*${quote(name)}\\s*[.\\]]`)
  let kept = ''
  let above = ''
  let isOwn = false
  // Line by line: a regular expression for a section with its comments takes quadratic time.
  for (const line of text.split(/(?<=\n)/)) {
    if (/^[ \t]*(?:#|\r?\n|$)/.test(line)) {
      above += line
      continue
    }
    if (/^[ \t]*\[/.test(line)) isOwn = own.test(line)
    if (!isOwn) kept += above + line
    above = ''
  }
  return kept + above
}

/** Whether the changed text means the same apart from this entry, and the entry is there. */
function isSame(before: TomlTable, changed: string, key: string, name: string, entry: object): boolean {
  let after: TomlTable
  try {
    after = parseWhole(changed)
  } catch {
    // For example an inline table, which a header cannot extend.
    return false
  }
  if (!isEntry(own(own(after, key), name), entry)) return false
  return isDeepStrictEqual(withoutEntry(before, key, name), withoutEntry(after, key, name))
}

function withoutEntry(table: TomlTable, key: string, name: string): object {
  const { [key]: servers = {}, ...rest } = table
  const { [name]: _, ...others } = servers as TomlTable
  return { rest, others }
}

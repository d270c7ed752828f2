/** Where the code of a built file comes from, for a runtime that reads no source maps, such as workerd under wrangler. */
import { readFileSync, statSync } from 'node:fs'
import nodeModule from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

const MAX_BYTES = 50_000_000

export interface OriginalPlace {
  readonly path: string
  /** `:3:5` */
  readonly place: string
}

/** The place itself, if no source map is beside the file. Lines and columns count from 1. */
export function originalPlace(path: string, line: number, column: number): OriginalPlace {
  const given = { path, place: `:${line}:${column}` }
  const map = mapOf(`${path}.map`)
  const entry = map?.findEntry(line - 1, column - 1)
  if (entry === undefined || !('originalSource' in entry)) return given
  const { originalSource, originalLine, originalColumn } = entry
  try {
    const source = fileURLToPath(new URL(originalSource, pathToFileURL(path)))
    return { path: source, place: `:${originalLine + 1}:${originalColumn + 1}` }
  } catch {
    // Of no file.
    return given
  }
}

/** A map is large, and one server's errors all need the same. */
let last: { readonly file: string; readonly time: number; readonly map: nodeModule.SourceMap } | undefined

function mapOf(file: string): nodeModule.SourceMap | undefined {
  try {
    const { mtimeMs: time, size } = statSync(file)
    if (size > MAX_BYTES) return undefined
    if (last?.file === file && last.time === time) return last.map
    const map = new nodeModule.SourceMap(JSON.parse(readFileSync(file, 'utf8')))
    last = { file, time, map }
    return map
  } catch {
    return undefined
  }
}

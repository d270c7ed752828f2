/** Why a server did not load, in one line. Used in the process that loads it. */
import { relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { cut, isA, memberOf, stackOf, textOf } from '../../src/definition/error-text.ts'
import { exportRemedy } from '../project/entry-points.ts'
import { whatToWrite } from '../project/not-a-server.ts'

const MAX_CHARACTERS = 500

/** `TypeError: tools.x needs a description (src/server.ts:3:5)`. The place needs source maps. */
export function loadReason(error: unknown): string {
  const place = placeOf(error)
  const text = withWhatToWrite(textOf(error), error).replaceAll(/\s+/g, ' ').trim()
  const message = cut(text, MAX_CHARACTERS)
  return `${kindOf(error)}: ${message}${exportRemedy(text)}${place === undefined ? '' : ` (${place})`}`
}

/** The bundle's error for a default export that is not a server, with what it is. */
function withWhatToWrite(text: string, error: unknown): string {
  const [complaint] = /^the default export of .* has no fetch function: /.exec(text) ?? []
  return complaint === undefined ? text : complaint + whatToWrite(memberOf(error, 'exported'))
}

/** `loadError()` of held-output.ts recognizes the line by the word at its start. */
function kindOf(error: unknown): string {
  if (!isA(error, Error)) return 'Error'
  const name = String(memberOf(error, 'name'))
  return /^\w*Error$/.test(name) ? name : `Error: ${name}`
}

/** The first line of the stack in one of the user's own files. */
function placeOf(error: unknown): string | undefined {
  const place = (stackOf(error) ?? '')
    .split('\n')
    .map((line) => / \(?(?:file:\/\/)?(\/[^()]+:\d+:\d+)\)?$/.exec(line)?.[1])
    .find((path) => path?.startsWith(process.cwd()) && !path.includes('/node_modules/'))
  return place === undefined ? undefined : relative(process.cwd(), place)
}

/**
 * Imports a built server. If it does not load, prints `{ "loadError": … }` as one line of JSON and ends the process.
 */
export async function importOrEnd(file: string): Promise<{ readonly default: unknown }> {
  try {
    return (await import(pathToFileURL(file).href)) as { default: unknown }
  } catch (error) {
    process.stdout.write(`\n${JSON.stringify({ loadError: loadReason(error) })}\n`)
    process.exit(1)
  }
}

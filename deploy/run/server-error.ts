/** An error in the log of a local server, as a person needs it: what was thrown, in which call, and where in the user's files. */
import { isAbsolute, relative, sep } from 'node:path'
import { isObject } from '../../src/definition/is-object.ts'
import type { ServerError } from '../contract/target.ts'
import { isBelow } from '../project/mayfly-package.ts'
import { codeFrame } from '../terminal/code-frame.ts'
import { originalPlace } from './original-place.ts'

/** What a line of an error begins with: src/definition/print-error.ts. */
export const ERROR_START = '{"level":"error",'

const MAX_CALLS = 8

// biome-ignore lint/suspicious/noControlCharactersInRegex: a colour begins with one.
const COLOUR = /\u001b(?:\[[\d;]*m?)?/g

/** A line, or the beginning of one, without the mark and the colours that wrangler adds. */
export function undecorated(line: string): string {
  return line.replaceAll(COLOUR, '').replace(/^✘ \[ERROR\] /, '')
}

/** Undefined for a line that only looks like an error of the log. Paths are relative to this process's folder, as on a terminal. */
export function readServerError(line: string): ServerError | undefined {
  const entry = readEntry(line)
  if (entry?.level !== 'error' || typeof entry.message !== 'string') return undefined
  const { message, time, requestId, cause, stack } = entry
  const calls = typeof stack === 'string' ? callsOf(stack, message) : []
  const place = calls.find(({ isOfUser }) => isOfUser)?.place
  const frame = place === undefined ? undefined : codeFrame(`(${place})`)
  return {
    time: String(time),
    what: whatFailed(entry),
    message,
    ...(typeof requestId === 'string' && { requestId }),
    ...(typeof cause === 'string' && { cause }),
    ...(place !== undefined && { place }),
    ...(frame !== undefined && { frame }),
    calls: calls.slice(0, MAX_CALLS).map(({ name, place: at }) => (name === '' ? at : `${name} (${at})`)),
  }
}

type Members = { readonly [name: string]: unknown }

/** Undefined for a line that is not an entry of a log. */
export function readEntry(line: string): Members | undefined {
  try {
    const entry: unknown = JSON.parse(line)
    return isObject(entry) ? entry : undefined
  } catch {
    return undefined
  }
}

/** `buy`, or `buy hook` for a fault beside the call. */
function whatFailed(entry: Members): string {
  const flags = Object.keys(entry).filter((name) => entry[name] === true)
  const subject = [entry.tool, entry.gateway, entry.method].find((name) => typeof name === 'string')
  return [subject, ...flags].filter((word) => word !== undefined).join(' ')
}

interface Call {
  readonly name: string
  readonly place: string
  readonly isOfUser: boolean
}

/** Without those of the runtime and of this package. A message may look like calls, so that it is left out. */
function callsOf(stack: string, message: string): Call[] {
  const at = stack.indexOf(message)
  const lines = (at < 0 ? stack : stack.slice(at + message.length)).split('\n')
  return lines.map(readCall).filter((call) => call !== undefined)
}

function readCall(line: string): Call | undefined {
  const [, name = '', file, row, column] =
    /^ {4}at (?:(?:async )?(.*) \()?(?:file:\/\/)?([^()]+?):(\d+):(\d+)\)?$/.exec(line) ?? []
  if (file === undefined || !isAbsolute(file)) return undefined
  const { path, place } = originalPlace(file, Number(row), Number(column))
  if (isBelow(path, 'src', 'dist', 'adapters', 'deploy')) return undefined
  const inFolder = relative(process.cwd(), path)
  const isInside = !inFolder.startsWith(`..${sep}`) && !isAbsolute(inFolder)
  const isOfUser = isInside && !`${sep}${inFolder}`.includes(`${sep}node_modules${sep}`)
  return { name, place: `${isInside ? inFolder : path}${place}`, isOfUser }
}

/** The log of a local server for a person: a request or an error is short on a terminal, and one line of JSON everywhere else. */
import type { ServerError } from '../contract/target.ts'
import { printable } from '../terminal/cli-error.ts'
import { duration, type Styles } from '../terminal/styles.ts'
import { ERROR_START, readEntry, readServerError, undecorated } from './server-error.ts'

/** What a line of a request begins with: src/http/log.ts. */
const START = '{"level":"info",'

/** A request of `mayfly dev` itself. */
const PROBE = /"client(?:RequestId)?":"mayfly-dev(?:\/1)?"/

/** Longer lines are not of a request. */
const MAX_CHARACTERS = 65_536

export interface RequestLog {
  /**
   * A filter for what one stream of a server writes, in pieces of any size. Call it with `undefined` at the end of the stream, for what it
   * still holds.
   */
  filter(): (text: string | undefined) => string
}

export interface RequestLogOptions {
  /** Replaces the line of a request by `22:58:34 200 tools/list 1 ms`, and that of an error by what a person reads. Default: it stays as it is. */
  readonly styles?: Styles | undefined
  /** Called with each error. */
  readonly onServerError?: ((error: ServerError) => void) | undefined
  /**
   * The platform's own line about a request, with its method, path and status as groups. It is removed for a request that the server logged
   * itself.
   */
  readonly echo?: RegExp | undefined
}

/** Echoes of requests whose answer is still going on. */
const MAX_AWAITED = 1000

/** Removes the requests of `mayfly dev` itself. What is not about a request stays as it is. */
export function createRequestLog({ styles, echo, onServerError }: RequestLogOptions = {}): RequestLog {
  const awaited: string[] = []
  const shownRequest = (line: string): string => {
    const entry = readRequest(line)
    if (entry === undefined) return line
    if (echo !== undefined) {
      awaited.push(`${entry.httpMethod} ${entry.path} ${entry.status}`)
      if (awaited.length > MAX_AWAITED) awaited.shift()
    }
    if (PROBE.test(line)) return ''
    return styles === undefined ? line : `${requestLine(entry, styles)}\n`
  }
  const isEcho = (line: string): boolean => {
    const [, method, path = '', status] = echo?.exec(line) ?? []
    const at = method === undefined ? -1 : awaited.indexOf(`${method} ${path.replace(/\?.*/, '')} ${status}`)
    if (at >= 0) awaited.splice(at, 1)
    return at >= 0
  }
  const shownError = (line: string, plain: string): string => {
    const error = readServerError(plain)
    if (error === undefined) return line
    onServerError?.(error)
    return styles === undefined ? line : errorLines(error, styles)
  }
  const shownLine = (line: string): string => {
    const plain = undecorated(line)
    if (plain.startsWith(ERROR_START)) return shownError(line, plain)
    if (line.startsWith(START)) return shownRequest(line)
    return isEcho(line) ? '' : line
  }
  return { filter: () => eachLine(shownLine) }
}

/** Maps whole lines, and passes on the beginning of one that cannot be of the log. */
function eachLine(shownLine: (line: string) => string): (text: string | undefined) => string {
  let open = ''
  let isAtStart = true
  return (text) => {
    if (text === undefined) {
      const rest = open
      open = ''
      return rest
    }
    const lines = (open + text).split(/(?<=\n)/)
    open = ''
    let shown = ''
    for (const line of lines) {
      const isWhole = line.endsWith('\n')
      if (isAtStart && !isWhole && mayBeEntry(line)) open = line
      else shown += isAtStart && isWhole ? shownLine(line) : line
      isAtStart = isWhole || open !== ''
    }
    return shown
  }
}

/** Of a line whose end has not arrived. */
function mayBeEntry(start: string): boolean {
  if (start.length >= MAX_CHARACTERS) return false
  const isBegun = (text: string, whole: string): boolean => text.startsWith(whole) || whole.startsWith(text)
  return isBegun(start, START) || isBegun(undecorated(start), ERROR_START)
}

type Members = { readonly [name: string]: unknown }

/** Undefined for a line that only looks like one. */
function readRequest(line: string): Members | undefined {
  const entry = readEntry(line)
  return typeof entry?.httpMethod === 'string' && typeof entry.status === 'number' ? entry : undefined
}

function requestLine(entry: Members, styles: Styles): string {
  const { time, status, durationMs, httpMethod, path, method, target, code } = entry
  const asked = method === undefined ? [httpMethod, path] : [method, target]
  const failed = Number(status) >= 400 || code !== undefined
  const words = [...asked, ...(code === undefined ? [] : [`error ${String(code)}`])]
  return [
    styles.dim(timeOfDay(String(time))),
    styles[failed ? 'failure' : 'ok'](String(status)),
    ...words.filter((word) => word !== undefined).map((word) => printable(String(word))),
    styles.dim(duration(Number(durationMs))),
  ].join(' ')
}

/** What happened and where, the line of the source, and the calls that led there. */
function errorLines(
  { time, what, message, cause, place, frame, calls }: ServerError,
  styles: Styles,
): string {
  const reason = cause === undefined ? message : `${message}: ${cause}`
  const at = place === undefined ? '' : ` (${place})`
  const first = `${printable(what === '' ? reason : `${what}: ${reason}`)}${printable(at)}`
  const others = calls.filter((call) => place === undefined || !call.includes(place))
  return [
    `${styles.dim(timeOfDay(time))} ${styles.failure('error')} ${first}`,
    ...(frame === undefined ? [] : [frame]),
    ...others.map((call) => styles.dim(`    at ${printable(call)}`)),
    '',
  ].join('\n')
}

/** In the time zone of this machine. */
function timeOfDay(time: string): string {
  const date = new Date(time)
  const parts = [date.getHours(), date.getMinutes(), date.getSeconds()]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}

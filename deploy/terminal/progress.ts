/**
 * One line that says what a command is waiting for, and how far it is. Only on a terminal, after a second: rewritten in place, removed at
 * the end and before anything else is written. See `terminal.hideProgress`.
 */
import { terminal } from './terminal.ts'

/** `what` is shown at once if the line is visible; `howFar` as in `64 of 1200 chunks`. */
export type Show = (what: string, howFar?: string) => void

/** What takes less needs no line. */
const AFTER_MS = 1000
/** At most five writes a second, and none if the text is the same. */
const EVERY_MS = 200

interface Line {
  what: string
  howFar: string | undefined
  /** When `what` began. */
  since: number
}

/** The last one is shown: a part of what the others wait for. */
const running: Line[] = []
let startedAt = 0
let timer: NodeJS.Timeout | undefined

/** Runs `act`, which says what it does with `show`. Writes nothing if stderr is not a terminal. */
export async function withProgress<Value>(act: (show: Show) => Promise<Value>): Promise<Value> {
  if (process.stderr.isTTY !== true || process.env.TERM === 'dumb') return act(() => {})
  const line: Line = { what: '', howFar: undefined, since: performance.now() }
  begin(line)
  try {
    return await act((what, howFar) => {
      if (what !== line.what) line.since = performance.now()
      line.what = what
      line.howFar = howFar
    })
  } finally {
    end(line)
  }
}

function begin(line: Line): void {
  running.push(line)
  if (timer !== undefined) return
  startedAt = line.since
  timer = setInterval(draw, EVERY_MS).unref()
  // A signal may end the process in between.
  process.on('exit', clear)
}

function end(line: Line): void {
  running.splice(running.indexOf(line), 1)
  if (running.length > 0) return
  clearInterval(timer)
  timer = undefined
  process.off('exit', clear)
  clear()
}

function clear(): void {
  terminal.redraw('')
}

function draw(): void {
  const now = performance.now()
  const line = running.findLast(({ what }) => what !== '')
  if (line === undefined || now - startedAt < AFTER_MS) return
  const howFar = line.howFar === undefined ? '' : `: ${line.howFar}`
  const columns = process.stderr.columns || 80
  const text = `${line.what}${howFar} (${Math.floor((now - line.since) / 1000)} s)`
  // A line that wraps cannot be written over.
  terminal.redraw([...text].slice(0, columns - 1).join(''))
}

/** A call while it runs: its time, its progress, and what it reports. */
import { element } from './dom.ts'
import { asObject, asText, clip, type Json, pretty } from './json.ts'
import { durationText } from './measures.ts'

/** The last lines are shown. */
const MAX_LINES = 200
const MAX_LINE = 2000
const TICK_MS = 100
/** A server may send thousands of notifications, so they are drawn together. */
const DRAW_MS = 30

/** Then a call without a sign is one that the user wonders about. */
const SILENT_MS = 10_000
const SILENT =
  'No answer, progress or log message for 10 seconds. The tool may wait for a service that does not answer, or for a promise that never settles. To see how far it comes, call ctx.log in it.'

/** RFC 5424 §6.2.1. */
const BAD_LEVELS = ['error', 'critical', 'alert', 'emergency']

export interface Running {
  /** Each message from the server that belongs to the call. */
  readonly onMessage: (message: Json) => void
  /** True for each question that waits for the user, false once it does not. */
  readonly onAsking: (isOpen: boolean) => void
  /** Stops the clock. Returns the lines, folded; undefined without any. */
  end(): HTMLElement | undefined
}

/** @param say for screen readers. */
export function showRunning(place: HTMLElement, say: (text: string) => void): Running {
  const started = performance.now()
  const state = element('h3', {}, 'Running')
  const elapsed = element('span', { class: 'soft mono' })
  const amount = element('span', { class: 'mono' })
  const bar = element('progress', { 'aria-label': 'Progress' })
  const note = element('p', { class: 'soft' })
  const silence = element('p', { class: 'notice', hidden: '' })
  let heardAt = started
  const lines = element('ol', { class: 'log', 'aria-label': 'What the call reports' })
  const pending: HTMLElement[] = []
  let count = 0
  let drawing: ReturnType<typeof setTimeout> | undefined
  let lastNote = ''
  let open = 0

  const hear = (): void => {
    heardAt = performance.now()
    silence.hidden = true
  }
  const tick = (): void => {
    const now = performance.now()
    elapsed.textContent = `${((now - started) / 1000).toFixed(1)} s`
    if (open > 0) heardAt = now
    if (now - heardAt < SILENT_MS || !silence.hidden) return
    silence.textContent = SILENT
    silence.hidden = false
    say(SILENT)
  }
  const draw = (): void => {
    drawing = undefined
    lines.append(...pending.splice(0))
    while (lines.childElementCount > MAX_LINES) lines.firstElementChild!.remove()
  }
  const add = (text: string, level?: string): void => {
    count++
    const at = `+${durationText(performance.now() - started)}`
    const tone = BAD_LEVELS.includes(level ?? '') ? 'tag bad' : 'tag warn'
    pending.push(
      element(
        'li',
        {},
        element('span', { class: 'soft' }, at),
        ' ',
        level === undefined ? undefined : element('span', { class: tone }, clip(level, 20)),
        ' ',
        clip(text, MAX_LINE),
      ),
    )
    if (pending.length > MAX_LINES) pending.shift()
    drawing ??= setTimeout(draw, DRAW_MS)
  }
  const showProgress = ({ progress, total, message }: Json): void => {
    const done = finite(progress)
    if (done === undefined) return
    const all = finite(total)
    amount.textContent = all === undefined ? `${done} so far` : `${done} of ${all}`
    if (all !== undefined && all > 0) {
      bar.max = all
      bar.value = Math.min(Math.max(done, 0), all)
    }
    const text = asText(message)
    if (text === undefined || text === lastNote) return
    lastNote = text
    note.textContent = clip(text, 300)
    add(text)
  }
  const showLog = ({ level, logger, data }: Json): void => {
    const text = typeof data === 'string' ? data : pretty(data, MAX_LINE)
    const from = asText(logger)
    add(from === undefined ? text : `${clip(from, 100)}: ${text}`, asText(level) ?? 'log')
  }

  tick()
  const clock = setInterval(tick, TICK_MS)
  const top = element('div', { class: 'line' }, state, elapsed, element('span', { class: 'grow' }), amount)
  place.replaceChildren(top, bar, note, silence, lines)
  return {
    onMessage: ({ method, params }) => {
      hear()
      if (method === 'notifications/progress') showProgress(asObject(params))
      if (method === 'notifications/message') showLog(asObject(params))
    },
    onAsking: (isOpen) => {
      open += isOpen ? 1 : -1
      hear()
      if (isOpen) say('The server asks you')
      // Nothing goes on then.
      bar.hidden = open > 0
      state.textContent = open > 0 ? 'The server asks you' : 'Running'
    },
    end: () => {
      clearInterval(clock)
      clearTimeout(drawing)
      draw()
      if (count === 0) return undefined
      const shown = count > MAX_LINES ? `, the last ${MAX_LINES} of ${count} lines` : ''
      const summary = element('summary', {}, `What it reported${shown}`)
      return element('details', { class: 'reported' }, summary, lines)
    },
  }
}

function finite(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

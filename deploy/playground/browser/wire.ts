/** The log of messages, newest first. */
import { type Draft, toCurl } from './call-text.ts'
import { copyButton } from './copy-button.ts'
import { button, code, details, element } from './dom.ts'
import type { Exchange } from './exchange.ts'
import { asObject, clip, indented, type Json, pretty } from './json.ts'
import { durationText, sizeText } from './measures.ts'
import { toHar } from './wire-file.ts'

const MAX_KEPT = 50
/** Events of one exchange; the last ones are shown. */
const MAX_EVENTS_SHOWN = 200
/** A server may send thousands of events, so the page is updated once per frame, and in the background too. */
const DRAW_MS = 30

export interface WirePlaces {
  readonly list: HTMLElement
  /** Says how many there are. */
  readonly count: HTMLElement
  /** Gets buttons. */
  readonly actions: HTMLElement
}

export interface WireOptions {
  /** The URL of the MCP endpoint, as other clients use it. */
  readonly endpoint: () => string
  /** Strings that a saved file must not have. */
  readonly secrets: () => readonly string[]
  /** For screen readers. */
  readonly say: (text: string) => void
}

export interface WireLog {
  /** To be called after each change of an exchange. */
  readonly add: (exchange: Exchange) => void
  clear(): void
}

export function createWireLog({ list, count, actions }: WirePlaces, options: WireOptions): WireLog {
  const shown = new Map<Exchange, Shown>()
  const due = new Set<Exchange>()
  let isWaiting = false
  const save = (): void => {
    const file = toHar([...shown.keys()], options.endpoint(), options.secrets())
    download('mayfly-wire.har', file)
    options.say(`Saved ${shown.size} exchanges as mayfly-wire.har`)
  }
  const saveButton = button('Export', save, { title: 'As a HAR file' })
  actions.prepend(saveButton)
  const drawAll = (): void => {
    isWaiting = false
    const longest = Math.max(...[...shown.keys()].map(({ totalMs = 0 }) => totalMs))
    for (const exchange of due) draw(exchange, shown.get(exchange))
    for (const [{ totalMs = 0 }, { bar }] of shown)
      bar.style.setProperty('inline-size', `${longest > 0 ? (100 * totalMs) / longest : 0}%`)
    due.clear()
    const ended = shown.size === 1 ? 'exchange' : 'exchanges'
    count.textContent = shown.size === 0 ? '' : `${shown.size} ${ended}`
    saveButton.disabled = shown.size === 0
  }
  drawAll()
  return {
    add: (exchange) => {
      if (!shown.has(exchange)) {
        const item = createShown(exchange, options)
        shown.set(exchange, item)
        draw(exchange, item)
        list.prepend(item.node)
        const [oldest] = shown.keys()
        if (shown.size > MAX_KEPT && oldest !== undefined) {
          shown.get(oldest)?.node.remove()
          shown.delete(oldest)
        }
      }
      due.add(exchange)
      if (!isWaiting) setTimeout(drawAll, DRAW_MS)
      isWaiting = true
    },
    clear: () => {
      shown.clear()
      list.replaceChildren()
      drawAll()
    },
  }
}

interface Shown {
  readonly node: HTMLLIElement
  readonly summary: HTMLElement
  /** As long as the exchange took, compared with the others. */
  readonly bar: HTMLElement
  readonly response: HTMLElement
  readonly events: HTMLOListElement
  eventsDrawn: number
}

function createShown(exchange: Exchange, { endpoint, say }: WireOptions): Shown {
  const response = element('div')
  const events = element('ol', { class: 'events' })
  const headers = Object.entries(exchange.requestHeaders)
  const draft = (): Draft => ({
    url: endpoint(),
    headers: exchange.requestHeaders,
    body: exchange.requestBody as Json,
  })
  const panel = details(
    '',
    element(
      'div',
      { class: 'line' },
      element('h3', {}, 'Request'),
      element('span', { class: 'grow' }),
      copyButton('Copy as curl', () => toCurl(draft()), say),
    ),
    code(`${exchange.method} ${exchange.url}\n${lines(headers)}`, 'Request headers'),
    code(pretty(exchange.requestBody), 'Request body'),
    element('h3', {}, 'Response'),
    response,
    events,
  )
  const summary = panel.querySelector('summary')!
  const bar = element('div', { class: 'took' })
  return { node: element('li', {}, panel, bar), summary, bar, response, events, eventsDrawn: 0 }
}

const OUTCOMES = {
  failed: ['failed', 'tag bad'],
  asks: ['asks', 'tag warn'],
  task: ['task', 'tag'],
  cancelled: ['cancelled here', 'tag warn'],
} as const

function draw(exchange: Exchange, shown: Shown | undefined): void {
  if (shown === undefined) return
  const { status, headersMs, totalMs, responseHeaders, events, body, bytes, outcome, problem } = exchange
  const timing = totalMs === undefined ? 'running …' : durationText(totalMs)
  const count = events.length === 0 ? undefined : events.length === 1 ? '1 event' : `${events.length} events`
  const hasFailed = outcome === 'failed' || (status ?? 0) >= 400
  const [word, tone] = OUTCOMES[hasFailed ? 'failed' : (outcome ?? 'task')]
  const size = totalMs === undefined || bytes === 0 ? undefined : sizeText(bytes)
  const why = outcome === 'cancelled' ? undefined : problem && clip(problem, 100)
  const { inputResponses } = asObject(asObject(exchange.requestBody).params)
  const answers = inputResponses === undefined ? undefined : 'with the answer'
  const facts = [answers, status, count, size, timing, why].filter(Boolean).join(' · ')
  shown.summary.replaceChildren(
    element('code', {}, clip(exchange.label, 200)),
    ...(hasFailed || outcome !== undefined ? [' ', element('span', { class: tone }, word)] : []),
    element('span', { class: 'soft facts' }, ` ${facts}`),
  )
  shown.node.classList.toggle('bad', hasFailed)
  shown.response.replaceChildren(
    ...[
      status === undefined
        ? undefined
        : code(
            `${status}, after ${headersMs?.toFixed(0)} ms\n${lines(responseHeaders ?? [])}`,
            'Response headers',
          ),
      body === undefined || body === '' ? undefined : code(bodyText(body), 'Response body'),
      problem === undefined ? undefined : element('p', { class: 'bad' }, problem),
    ].filter((node) => node !== undefined),
  )
  // Those that would be removed at once are not drawn.
  shown.eventsDrawn = Math.max(shown.eventsDrawn, events.length - MAX_EVENTS_SHOWN)
  for (; shown.eventsDrawn < events.length; shown.eventsDrawn++) {
    const { atMs, data } = events[shown.eventsDrawn]!
    const label = `Event ${shown.eventsDrawn + 1}`
    shown.events.append(
      element('li', {}, element('small', {}, `+${atMs.toFixed(0)} ms`), code(bodyText(data), label)),
    )
    if (shown.events.childElementCount > MAX_EVENTS_SHOWN) shown.events.firstElementChild?.remove()
  }
}

function lines(headers: readonly (readonly [string, string])[]): string {
  return headers.map(([name, value]) => `${name}: ${value}`).join('\n')
}

function bodyText(text: string): string {
  return indented(text) ?? clip(text)
}

function download(name: string, text: string): void {
  const href = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  element('a', { href, download: name }).click()
  // The download has begun by then.
  setTimeout(() => URL.revokeObjectURL(href), 10_000)
}

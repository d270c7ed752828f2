/** The log of messages, newest first. */
import { code, details, element } from './dom.ts'
import type { Exchange } from './exchange.ts'
import { clip, parse, pretty } from './json.ts'

const MAX_KEPT = 50
/** Events of one exchange; the last ones are shown. */
const MAX_EVENTS_SHOWN = 200

/** Returns a function to call after each change of an exchange. */
export function createWireLog(place: HTMLElement): (exchange: Exchange) => void {
  const shown = new Map<Exchange, Shown>()
  const due = new Set<Exchange>()
  let isWaiting = false
  const drawAll = (): void => {
    isWaiting = false
    for (const exchange of due) draw(exchange, shown.get(exchange))
    due.clear()
  }
  return (exchange) => {
    if (!shown.has(exchange)) {
      const item = createShown(exchange)
      shown.set(exchange, item)
      draw(exchange, item)
      place.prepend(item.node)
      const [oldest] = shown.keys()
      if (shown.size > MAX_KEPT && oldest !== undefined) {
        shown.get(oldest)?.node.remove()
        shown.delete(oldest)
      }
    }
    due.add(exchange)
    // A server may send thousands of events, so the page is updated once per frame, and in the background too.
    if (!isWaiting) setTimeout(drawAll, 30)
    isWaiting = true
  }
}

interface Shown {
  readonly node: HTMLLIElement
  readonly summary: HTMLElement
  readonly response: HTMLElement
  readonly events: HTMLOListElement
  eventsDrawn: number
}

function createShown(exchange: Exchange): Shown {
  const response = element('div')
  const events = element('ol', { class: 'events' })
  const headers = Object.entries(exchange.requestHeaders)
  const panel = details(
    '',
    element('h3', {}, 'Request'),
    code(`${exchange.method} ${exchange.url}\n${lines(headers)}`, 'Request headers'),
    code(pretty(exchange.requestBody), 'Request body'),
    element('h3', {}, 'Response'),
    response,
    events,
  )
  const summary = panel.querySelector('summary')!
  return { node: element('li', {}, panel), summary, response, events, eventsDrawn: 0 }
}

function draw(exchange: Exchange, shown: Shown | undefined): void {
  if (shown === undefined) return
  const { status, headersMs, totalMs, responseHeaders, events, body, problem } = exchange
  const timing = totalMs === undefined ? 'running …' : `${totalMs.toFixed(0)} ms`
  const count = events.length === 0 ? undefined : events.length === 1 ? '1 event' : `${events.length} events`
  shown.summary.replaceChildren(
    element('code', {}, clip(exchange.label, 200)),
    [' ', [status, count, timing, problem && clip(problem, 100)].filter(Boolean).join(' · ')].join(''),
  )
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
  if (text.length > 200_000) return clip(text)
  const value = parse(text)
  return value === undefined ? clip(text) : pretty(value)
}

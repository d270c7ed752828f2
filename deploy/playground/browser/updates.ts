/** Change notifications (`subscriptions/listen`, MCP 2026-07-28, "Subscriptions"), which the user turns on. */
import type { Client } from './client.ts'
import { button, element } from './dom.ts'
import { asList, asObject, asText, type Json, reasonOf } from './json.ts'

export interface Heard {
  /** How often the resource was updated. */
  readonly count: number
  /** When it was updated last, in milliseconds since the epoch. */
  readonly at: number
}

export interface UpdateHooks {
  /** Called for resources that were updated, at most ten times a second. */
  readonly onUpdated: (uris: readonly string[]) => void
  /** A list has changed. Called at most once a second. */
  readonly onListChanged: () => void
  /** For screen readers. */
  readonly say: (text: string) => void
}

export interface Updates {
  /** The switch. Hidden where the server notifies of nothing. */
  readonly node: HTMLElement
  /** Listens to another connection, or to other resources, if the switch is on. Without a client it stops. */
  follow(client: Client | undefined, described?: Json, uris?: readonly string[]): void
  heard(uri: string): Heard | undefined
}

/** Of one stream, below what servers of Mayfly accept. */
const MAX_URIS = 500
const MAX_CHARACTERS = 50_000
const LISTS = ['tools', 'prompts', 'resources'] as const
const DRAW_MS = 100
const LIST_MS = 1000
/** A stream that ends sooner has failed. */
const GOOD_STREAM_MS = 5000
const MAX_FAILURES = 4
const PAUSE_MS = 500

export function createUpdates({ onUpdated, onListChanged, say }: UpdateHooks): Updates {
  const heard = new Map<string, Heard>()
  const status = element('span', { class: 'soft' })
  const toggle = button('Listen for changes', () => turn(!isOn), { 'aria-pressed': 'false' })
  const node = element('div', { class: 'listening', hidden: '' }, toggle, status)
  let isOn = false
  let client: Client | undefined
  let filter: Json = {}
  let wanted = new Set<string>()
  let listening = new AbortController()
  const due = new Set<string>()
  const drawSoon = throttle(DRAW_MS, () => {
    const uris = [...due]
    due.clear()
    onUpdated(uris)
    if (uris.length > 0) say(`${uris.length === 1 ? uris[0] : `${uris.length} resources`} updated`)
  })
  const listSoon = throttle(LIST_MS, onListChanged)

  const take = ({ method, params }: Json): void => {
    const { uri, notifications } = asObject(params)
    if (method === 'notifications/subscriptions/acknowledged')
      status.textContent = describe(asObject(notifications))
    else if (LISTS.some((list) => method === `notifications/${list}/list_changed`)) listSoon()
    else if (method === 'notifications/resources/updated' && typeof uri === 'string' && wanted.has(uri)) {
      heard.set(uri, { count: (heard.get(uri)?.count ?? 0) + 1, at: Date.now() })
      due.add(uri)
      drawSoon()
    }
  }
  const listen = async (): Promise<void> => {
    const { signal } = listening
    for (let failures = 0; ; ) {
      const started = Date.now()
      let problem: unknown
      try {
        await client!.listen(filter, signal, take)
      } catch (error) {
        problem = error
      }
      if (signal.aborted) return
      failures = Date.now() - started < GOOD_STREAM_MS ? failures + 1 : 0
      status.textContent = problem === undefined ? 'The server ended the stream' : reasonOf(problem)
      if (failures >= MAX_FAILURES) return show(false)
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * 2 ** failures))
      if (signal.aborted) return
    }
  }
  const show = (now: boolean): void => {
    isOn = now
    toggle.setAttribute('aria-pressed', String(now))
    toggle.textContent = now ? 'Stop listening' : 'Listen for changes'
  }
  const turn = (now: boolean): void => {
    listening.abort(new Error('no longer listening'))
    listening = new AbortController()
    status.textContent = ''
    show(now)
    if (now) void listen()
  }

  return {
    node,
    heard: (uri) => heard.get(uri),
    follow: (next, described = {}, uris = []) => {
      const before = JSON.stringify(filter)
      const isSame = next === client
      client = next
      filter = filterOf(described, uris)
      wanted = new Set(asList(filter.resourceSubscriptions).map(String))
      // Its rows are gone.
      for (const uri of heard.keys()) if (!wanted.has(uri)) heard.delete(uri)
      const isOffered = client?.settings.era === 'modern' && Object.keys(filter).length > 0
      node.hidden = !isOffered
      if (isSame && JSON.stringify(filter) === before) return
      if (isOn) turn(isOffered)
    },
  }
}

/** What the server says that it notifies of. */
function filterOf(described: Json, uris: readonly string[]): Json {
  const capabilities = asObject(described.capabilities)
  const lists = LISTS.filter((list) => asObject(capabilities[list]).listChanged === true)
  let left = MAX_CHARACTERS
  const named = [...new Set(uris)].slice(0, MAX_URIS).filter((uri) => {
    left -= uri.length
    return left >= 0
  })
  const canSubscribe = asObject(capabilities.resources).subscribe === true && named.length > 0
  return {
    ...Object.fromEntries(lists.map((list) => [`${list}ListChanged`, true])),
    ...(canSubscribe && { resourceSubscriptions: named }),
  }
}

function describe(honoured: Json): string {
  const names = LISTS.filter((list) => honoured[`${list}ListChanged`] === true)
  const lists = names.length === 0 ? [] : [`the lists of ${names.join(', ')}`]
  const count = asList(honoured.resourceSubscriptions).filter((uri) => asText(uri) !== undefined).length
  const resources = count === 0 ? [] : [count === 1 ? '1 resource' : `${count} resources`]
  const all = [...lists, ...resources]
  return all.length === 0 ? 'The server notifies this client of nothing' : `Listening: ${all.join(' and ')}`
}

/** Such as `updated 2 times, last 15:04:05`, for the side of a resource. */
export function heardText({ count, at }: Heard): string {
  const time = new Date(at).toLocaleTimeString('en-GB')
  return count === 1 ? `updated ${time}` : `updated ${count} times, last ${time}`
}

/** Runs `action` after `ms`, once for all calls until then. */
function throttle(ms: number, action: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  return () => {
    if (timer !== undefined) return
    timer = setTimeout(() => {
      timer = undefined
      action()
    }, ms)
  }
}

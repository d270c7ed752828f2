/** Learns from `mayfly dev` what became of a change of the code. */
import { createEventReader, type ServerEvent } from '../../../src/protocol/event-stream.ts'
import { asList, parse } from './json.ts'
import { type Local, openReloads } from './local.ts'

const FIRST_PAUSE_MS = 1000
const MAX_PAUSE_MS = 30_000

export interface Changes {
  /** Called when a server with changed code answers. */
  readonly onReload: () => void
  /** Called with why the last change is not served, and with nothing once that is over. */
  readonly onRefused: (reasons: readonly string[]) => void
}

/** A hidden page does not listen, since a browser has few connections for all of its tabs; it catches up when it is shown. */
export function followReloads(local: Local, { onReload, onRefused }: Changes): void {
  if (local.reloads === undefined) return
  let known = local.reloads
  let pauseMs = FIRST_PAUSE_MS
  let timer: ReturnType<typeof setTimeout> | undefined
  let listening = new AbortController()
  const take = ({ type, data }: ServerEvent): void => {
    pauseMs = FIRST_PAUSE_MS
    // After a count, what is refused follows.
    onRefused(type === 'refused' ? asList(parse(data)).map(String) : [])
    if (type !== '') return
    const count = Number(data)
    if (count === known || !Number.isInteger(count)) return
    known = count
    onReload()
  }
  const listen = async (): Promise<void> => {
    const { signal } = listening
    try {
      const response = await openReloads(local, signal)
      // Another process answers, which does not know this page.
      if (response.status === 403 || response.status === 404) return
      const read = createEventReader(take)
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) read(piece.value)
    } catch {
      // Tried again below.
    }
    if (signal.aborted) return
    timer = setTimeout(() => void listen(), pauseMs)
    pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)
  }
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer)
    listening.abort()
    listening = new AbortController()
    if (!document.hidden) void listen()
  })
  if (!document.hidden) void listen()
}

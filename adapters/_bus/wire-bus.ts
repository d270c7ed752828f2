/**
 * A bus over any broadcast of strings between processes, shared by Redis, Postgres and NATS. The wire reconnects by itself. The bus
 * notifies its listeners of this, reports each outage once, and drops foreign messages.
 */

import { withTimeout } from '../../src/definition/timeout.ts'
import {
  add,
  type Bus,
  type ChangeEvent,
  checkEventSize,
  deliver,
  isChangeEvent,
  MAX_EVENT_BYTES,
} from '../../src/events/bus.ts'
import type { OutageOptions, Report } from '../../src/events/outage.ts'
import { type Ask, createAsk } from './ask.ts'
import type { Outages } from './outages.ts'
import type { OwnedName } from './owned-name.ts'

export interface Wire {
  /** Sends a string to every process. Rejects or never settles while disconnected. */
  send(text: string): unknown
  /** Connects, and reconnects after each loss, until the returned function is called. Never throws. */
  receive(events: WireEvents): () => void
}

export interface WireEvents {
  onText(text: string): void
  /** Called when messages start to arrive: initially, and after each lost connection. */
  onReady(): void
  /** Called when messages do not arrive, or not yet. */
  onLost(error: unknown): void
}

export interface WireBusOptions extends OutageOptions {
  /** The server's name, for errors. */
  readonly name: string
  readonly report: Report
  readonly outages: Outages
  /** Of its channel. */
  readonly channel: OwnedName
  /** The limit for the first contact, for a client that connects with it. Default `timeoutMs`. */
  readonly firstMs?: number
}

/** Maximum characters of a message that is read: a transport may send each byte as an escape of six characters. */
const MAX_CHARACTERS = MAX_EVENT_BYTES * 6

/** @param open Called with the name of the channel, which is known when the bus is first used. */
export function createWireBus(open: (channel: string) => Wire, options: WireBusOptions): Bus {
  const { name, report, outages, channel, timeoutMs = 2000, firstMs = timeoutMs } = options
  const ask: Ask = createAsk(options, name, firstMs === undefined ? {} : { firstMs })
  const listeners = new Set<(event: ChangeEvent) => void>()
  const onText = createReader((event) => deliver(event, listeners), name, report)
  let receiver: Receiver | undefined
  let opened: Wire | undefined
  const toWire = (): Wire => {
    opened ??= open(channel.get())
    return opened
  }
  return {
    attach: channel.attach,
    async publish(event) {
      const wire = toWire()
      const text = checkEventSize(event)
      const startedAt = Date.now()
      try {
        await ask(() => wire.send(text))
      } catch (error) {
        outages.begin('send', error, startedAt)
        throw error
      }
      outages.end('send')
      if (receiver === undefined) outages.end('receive')
    },
    async subscribe(listener) {
      const wire = toWire()
      const remove = add(listener, listeners)
      const leave = (): void => {
        remove()
        if (listeners.size > 0) return
        receiver?.stop()
        receiver = undefined
      }
      receiver ??= startReceiver(wire, onText, () => deliver({ type: 'gap' }, listeners), outages)
      try {
        await withTimeout(receiver.ready, firstMs, `${name} server`)
      } catch (error) {
        outages.begin('receive', error)
        leave()
        throw error
      }
      return leave
    },
  }
}

interface Receiver {
  /** Settles when the first attempt to connect has succeeded or failed. */
  readonly ready: Promise<void>
  stop(): void
}

function startReceiver(
  wire: Wire,
  onText: (text: string) => void,
  onGap: () => void,
  outages: Outages,
): Receiver {
  let wasReady = false
  let isOver = false
  let stop: (() => void) | undefined
  const ready = new Promise<void>((resolve, reject) => {
    stop = wire.receive({
      onText: (text) => isOver || onText(text),
      onReady() {
        if (isOver) return
        outages.end('receive')
        if (wasReady) onGap()
        wasReady = true
        resolve()
      },
      onLost(error) {
        if (isOver) return
        outages.begin('receive', error)
        reject(error)
      },
    })
  })
  ready.catch(() => {})
  return {
    ready,
    stop() {
      isOver = true
      stop?.()
    },
  }
}

/** Parses messages as change events. Others are dropped and reported once, so that a flood on the channel does not flood the log. */
function createReader(
  onEvent: (event: ChangeEvent) => void,
  name: string,
  report: Report,
): (text: string) => void {
  let hasReported = false
  return (text) => {
    const event = text.length > MAX_CHARACTERS ? undefined : parse(text)
    if (isChangeEvent(event)) return onEvent(event)
    if (!hasReported)
      report(
        new TypeError(`${name} delivers messages on the channel for changes that are not change events.`),
      )
    hasReported = true
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

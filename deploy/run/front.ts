/**
 * The port of `mayfly dev`: forwards connections to the newest server, so that no connection is refused
 * while a server is replaced. Forwards bytes without reading them.
 */

import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { listenOn } from './port.ts'

export interface Front {
  readonly port: number
  /** From now on connections go to this port of 127.0.0.1, waiting ones first. */
  passTo(port: number): void
  /** Resolves when every forwarded connection has started to receive its answer, or after a second. The server may then be stopped. */
  answered(): Promise<void>
  /** From now on connections wait, each for 10 seconds (`maxWaitMs`) at most. This is the initial state. */
  hold(): void
  /** From now on connections are closed, including waiting ones: no server runs, and none is starting. */
  refuse(): void
  /** Stops accepting, closes waiting connections, and resolves after `drained` has and the others are closed. */
  close(drained: Promise<unknown>): Promise<void>
}

const MAX_WAIT_MS = 10_000
const ANSWER_MS = 1000
const POLL_MS = 10

/** Listens on this port of 127.0.0.1, or on a free one for 0. Rejects with `CliError` if it is in use. */
export async function startFront(port: number, maxWaitMs: number = MAX_WAIT_MS): Promise<Front> {
  const open = new Set<Socket>()
  const unanswered = new Set<Socket>()
  const waiting = new Map<Socket, NodeJS.Timeout>()
  let route: number | 'hold' | 'refuse' = 'hold'

  /** Forwards the end of each side separately. If one side fails, the other is closed too. */
  const forward = (client: Socket, to: number): void => {
    const server = connect({ port: to, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    keep(server, open)
    unanswered.add(client)
    client.on('data', () => unanswered.add(client))
    server.on('data', () => unanswered.delete(client))
    client.once('close', () => {
      unanswered.delete(client)
      server.destroy()
    })
    // Without an error, its end was already forwarded after its data.
    server.once('close', (hadError) => hadError && client.destroy())
    client.pipe(server)
    server.pipe(client)
  }
  const accept = (socket: Socket): void => {
    keep(socket, open)
    if (route === 'refuse') socket.destroy()
    else if (route === 'hold') wait(socket)
    else forward(socket, route)
  }
  const wait = (socket: Socket): void => {
    waiting.set(
      socket,
      setTimeout(() => socket.destroy(), maxWaitMs),
    )
    socket.once('close', () => leave(socket))
  }
  const leave = (socket: Socket): void => {
    clearTimeout(waiting.get(socket))
    waiting.delete(socket)
  }
  const turn = (next: typeof route): void => {
    route = next
    if (next === 'hold') return
    for (const socket of waiting.keys()) {
      leave(socket)
      if (next === 'refuse') socket.destroy()
      else forward(socket, next)
    }
  }

  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, accept)
  return {
    port: await listenOn(server, port),
    passTo: turn,
    answered: async () => {
      const asked = [...unanswered]
      const deadline = Date.now() + ANSWER_MS
      while (asked.some((socket) => unanswered.has(socket)) && Date.now() < deadline) await delay(POLL_MS)
    },
    hold: () => turn('hold'),
    refuse: () => turn('refuse'),
    close: async (drained) => {
      const closed = new Promise((resolve) => server.close(resolve))
      turn('refuse')
      await drained
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}

function keep(socket: Socket, open: Set<Socket>): void {
  open.add(socket)
  socket.once('close', () => open.delete(socket))
  // 'close' follows.
  socket.on('error', () => {})
}

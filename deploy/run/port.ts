/** Ports of 127.0.0.1: one that is in use is reported in one line instead of a platform's stack trace. */

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { memberOf } from '../../src/definition/error-text.ts'
import { CliError } from '../terminal/cli-error.ts'

const LISTEN_TIMEOUT_MS = 60_000
const POLL_MS = 20

/**
 * Below the ephemeral ports (RFC 6335 §6; Linux begins at 32 768), so that the kernel does not give the port to another program before the
 * platform listens.
 */
const FIRST_FREE = 20_000
const FREE_PORTS = 12_000
const TRIES = 20

/** Ports that this process has chosen. Another part of it, or a process that it starts, may not listen yet. */
const chosen = new Set<number>()

/**
 * The same port if it is free on 127.0.0.1, or a free one for 0: for a process that listens later, so another program may take it before.
 * Throws `CliError` if it is in use.
 */
export async function freePort(port: number): Promise<number> {
  const server = createServer()
  const free = await listenOn(server, port)
  await once(server.close(), 'close')
  return free
}

/** Listens on this port of 127.0.0.1, or on a free one for 0, and returns it. Throws `CliError` if it is in use. */
export async function listenOn(server: Server, port: number): Promise<number> {
  if (port !== 0) return listen(server, port)
  for (let tries = 0; tries < TRIES; tries++) {
    const candidate = FIRST_FREE + Math.floor(Math.random() * FREE_PORTS)
    if (chosen.has(candidate)) continue
    const found = await listen(server, candidate).catch(() => 0)
    if (found !== 0) return found
  }
  return listen(server, 0)
}

async function listen(server: Server, port: number): Promise<number> {
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
  } catch (error) {
    const code = memberOf(error, 'code')
    if (code === 'EADDRINUSE')
      throw new CliError(`port ${port} is in use: stop the program that uses it, or pass another --port`)
    throw new CliError(`cannot listen on port ${port} (${code}): pass another --port`)
  }
  const { port: found } = server.address() as AddressInfo
  chosen.add(found)
  return found
}

/**
 * Resolves when something accepts connections on this port of 127.0.0.1. Rejects with `CliError` after 60 seconds, or when `signal` aborts.
 */
export async function untilListening(port: number, signal?: AbortSignal): Promise<void> {
  const deadline = Date.now() + LISTEN_TIMEOUT_MS
  while (!(await isListening(port))) {
    if (Date.now() > deadline)
      throw new CliError('the server does not accept connections: see its output above')
    await delay(POLL_MS, undefined, { signal })
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

/** A way to a server that can be cut, or go silent as a broken network does, while the server keeps what it has. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Outage } from './_tasks.ts'

export interface Proxy {
  readonly port: number
  /** Connections are closed, and new ones refused. */
  readonly cut: Outage
  /** Bytes arrive nowhere, and nobody is told. */
  readonly silent: Outage
  /** What is asked arrives, and what is answered does not. */
  readonly mute: Outage
  stop(): void
}

export async function startProxy(target: number): Promise<Proxy> {
  const sockets = new Set<Socket>()
  let isCut = false
  let isSilent = false
  let isMute = false
  const drop = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const server = createServer((near) => {
    if (isCut) return near.destroy()
    const far = connect(target, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => isSilent || (isMute && from === far) || to.write(bytes))
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    cut: {
      begin() {
        isCut = true
        drop()
      },
      end() {
        isCut = false
      },
    },
    silent: {
      begin() {
        isSilent = true
      },
      // What was swallowed cannot be made up for: such connections end.
      end() {
        isSilent = false
        drop()
      },
    },
    mute: {
      begin() {
        isMute = true
      },
      end() {
        isMute = false
        drop()
      },
    },
    stop() {
      server.close()
      drop()
    },
  }
}

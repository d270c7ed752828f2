/** Whose process is at the other end of a connection on this machine. */
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'

/**
 * Whether it belongs to this user. Only Linux tells: true on other systems, and where `/proc/net/tcp` cannot be read. Only for connections
 * to 127.0.0.1.
 */
export function isOwnPeer({ localPort, remotePort }: Socket): boolean {
  const table = readTable()
  if (table === undefined) return true
  const ends = [remotePort, localPort].map((port) => `0100007F:${hex(port)}`).join(' ')
  // `sl local_address rem_address st tx:rx tr:when retrnsmt uid …`, addresses in the byte order of the machine.
  const row = table.find((line) => line.trim().split(/\s+/).slice(1, 3).join(' ') === ends)
  return row !== undefined && Number(row.trim().split(/\s+/)[7]) === process.geteuid?.()
}

function readTable(): string[] | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    return readFileSync('/proc/net/tcp', 'utf8').split('\n')
  } catch {
    return undefined
  }
}

function hex(port = 0): string {
  return port.toString(16).toUpperCase().padStart(4, '0')
}

/** What `req.socket` and `res.socket` are where no code may have the connection: its addresses, and whether it is open. */
import { FetchOutgoingMessage } from 'fetch-to-node'
import { override } from './pinned.ts'

/** The used members of Node's `Writable`, which edge platforms do not have. */
export interface NodeSocket {
  readonly destroyed: boolean
  destroy(error?: Error): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  once(event: 'close', listener: () => void): unknown
}

type Writable = new (options: {
  write(chunk: unknown, encoding: unknown, done: (error: Error) => void): void
}) => NodeSocket

/** `address` is that of the client, if the platform reports it. */
export function createNodeSocket(address: string | undefined, isEncrypted: boolean): NodeSocket {
  const Writable = Object.getPrototypeOf(FetchOutgoingMessage) as Writable
  const socket = new Writable({
    write(_chunk, _encoding, done) {
      done(
        new Error(
          'The handler wrote to its socket, which fromNode does not have: only responses are passed on. WebSockets and other upgrades need a server of their own.',
        ),
      )
    },
  })
  const same = (): NodeSocket => socket
  override(socket, {
    remoteAddress: address,
    remoteFamily: address === undefined ? undefined : address.includes(':') ? 'IPv6' : 'IPv4',
    encrypted: isEncrypted,
    readable: true,
    connecting: false,
    bytesRead: 0,
    bytesWritten: 0,
    address: () => ({}),
    // The limits of the call end it.
    setTimeout: same,
    setKeepAlive: same,
    setNoDelay: same,
    ref: same,
    unref: same,
    pause: same,
    resume: same,
  })
  socket.once('close', () => override(socket, { readable: false }))
  return socket
}

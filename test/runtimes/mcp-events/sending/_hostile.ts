/** Endpoints that answer slowly, wrongly or without end, and a server that stands for a private network: nobody may reach it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, createServer as createSocketServer, type Server } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { CERTIFICATE } from '../../../cli/_certificate.ts'

export interface Received {
  readonly method: string
  readonly path: string
  readonly host: string
  readonly body: string
}

export interface Hostile {
  readonly port: number
  /** Answers what is no HTTP. */
  readonly wrongPort: number
  /** With a certificate for 127.0.0.1 alone, signed by itself. */
  readonly securePort: number
  /** Nobody listens there. */
  readonly closedPort: number
  readonly received: Received[]
  /** Requests that came to the private network. */
  readonly inner: string[]
  /** Bytes of endless bodies that clients have taken. */
  readonly taken: () => number
  stop(): void
}

const CHUNK = Buffer.alloc(65_536, 'x')
/** 1 GB. */
const CHUNKS = 16_384
/** 32 MB of which a few KB are sent. */
const BOMB = gzipSync(Buffer.alloc(33_554_432))

async function listen(server: Server): Promise<number> {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return (server.address() as AddressInfo).port
}

export async function startHostile(): Promise<Hostile> {
  const received: Received[] = []
  const inner: string[] = []
  let taken = 0

  const flood = (response: ServerResponse): void => {
    let sent = 0
    const more = (): void => {
      while (sent < CHUNKS && !response.destroyed) {
        sent++
        taken += CHUNK.length
        if (!response.write(CHUNK)) return void response.once('drain', more)
      }
      response.end()
    }
    more()
  }
  const innerServer = createServer(({ url = '' }, response) => {
    inner.push(url)
    response.end('secret of the network')
  })
  const innerPort = await listen(innerServer)
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url: path = '', headers } = request
    const body = await text(request).catch(() => '')
    received.push({ method, path, host: headers.host ?? '', body })
    switch (path) {
      case '/echo':
        return void response.end(body)
      case '/gone':
        return void response.writeHead(410).end('never mind')
      case '/busy':
        return void response.writeHead(429, { 'retry-after': '7' }).end()
      case '/slow':
        return
      case '/drip': {
        response.writeHead(200).write('{')
        const timer = setInterval(() => response.write(' '), 50)
        return void response.once('close', () => clearInterval(timer))
      }
      case '/1-gb':
        response.writeHead(200, { 'content-length': String(CHUNK.length * CHUNKS) })
        return flood(response)
      case '/endless':
        response.writeHead(200)
        return flood(response)
      case '/bomb':
        return void response.writeHead(200, { 'content-encoding': 'gzip' }).end(BOMB)
      case '/encodings':
        return void response.writeHead(200, { 'content-encoding': 'gzip,gzip,gzip,gzip,gzip,gzip' }).end('x')
      case '/broken':
        response.writeHead(200, { 'content-length': '100' }).write('a part')
        return void setTimeout(() => response.destroy(), 20)
      case '/cut':
        return void request.socket.destroy()
      case '/switch':
        request.socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')
        return
      case '/headers':
        return void request.socket.write(
          `HTTP/1.1 200 OK\r\n${`x: ${'y'.repeat(1000)}\r\n`.repeat(1000)}\r\n`,
        )
      default: {
        const [, status = '200'] = /^\/redirect\/(\d+)$/.exec(path) ?? []
        response.writeHead(Number(status), { location: `http://127.0.0.1:${innerPort}/secret` }).end()
      }
    }
  }
  const server = createServer((request, response) => void answer(request, response))
  const secure = createSecureServer(CERTIFICATE, (request, response) => void answer(request, response))
  const wrong = createSocketServer((socket) => {
    socket.on('error', () => {}).end('220 mail.example ESMTP\r\n')
  })
  const closed = createSocketServer()
  const closedPort = await listen(closed)
  await new Promise((done) => closed.close(done))
  return {
    port: await listen(server),
    wrongPort: await listen(wrong),
    securePort: await listen(secure),
    closedPort,
    received,
    inner,
    taken: () => taken,
    stop() {
      // Not waited for: an endpoint may hold connections that their clients have left.
      for (const one of [server, secure, innerServer, wrong]) one.close().unref()
      for (const one of [server, secure, innerServer]) one.closeAllConnections()
    },
  }
}

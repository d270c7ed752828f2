/** The port of `mayfly dev`: what becomes of connections while a server is replaced. */
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, test, vi } from 'vitest'
import { type Front, startFront } from '../../deploy/run/front.ts'

async function backend(name: string): Promise<AsyncDisposable & { port: number; aborted: Promise<unknown> }> {
  let abort = (_value: unknown): void => {}
  const aborted = new Promise((resolve) => {
    abort = resolve
  })
  const server = createServer((incoming, outgoing) => {
    outgoing.once('close', () => outgoing.writableFinished || abort(undefined))
    if (incoming.url === '/stream') outgoing.write(`${name} begins`)
    else if (incoming.url === '/large') outgoing.end(Buffer.alloc(4_000_000, name))
    else outgoing.end(name)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    aborted,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function front(maxWaitMs?: number): Promise<Front & AsyncDisposable & { url: string }> {
  const started = await startFront(0, maxWaitMs)
  return {
    ...started,
    url: `http://127.0.0.1:${started.port}`,
    [Symbol.asyncDispose]: () => started.close(Promise.resolve()),
  }
}

const get = async (url: string): Promise<string> =>
  (await fetch(url, { headers: { connection: 'close' } })).text()

/** One that `mayfly dev` may draw, with a listener that it knows nothing of. */
async function takenPort(from = 20_000): Promise<{ port: number; close(): void }> {
  const server = createServer()
  try {
    await once(server.listen(from, '127.0.0.1'), 'listening')
    return { port: from, close: () => void server.close() }
  } catch {
    return takenPort(from + 1)
  }
}

describe('the port of mayfly dev', () => {
  test('a connection before there is a server waits for it', async () => {
    await using shown = await front()
    await using first = await backend('first')
    const answer = get(shown.url)
    shown.passTo(first.port)
    expect(await answer).toBe('first')
  })

  test('a newer server gets new connections; a response that runs is finished by the old one', async () => {
    await using shown = await front()
    await using first = await backend('first')
    await using second = await backend('second')
    shown.passTo(first.port)
    const running = await fetch(`${shown.url}/large`, { headers: { connection: 'close' } })
    shown.passTo(second.port)
    expect(await get(shown.url)).toBe('second')
    expect((await running.text()).length).toBe('first'.length * 800_000)
  })

  test('answered() → every request that was sent has begun to be answered', async () => {
    await using shown = await front()
    let answer = (): void => {}
    const slow = createServer((_incoming, outgoing) => {
      answer = () => outgoing.end('slow')
    })
    await once(slow.listen(0, '127.0.0.1'), 'listening')
    shown.passTo((slow.address() as AddressInfo).port)
    const asked = once(slow, 'request')
    const response = get(shown.url)
    await asked
    let isAnswered = false
    const answered = shown.answered().then(() => {
      isAnswered = true
    })
    await new Promise(setImmediate)
    expect(isAnswered).toBe(false)
    answer()
    await answered
    expect(await response).toBe('slow')
    slow.close()
  })

  test('a connection waits no longer than the bound, and is cut off then', async () => {
    await using shown = await front(50)
    await expect(get(shown.url)).rejects.toThrow()
  })

  test('without a server connections are cut off at once, those that wait too', async () => {
    await using shown = await front()
    const waiting = expect(get(shown.url)).rejects.toThrow()
    shown.refuse()
    await waiting
    await expect(get(shown.url)).rejects.toThrow()
  })

  test('a client that goes away is gone for the server too', async () => {
    await using shown = await front()
    await using first = await backend('first')
    shown.passTo(first.port)
    const client = request(`${shown.url}/stream`).end()
    client.on('error', () => {})
    const [response] = await once(client, 'response')
    await once(response, 'data')
    client.destroy()
    await first.aborted
  })

  test('close → nothing is accepted any more, and what still runs is cut off once it may be', async () => {
    const shown = await front()
    await using first = await backend('first')
    shown.passTo(first.port)
    const response = await fetch(`${shown.url}/stream`)
    await shown.close(Promise.resolve())
    await expect(response.text()).rejects.toThrow()
    const [error] = await once(connect(shown.port, '127.0.0.1'), 'error')
    expect(error).toMatchObject({ code: 'ECONNREFUSED' })
  })

  test('port 0 → another one than another program has taken', async () => {
    const { port, close } = await takenPort()
    const random = vi.spyOn(Math, 'random').mockReturnValueOnce((port - 20_000 + 0.5) / 12_000)
    await using shown = await front()
    const draws = random.mock.calls.length
    random.mockRestore()
    close()

    expect(draws).toBe(2)
    expect(shown.port).not.toBe(port)
    const socket = connect(shown.port, '127.0.0.1')
    await once(socket, 'connect')
    socket.destroy()
  })

  test('a port that is taken → one line', async () => {
    await using shown = await front()
    await expect(startFront(shown.port)).rejects.toThrow(/port \d+ is in use/)
  })
})

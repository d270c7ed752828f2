/** Servers whose answer begins and never ends: no command waits for them without a limit. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { vectorizeHttp } from '../../deploy/ingest/vectorize.ts'
import { callLocally } from '../../deploy/project/cron.ts'
import { untilAnswers } from '../../deploy/run/probe.ts'
import { terminal } from '../../deploy/terminal/terminal.ts'
import { secretOf } from '../_secrets.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The beginning of an answer, and nothing more. */
const begin: RequestListener = (_request, response) => {
  response.writeHead(500, { 'content-type': 'application/json' })
  response.write('{"error":')
}

/** An answer that goes on and on. */
const pour: RequestListener = (_request, response) => {
  response.writeHead(500)
  const more = (): void => {
    while (!response.destroyed && response.write('x'.repeat(65_536)));
  }
  response.on('drain', more)
  more()
}

/** Resolves once the condition holds: without the limit if it can, otherwise with it. */
async function passing(limitMs: number, isOver: () => boolean): Promise<void> {
  for (let turns = 0; turns < 3000 && !isOver(); turns++) {
    await delay(10)
    if (turns === 50) await vi.advanceTimersByTimeAsync(limitMs)
  }
}

test.each([
  ['begins', begin, 'no answer in 60 s'],
  ['goes on and on', pour, 'status 500 xxx'],
])(
  'the schedule in `mayfly dev`: an answer that %s → it is told, and the next call is made',
  async (_kind, listener, told) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    vi.stubEnv('CRON_SECRET', secretOf('cron'))
    const note = vi.spyOn(terminal, 'note').mockImplementation(() => {})
    const ended = new AbortController()
    const calling = callLocally(await serve(listener), { path: '/tasks' } as never, ended.signal)
    await passing(60_000, () => note.mock.calls.length > 0)
    ended.abort()
    await calling
    expect(note.mock.calls).toEqual([[expect.stringContaining(told)]])
    expect(note.mock.calls[0]![0].length).toBeLessThan(300)
  },
)

test.each([
  ['begins', begin],
  ['goes on and on', pour],
])('the probe of a server that starts: an answer that %s → it is asked again', async (_kind, listener) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let asked = 0
  const url = await serve((request, response) => {
    asked++
    if (asked === 1) return listener(request, response)
    response.end('{"jsonrpc":"2.0","id":1,"result":{}}')
  })
  let isReady = false
  const ready = untilAnswers(url, new AbortController().signal).then((identity) => {
    isReady = true
    return identity
  })
  await passing(5000, () => isReady || asked > 1)
  expect(await ready).toEqual({ wantsToken: false })
  expect(asked).toBe(2)
})

test('Vectorize by HTTP: an answer that begins → an error that says how long it was waited for', async () => {
  const url = await serve((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('{"result":')
  })
  const store = vectorizeHttp({ accountId: 'a', apiToken: 't', url, timeoutMs: 100 })
  await expect(store.describeIndex({ indexName: 'docs' })).rejects.toMatchObject({
    code: 'STORE_FAILED',
    message: 'Vectorize did not answer within 100 ms.',
  })
})

/** One caller takes no more than a share of what is for all: scenarios for each runtime, over its own HTTP. */
import { request as httpRequest } from 'node:http'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { PLACES, UPLOAD_BYTES } from './shares-server.ts'
import { modernRequest } from './wire.ts'

export interface SharesServed {
  readonly url: URL
  close(): unknown
}

/** `start`: serves `createSharesServer()`, a new one each time. */
export function sharesScenarios(start: () => Promise<SharesServed>): void {
  let url: URL
  const cleanups: (() => unknown)[] = []
  beforeEach(async () => {
    const served = await start()
    url = served.url
    cleanups.push(() => served.close())
  })
  afterEach(async () => {
    for (const clean of cleanups.splice(0).reverse()) await clean()
  })

  const send = (token: string, method: string, params: object): Promise<Response> => {
    const over = new AbortController()
    cleanups.push(() => over.abort())
    const headers = { authorization: `Bearer ${token}` }
    const request = modernRequest(url, method, params as never, { headers, meta: { progressToken: 1 } })
    return fetch(new Request(request, { signal: over.signal }))
  }
  const listen = (token: string) =>
    send(token, 'subscriptions/listen', { notifications: { toolsListChanged: true } })
  const call = (token: string) => send(token, 'tools/call', { name: 'never', arguments: {} })

  /** Begins a large body. Resolves with the status of the answer; `finish` sends the rest. */
  const upload = (token: string) => {
    const sent = httpRequest(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'transfer-encoding': 'chunked',
      },
    })
    const status = new Promise<number>((resolve) => {
      sent.on('response', (response) => {
        response.resume()
        resolve(response.statusCode!)
      })
      sent.on('error', () => {})
    })
    cleanups.push(() => sent.destroy())
    sent.write(' '.repeat(UPLOAD_BYTES))
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
    return { status, finish: () => void sent.end(JSON.stringify(ping)) }
  }

  it.each([
    ['streams', listen],
    ['calls', call],
  ])('%s of one caller leave room for another [shares.caller]', async (_what, take) => {
    const statuses: number[] = []
    for (let taken = 0; taken < PLACES; taken++) statuses.push((await take('ann')).status)
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429, 429, 429])
    expect((await take('bob')).status).toBe(200)
    expect(Number((await take('ann')).headers.get('retry-after'))).toBeGreaterThan(0)
  })

  it('bodies of one caller leave room for another [shares.caller]', async () => {
    const uploads = Array.from({ length: PLACES }, () => upload('ann'))
    const refused: number[] = []
    await new Promise<void>((resolve) => {
      for (const { status } of uploads)
        void status.then((code) => {
          if (refused.push(code) === PLACES / 2) resolve()
        })
    })
    expect(refused).toEqual([429, 429, 429, 429])
    const other = upload('bob')
    other.finish()
    expect(await other.status).toBe(200)
  })
}

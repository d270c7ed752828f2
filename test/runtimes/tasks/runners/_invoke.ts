/**
 * As much of Lambda's Invoke API as begins durable executions, which AWS's local test runner then runs: a second one of a name is the
 * first.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface Invocations {
  readonly url: string
  /** The payloads, in order. */
  readonly sent: unknown[]
  deliverTo(run: (payload: unknown) => Promise<unknown>): void
  stop(): void
}

export async function startInvocations(functionName: string): Promise<Invocations> {
  const names = new Set<string>()
  const sent: unknown[] = []
  let deliver: (payload: unknown) => Promise<unknown> = async () => {}
  const path = `/2015-03-31/functions/${encodeURIComponent(functionName)}/invocations`
  const http = createServer(async (request, response) => {
    const payload: unknown = JSON.parse(await text(request))
    const name = request.headers['x-amz-durable-execution-name']
    const isAsync = request.headers['x-amz-invocation-type'] === 'Event'
    if (request.url !== path || typeof name !== 'string' || !isAsync || !/^[\w-]{1,64}$/.test(name))
      return response.writeHead(400, { 'x-amzn-errortype': 'InvalidParameterValueException' }).end('{}')
    sent.push(payload)
    response.writeHead(202).end()
    if (!names.has(name)) void deliver(payload)
    names.add(name)
  }).listen(0, '127.0.0.1')
  await once(http, 'listening')
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    sent,
    deliverTo(run) {
      deliver = run
    },
    stop() {
      http.close()
      http.closeAllConnections()
    },
  }
}

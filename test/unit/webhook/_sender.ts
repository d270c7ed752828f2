/** Sends webhooks as Standard Webhooks describes it, signed by Node's own HMAC. */
import { createHmac, randomBytes } from 'node:crypto'
import type { ChangeEvent } from '../../../src/index.ts'
import { createEventWebhook, type EventWebhookChecks } from '../../../src/webhook.ts'

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
export const CHANGE = '{"type":"toolsListChanged"}'

export function createSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

export function sign(id: string, timestamp: string, body: string, secret = SECRET): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
}

export interface Sent {
  readonly id?: string
  readonly timestamp?: string
  readonly signature?: string
  readonly secret?: string
  readonly body?: string | Uint8Array<ArrayBuffer>
  readonly method?: string
}

export function webhookRequest(sent: Sent = {}): Request {
  const { id = `msg_${randomBytes(8).toString('hex')}`, body = CHANGE, method = 'POST' } = sent
  const { timestamp = String(Math.floor(Date.now() / 1000)) } = sent
  const { signature = sign(id, timestamp, String(body), sent.secret) } = sent
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
  return new Request('https://mcp.shop.example/events', {
    method,
    headers,
    ...(method !== 'GET' && { body }),
  })
}

/** A webhook over a bus that writes down what is published. */
export function createFixture(checks: Partial<EventWebhookChecks> = {}) {
  const published: ChangeEvent[] = []
  const bus = {
    publish: (event: ChangeEvent): void | Promise<void> => void published.push(event),
    subscribe: () => () => {},
  }
  const errors: unknown[] = []
  const onError = (error: unknown): void => void errors.push(error)
  const webhook = createEventWebhook({ bus, secret: SECRET, onError, ...checks })
  const send = (sent?: Sent): Promise<Response> => webhook(webhookRequest(sent))
  return { bus, published, errors, webhook, send }
}

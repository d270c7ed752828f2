/** Signatures of deliveries by Standard Webhooks: HMAC-SHA-256 over `id.timestamp.body`, once for each secret. */
import { randomBase64Url, toBase64 } from '../../definition/base64.ts'
import { invalidParams } from '../../definition/protocol-error.ts'
import {
  MAX_SECRET_BYTES,
  MIN_SECRET_BYTES,
  SECRET_PREFIX,
  secretBytes,
  signedContent,
  WEBHOOK_HMAC,
} from '../../definition/standard-webhook.ts'
import type { SignHeaders } from '../contract.ts'

/** @throws ProtocolError `-32602` unless it is `whsec_` and 24 to 64 bytes in base64. The error does not contain it. */
export function checkSecret(secret: unknown): string {
  if (typeof secret === 'string' && secretBytes(secret) !== undefined) return secret
  throw invalidParams(
    `Invalid params: "delivery.secret" must be "${SECRET_PREFIX}" and ${MIN_SECRET_BYTES} to ${MAX_SECRET_BYTES} random bytes in base64.`,
  )
}

/** @throws TypeError for a secret that `checkSecret` refuses, and without any. */
export const signHeaders: SignHeaders = async (secrets, webhookId, timestampSeconds, body) => {
  if (secrets.length === 0) throw new TypeError('A delivery needs a secret.')
  const content = signedContent(webhookId, String(timestampSeconds), new TextEncoder().encode(body))
  const signatures = await Promise.all(secrets.map((secret) => sign(secret, content)))
  return {
    'content-type': 'application/json',
    'webhook-id': webhookId,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatures.join(' '),
  }
}

async function sign(secret: string, content: Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = secretBytes(secret)
  if (bytes === undefined) throw new TypeError('The secret of a subscription cannot be used.')
  const key = await crypto.subtle.importKey('raw', bytes, WEBHOOK_HMAC, false, ['sign'])
  return `v1,${toBase64(new Uint8Array(await crypto.subtle.sign('HMAC', key, content)))}`
}

/** The `webhook-id` of a body other than an event: its type, and 128 random bits. */
export function messageId(type: string): string {
  return `msg_${type}_${randomBase64Url(16)}`
}

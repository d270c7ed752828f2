/** What signers and verifiers of Standard Webhooks share (https://github.com/standard-webhooks/standard-webhooks, version 1). */
import { fromBase64, toBase64 } from './base64.ts'

export const SECRET_PREFIX = 'whsec_'

/** Bytes of a secret. */
export const MIN_SECRET_BYTES = 24
export const MAX_SECRET_BYTES = 64

/** Of `signedContent`, with the bytes of the secret. */
export const WEBHOOK_HMAC = { name: 'HMAC', hash: 'SHA-256' } as const

/** Undefined unless it is `whsec_` and 24 to 64 bytes in base64. */
export function secretBytes(secret: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (typeof secret !== 'string' || !secret.startsWith(SECRET_PREFIX)) return undefined
  const bytes = decodeCanonical(secret.slice(SECRET_PREFIX.length))
  const isLong = bytes !== undefined && bytes.length >= MIN_SECRET_BYTES && bytes.length <= MAX_SECRET_BYTES
  return isLong ? bytes : undefined
}

/** Undefined unless it is the canonical encoding of these bytes. */
export function decodeCanonical(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const bytes = fromBase64(text)
    return toBase64(bytes) === text ? bytes : undefined
  } catch {
    return undefined
  }
}

export function signedContent(id: string, timestamp: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(`${id}.${timestamp}.`)
  const bytes = new Uint8Array(head.byteLength + body.byteLength)
  bytes.set(head)
  bytes.set(body, head.byteLength)
  return bytes
}

/**
 * Signatures of Standard Webhooks (https://github.com/standard-webhooks/standard-webhooks, version 1): HMAC-SHA-256 over
 * `id.timestamp.body`.
 */
import { isRepetitive, MAKE_SECRET } from '../definition/secret.ts'
import {
  decodeCanonical,
  MAX_SECRET_BYTES,
  MIN_SECRET_BYTES,
  SECRET_PREFIX,
  secretBytes,
  signedContent,
  WEBHOOK_HMAC,
} from '../definition/standard-webhook.ts'

/** The headers of a webhook; its body is not yet verified. */
export interface Signed {
  readonly id: string
  readonly timestamp: string
  readonly signatures: readonly Uint8Array<ArrayBuffer>[]
}

export interface Verifier {
  /** Whether one of the signatures was made with one of the secrets. Compares in constant time. */
  verify(signed: Signed, body: Uint8Array): Promise<boolean>
  /** The last of the secrets with which one of the signatures was made: while two are used, the same as before. Undefined: there is none. */
  secretOf(signed: Signed, body: Uint8Array): Promise<string | undefined>
}

/** Bounds the work for one request. Senders sign with two secrets while they rotate them. */
const MAX_SIGNATURES = 8

/** A period in the id would change the meaning of the signed string. */
const ID = /^[!-\-/-~]{1,256}$/
const TIMESTAMP = /^\d{1,12}$/
const SIGNATURE = /^v1,([A-Za-z0-9+/]{43}=)$/

/** @throws TypeError for a secret that is not `whsec_` and 24 to 64 random bytes in base64. */
export function createVerifier(secrets: readonly string[]): Verifier {
  if (secrets.length === 0) throw new TypeError('createEventWebhook needs "secret".')
  const raw = secrets.map(readSecret)
  let imported: Promise<CryptoKey[]> | undefined
  const importKeys = (): Promise<CryptoKey[]> =>
    Promise.all(raw.map((bytes) => crypto.subtle.importKey('raw', bytes, WEBHOOK_HMAC, false, ['verify'])))
  const secretOf: Verifier['secretOf'] = async ({ id, timestamp, signatures }, body) => {
    // At the first request, since platforms forbid it at the top level of a module.
    imported ??= importKeys()
    const keys = await imported
    const content = signedContent(id, timestamp, body)
    for (const [index, key] of [...keys.entries()].reverse()) {
      for (const signature of signatures) {
        if (await crypto.subtle.verify('HMAC', key, signature, content)) return secrets[index]
      }
    }
    return undefined
  }
  return { secretOf, verify: async (signed, body) => (await secretOf(signed, body)) !== undefined }
}

/** Reads the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`; undefined if one is missing or malformed. */
export function readSigned(headers: Headers): Signed | undefined {
  const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) =>
    headers.get(`webhook-${name}`),
  )
  if (!id || !timestamp || !signature || !ID.test(id) || !TIMESTAMP.test(timestamp)) return undefined
  // There may also be signatures of other versions, such as v1a.
  const signatures = signature.split(' ', MAX_SIGNATURES).flatMap((one) => readSignature(one) ?? [])
  return signatures.length === 0 ? undefined : { id, timestamp, signatures }
}

function readSignature(text: string): Uint8Array<ArrayBuffer> | undefined {
  const encoded = SIGNATURE.exec(text)?.[1]
  return encoded === undefined ? undefined : decodeCanonical(encoded)
}

function readSecret(secret: string, index: number, all: readonly string[]): Uint8Array<ArrayBuffer> {
  const bytes = secretBytes(secret)
  if (bytes === undefined || isRepetitive(bytes, MIN_SECRET_BYTES)) {
    const which = all.length > 1 ? `Number ${index + 1} in "secret"` : '"secret"'
    throw new TypeError(
      `${which} of a webhook must be "${SECRET_PREFIX}" and ${MIN_SECRET_BYTES} to ${MAX_SECRET_BYTES} random bytes in base64: generate one with echo "${SECRET_PREFIX}$(${MAKE_SECRET})".`,
    )
  }
  return bytes
}

/**
 * What sign-in seals and signs with: AES-256-GCM and HMAC-SHA-256 with keys that are derived from the deployment's secrets by HKDF-SHA-256
 * (RFC 5869). The first secret seals, all of them open.
 */
import { fromBase64Url, toBase64Url } from '../definition/base64.ts'
import { isSameDigest } from '../definition/digest.ts'
import { secretFault } from '../definition/secret.ts'

export interface SignInKeys {
  /** `purpose` is what the text may be opened for: a sealed text cannot be moved to another place. */
  seal(purpose: string, value: unknown): Promise<string>
  /** Undefined for a text that was changed, or sealed for another purpose or with an unknown secret. */
  open(purpose: string, text: string): Promise<unknown>
  /** 22 characters that only this deployment can make for the text. */
  tag(text: string): Promise<string>
  isTag(text: string, tag: string): Promise<boolean>
}

interface Key {
  readonly id: string
  readonly sealing: CryptoKey
  readonly tagging: CryptoKey
}

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** @throws TypeError without a secret, and for one that is too short or a repeated pattern. */
export function checkSecrets(where: string, secrets: readonly string[]): void {
  if (secrets.length === 0)
    throw new TypeError(`${where} must contain at least one secret: is the variable that it comes from set?`)
  for (const [index, secret] of secrets.entries()) {
    const fault = secretFault(secret)
    if (fault === undefined) continue
    throw new TypeError(`${secrets.length > 1 ? `Number ${index + 1} of ` : ''}${where} ${fault}`)
  }
}

export function createKeys(secrets: readonly string[]): SignInKeys {
  let derived: Promise<readonly Key[]> | undefined
  const keys = (): Promise<readonly Key[]> => {
    derived ??= Promise.all(secrets.map(derive))
    return derived
  }
  const signed = async (key: Key, text: string): Promise<Uint8Array> =>
    new Uint8Array(await crypto.subtle.sign('HMAC', key.tagging, utf8(text))).subarray(0, TAG_BYTES)
  return {
    async seal(purpose, value) {
      const [key] = await keys()
      const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
      const content = utf8(JSON.stringify(value))
      const sealed = await crypto.subtle.encrypt(
        { name: 'AES-GCM', iv, additionalData: utf8(purpose) },
        key!.sealing,
        content,
      )
      return `${key!.id}.${toBase64Url(iv)}.${toBase64Url(new Uint8Array(sealed))}`
    },
    async open(purpose, text) {
      const [id, nonce, content, ...more] = text.split('.')
      // A text with more after it would be another id of the same client.
      if (nonce === undefined || content === undefined || more.length > 0) return undefined
      const [iv, sealed] = [fromBase64Url(nonce), fromBase64Url(content)]
      const key = (await keys()).find((one) => one.id === id)
      if (key === undefined || iv?.length !== NONCE_BYTES || sealed === undefined) return undefined
      try {
        const opened = await crypto.subtle.decrypt(
          { name: 'AES-GCM', iv, additionalData: utf8(purpose) },
          key.sealing,
          sealed,
        )
        return JSON.parse(new TextDecoder().decode(opened)) as unknown
      } catch {
        return undefined
      }
    },
    async tag(text) {
      const [key] = await keys()
      return toBase64Url(await signed(key!, text))
    },
    async isTag(text, tag) {
      const given = fromBase64Url(tag)
      if (given === undefined) return false
      const all = await Promise.all((await keys()).map((key) => signed(key, text)))
      return all.some((one) => isSameDigest(one, given))
    },
  }
}

async function derive(secret: string): Promise<Key> {
  const material = await crypto.subtle.importKey('raw', utf8(secret), 'HKDF', false, [
    'deriveBits',
    'deriveKey',
  ])
  const hkdf = (purpose: string) => ({
    name: 'HKDF',
    hash: 'SHA-256',
    salt: utf8('mayfly-mcp/sign-in/1'),
    info: utf8(purpose),
  })
  const hmac = { name: 'HMAC', hash: 'SHA-256', length: 256 }
  const [id, sealing, tagging] = await Promise.all([
    crypto.subtle.deriveBits(hkdf('id'), material, 48),
    crypto.subtle.deriveKey(hkdf('seal'), material, { name: 'AES-GCM', length: 256 }, false, [
      'encrypt',
      'decrypt',
    ]),
    crypto.subtle.deriveKey(hkdf('tag'), material, hmac, false, ['sign']),
  ])
  return { id: toBase64Url(new Uint8Array(id)), sealing, tagging }
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

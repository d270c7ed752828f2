/** The Authorization header of a client with a secret (RFC 6749 §2.3.1). */

export interface BasicCredentials {
  readonly id: string
  /** Decoded, and as it was sent: some clients encode only in Base64, as RFC 7617 says. */
  readonly secrets: readonly string[]
}

/** Undefined: there are none that can be read. */
export function readBasic(request: Request): BasicCredentials | undefined {
  const basic = /^basic +([\w+/]+=*)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
  if (basic === undefined) return undefined
  try {
    const text = atob(basic)
    const colon = text.indexOf(':')
    if (colon < 0) return undefined
    const secret = text.slice(colon + 1)
    const decoded = decode(secret)
    return {
      id: decode(text.slice(0, colon)) ?? '',
      secrets: decoded === undefined || decoded === secret ? [secret] : [decoded, secret],
    }
  } catch {
    return undefined
  }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

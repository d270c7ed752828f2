/** The secrets of a task endpoint: several while they are rotated. The first signs, and each verifies. */
import { MAKE_SECRET, MIN_SECRET_CHARACTERS, secretFault } from '../definition/secret.ts'
import { isUnset } from '../http/unset-secret.ts'

/** Secrets that one bearer token may contain, which bounds the work for a request. */
const MAX_IN_TOKEN = 10

const HMAC = { name: 'HMAC', hash: 'SHA-256' } as const

export interface EndpointSecrets {
  /** Signs a JSON list, so that no signature equals that of a secret. */
  sign(list: readonly unknown[]): Promise<Uint8Array>
  isSigned(list: readonly unknown[], signature: Uint8Array): Promise<boolean>
  /** Whether the token is one of the secrets, or several of which one is: a platform may send a variable as it is. */
  isToken(token: string): Promise<boolean>
}

/** @throws TypeError for a secret that is too short, a repeated pattern or contains blanks. */
function createSecrets(owner: string, option: string, given: string | readonly string[]): EndpointSecrets {
  const secrets = listed(given)
  if (secrets.length === 0 || secrets.some((one) => secretFault(one) !== undefined || /\s/.test(one)))
    throw new TypeError(
      `${owner} needs "${option}": ${MIN_SECRET_CHARACTERS} or more random characters without blanks, as of "${MAKE_SECRET}"; for rotation a list, or several separated by commas.`,
    )
  let imported: Promise<CryptoKey[]> | undefined
  const keys = (): Promise<CryptoKey[]> => {
    imported ??= Promise.all(
      secrets.map((secret) => crypto.subtle.importKey('raw', utf8(secret), HMAC, false, ['sign', 'verify'])),
    )
    return imported
  }
  const isSignedBy = async (key: CryptoKey, text: string, signature: Uint8Array): Promise<boolean> =>
    crypto.subtle.verify('HMAC', key, signature as never, utf8(text))
  const signWith = async (key: CryptoKey, text: string): Promise<Uint8Array> =>
    new Uint8Array(await crypto.subtle.sign('HMAC', key, utf8(text)))
  const some = async (isOne: (key: CryptoKey, index: number) => Promise<boolean>): Promise<boolean> =>
    (await Promise.all((await keys()).map(isOne))).includes(true)

  return {
    sign: async (list) => signWith((await keys())[0]!, JSON.stringify(list)),
    isSigned: (list, signature) => some((key) => isSignedBy(key, JSON.stringify(list), signature)),
    async isToken(token) {
      const parts = token.split(',', MAX_IN_TOKEN)
      // Compared by their signatures, so that the time does not reveal the secret.
      return some(async (key, index) => {
        const signature = await signWith(key, secrets[index]!)
        return (await Promise.all(parts.map((part) => isSignedBy(key, part, signature)))).includes(true)
      })
    },
  }
}

/** Undefined if the variable of the option is not set or empty. @throws TypeError like `createSecrets`, and without the option. */
export function createOptionalSecrets(
  owner: string,
  option: string,
  options: object,
): EndpointSecrets | undefined {
  return isUnset(owner, option, options) ? undefined : createSecrets(owner, option, options[option as never])
}

/** The secrets of an option. */
export function listed(given: string | readonly string[]): string[] {
  return [given].flat().flatMap((one) => (typeof one === 'string' ? one.split(',') : ''))
}

/** Whether a request has one of the secrets as its bearer token. */
export async function isBearer(request: Request, secrets: EndpointSecrets): Promise<boolean> {
  const [, token] = /^bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? []
  return token !== undefined && secrets.isToken(token)
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

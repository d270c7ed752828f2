/** What a provider keeps, as JSON in a storage of text. */
import type { OAuthStorage } from './oauth.ts'

export interface Keep {
  load<T>(name: string): Promise<T | undefined>
  save(name: string, value: unknown): Promise<void>
  forget(name: string): Promise<void>
}

/** Under keys that begin with `base`, and nowhere else. */
export function createKeep(storage: OAuthStorage, base: () => Promise<string>): Keep {
  let known: Promise<string> | undefined
  const keyOf = async (name: string): Promise<string> => {
    known ??= base()
    return `${await known}:${name}`
  }
  return {
    async load<T>(name: string) {
      const text = await storage.get(await keyOf(name))
      // What `save` put there.
      return text === null || text === undefined ? undefined : (JSON.parse(text) as T)
    },
    async save(name, value) {
      await storage.set(await keyOf(name), JSON.stringify(value))
    },
    async forget(name) {
      await storage.delete(await keyOf(name))
    },
  }
}

/** SHA-256 in base64url: of one length, and nothing that a text could stand for in a key. */
export async function digest(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

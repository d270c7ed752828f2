/** Removes from errors what a server's configuration and sign-in keep secret: platforms, processes and servers quote what they were given. */
import { isA, memberOf, stackOf, textOf } from '../definition/error-text.ts'
import { isObject, isPlain } from '../definition/is-object.ts'
import type { ServerConfig } from './config.ts'
import { formsInConfig, formsOfCredential } from './secret-forms.ts'

const HIDDEN = '…'
/** Maximum credentials that are remembered besides those of the configuration. */
const MAX_LEARNED = 64
/** Maximum characters of a text in an error, depth of its members, and members. */
const MAX_TEXT = 100_000
const MAX_DEPTH = 8
const MAX_MEMBERS = 1000

/** Credentials in the documents and requests of OAuth (RFC 6749, 7591 and 7636). */
const CREDENTIALS =
  /^(?:(?:access|refresh|id|subject|actor|registration_access)_token|client_secret|client_assertion|assertion|code|code_verifier|token)$/

export class Secrets {
  readonly #config: ServerConfig
  readonly #learned = new Set<string>()
  #configured: readonly string[] | undefined

  constructor(config: ServerConfig) {
    this.#config = config
  }

  /** Remembers a credential that is not in the configuration, such as the result of the function `token`. */
  learn(credential: unknown): void {
    if (typeof credential !== 'string' || this.#learned.has(credential)) return
    this.#learned.add(credential)
    const [oldest] = this.#learned
    if (this.#learned.size > MAX_LEARNED && oldest !== undefined) this.#learned.delete(oldest)
  }

  /** The same for the credentials among the members of a document, and in an OAuth request. */
  learnFrom(issued: unknown): void {
    const entries = isA(issued, URLSearchParams)
      ? [...issued]
      : isObject(issued)
        ? Object.entries(issued)
        : []
    for (const [name, value] of entries) if (CREDENTIALS.test(name)) this.learn(value)
  }

  /** The text with `…` for each secret. */
  hide(text: string): string {
    const forms = this.#forms()
    const shown = forms.reduce((rest, form) => rest.replaceAll(form, HIDDEN), text.slice(0, MAX_TEXT))
    // A secret could have been cut.
    return text.length > MAX_TEXT ? shown.slice(0, -(forms[0]?.length ?? 1)) + HIDDEN : shown
  }

  /** An error without secrets, the same object if it can be changed; and any other thrown value, as a copy if it has secrets. */
  hideIn(thrown: unknown): unknown {
    return this.#cleaned(thrown, 0, new Map())
  }

  #forms(): readonly string[] {
    this.#configured ??= formsInConfig(this.#config)
    const learned = [...this.#learned].flatMap(formsOfCredential)
    return [...new Set([...this.#configured, ...learned])].sort((one, other) => other.length - one.length)
  }

  #cleaned(value: unknown, depth: number, done: Map<object, unknown>): unknown {
    if (typeof value === 'string') return this.hide(value)
    if (typeof value !== 'object' || value === null) return value
    if (done.has(value)) return done.get(value)
    if (isA(value, Error) && depth <= MAX_DEPTH) return this.#cleanedError(value, depth, done)
    if (!this.#isIn(value, depth, new Set())) return value
    if (!isCopied(value)) return HIDDEN
    const copy: { [name: string]: unknown } | unknown[] = Array.isArray(value) ? [] : {}
    done.set(value, copy)
    for (const [name, member] of membersOf(value))
      Reflect.set(copy, this.hide(name), this.#cleaned(member, depth + 1, done))
    return copy
  }

  /** In place, since callers tell errors apart by their class. */
  #cleanedError(error: Error, depth: number, done: Map<object, unknown>): unknown {
    done.set(error, error)
    const own = Object.getOwnPropertyNames(error).filter((name) => name !== 'stack')
    const stack = stackOf(error)
    const message = textOf(error)
    for (const name of new Set(['message', ...own])) {
      const before = memberOf(error, name)
      const after = this.#cleaned(before, depth + 1, done)
      if (after !== before && !define(error, name, after)) {
        const replaced = new Error(this.hide(textOf(error)))
        done.set(error, replaced)
        return replaced
      }
    }
    const safe = stack === undefined ? undefined : this.#stack(stack, message)
    if (safe !== stack) define(error, 'stack', safe)
    return error
  }

  /** With the message as it is shown: what shortens the message looks for it in the stack. */
  #stack(stack: string, message: string): string {
    const at = stack.indexOf(message)
    if (at < 0) return this.hide(stack)
    const [before, after] = [stack.slice(0, at), stack.slice(at + message.length)]
    return `${this.hide(before)}${this.hide(message)}${this.hide(after)}`
  }

  /** Whether a value, other than an error, has secrets, or too many members to tell. */
  #isIn(value: unknown, depth: number, seen: Set<object>): boolean {
    if (typeof value === 'string') return this.hide(value) !== value
    if (typeof value !== 'object' || value === null || seen.has(value)) return false
    if (depth > MAX_DEPTH || seen.size >= MAX_MEMBERS) return true
    seen.add(value)
    if (isA(value, URL)) return this.#isIn(value.href, depth, seen)
    if (isA(value, Headers)) return this.#isIn([...value], depth, seen)
    if (isA(value, Request)) return this.#isIn([value.url, ...value.headers], depth, seen)
    return membersOf(value).some((entry) => entry.some((part) => this.#isIn(part, depth + 1, seen)))
  }
}

function define(error: Error, name: PropertyKey, value: unknown): boolean {
  try {
    return Reflect.defineProperty(error, name, { value, configurable: true, writable: true })
  } catch {
    return false
  }
}

const isCopied = (value: object): boolean => Array.isArray(value) || isPlain(value)

/** None if they cannot be read, as those of a revoked Proxy. */
function membersOf(value: object): readonly (readonly [string, unknown])[] {
  try {
    return Object.keys(value).map((name) => [name, memberOf(value, name)])
  } catch {
    return []
  }
}

/** Members of a provider that return credentials, and those that receive them. */
const RETURNING: readonly PropertyKey[] = ['token', 'tokens', 'clientInformation', 'codeVerifier']
const RECEIVING: readonly PropertyKey[] = ['saveTokens', 'saveClientInformation', 'saveCodeVerifier']

/** The provider, whose credentials `secrets` learns before the official client uses them. */
export function learnFromProvider<Provider extends object>(provider: Provider, secrets: Secrets): Provider {
  const learn = (credential: unknown): void => {
    secrets.learn(credential)
    secrets.learnFrom(credential)
  }
  return new Proxy(provider, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      if (RECEIVING.includes(name)) {
        return (...given: unknown[]) => {
          learn(given[0])
          return member.apply(target, given)
        }
      }
      if (!RETURNING.includes(name)) return member
      return async (...given: unknown[]) => {
        const credential: unknown = await member.apply(target, given)
        learn(credential)
        return credential
      }
    },
  })
}

/**
 * The headers of a request, without Node's `Headers`: its first use costs as much CPU as all else of a first call, and each further one
 * more than reading the message.
 */

/** What every `Headers` leaves unchanged: one value, of visible ASCII, without blanks around it. Any other is left to `Headers`. */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/
const VALUE = /^(?:[!-~](?:[\t -~]*[!-~])?)?$/

/** Undefined if only `Headers` can represent them. The names are in lower case. */
export function plainHeaders(
  headers: readonly (readonly [name: string, value: string])[],
): Map<string, string> | undefined {
  const plain = new Map<string, string>()
  for (const [given, value] of headers) {
    const name = given.toLowerCase()
    if (!isPlain(name, value) || plain.has(name)) return undefined
    plain.set(name, value)
  }
  return plain
}

/** Whether a `Headers` would have the same value. */
export function isPlain(name: string, value: string): boolean {
  return NAME.test(name) && VALUE.test(value)
}

/** Has all members of `Headers`. What a call does not need creates a real one, which is then used by all. */
export class PlainHeaders implements Headers {
  readonly #plain: ReadonlyMap<string, string>
  #real: Headers | undefined

  constructor(plain: ReadonlyMap<string, string>) {
    this.#plain = plain
  }

  get(name: string): string | null {
    if (this.#real !== undefined) return this.#real.get(name)
    // A name that no header can have throws.
    return this.#plain.get(name) ?? this.#plain.get(name.toLowerCase()) ?? this.#absent(name)
  }

  #absent(name: string): string | null {
    return NAME.test(name) ? null : this.#headers.get(name)
  }

  has(name: string): boolean {
    return this.get(name) !== null
  }

  [Symbol.iterator](): HeadersIterator<[string, string]> {
    return this.entries()
  }

  /** In the order of the names, as the Fetch standard has it. */
  entries(): HeadersIterator<[string, string]> {
    if (this.#real !== undefined) return this.#real.entries()
    return [...this.#plain].sort(([one], [other]) => (one < other ? -1 : 1)).values()
  }

  keys(): HeadersIterator<string> {
    return this.#headers.keys()
  }

  values(): HeadersIterator<string> {
    return this.#headers.values()
  }

  forEach(each: (value: string, name: string, headers: Headers) => void, self?: unknown): void {
    for (const [name, value] of this) each.call(self, value, name, this)
  }

  getSetCookie(): string[] {
    return this.#headers.getSetCookie()
  }

  append(name: string, value: string): void {
    this.#headers.append(name, value)
  }

  set(name: string, value: string): void {
    this.#headers.set(name, value)
  }

  delete(name: string): void {
    this.#headers.delete(name)
  }

  get #headers(): Headers {
    this.#real ??= new Headers([...this.#plain])
    return this.#real
  }
}

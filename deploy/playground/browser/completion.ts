/** The server's suggestions for an argument of a prompt or of a resource template (`completion/complete`), while the user types. */
import type { Client } from './client.ts'
import { element, nextId } from './dom.ts'
import { asList, asObject, type Json } from './json.ts'

const PAUSE_MS = 200
const MAX_SUGGESTIONS = 100
const MAX_CHARACTERS = 500

export interface Completable {
  readonly client: Client
  /** `ref/prompt` or `ref/resource`. */
  readonly ref: Json
  /** The values of all arguments. */
  readonly values: () => ReadonlyMap<string, string>
}

/** Adds a list of suggestions to `input`. A server without completions is not asked again. */
export function suggest(input: HTMLInputElement, name: string, { client, ref, values }: Completable): void {
  const list = element('datalist', { id: nextId() })
  input.setAttribute('list', list.id)
  input.setAttribute('autocomplete', 'off')
  input.after(list)
  let timer: ReturnType<typeof setTimeout> | undefined
  let last = new AbortController()
  let isOffered = true
  const ask = async (): Promise<void> => {
    last.abort()
    last = new AbortController()
    const { signal } = last
    const argument = { name, value: input.value }
    const others = [...values()].filter(([other, value]) => other !== name && value !== '')
    const context = others.length > 0 && { context: { arguments: Object.fromEntries(others) } }
    try {
      const result = await client.request('completion/complete', { ref, argument, ...context }, signal)
      const found = asList(asObject(result.completion).values).slice(0, MAX_SUGGESTIONS)
      const options = found.filter((value) => typeof value === 'string' && value.length <= MAX_CHARACTERS)
      list.replaceChildren(...options.map((value) => element('option', { value: value as string })))
    } catch {
      // The log shows why.
      if (!signal.aborted) isOffered = false
    }
  }
  const askSoon = (): void => {
    clearTimeout(timer)
    if (isOffered) timer = setTimeout(() => void ask(), PAUSE_MS)
  }
  input.addEventListener('input', askSoon)
  input.addEventListener('focus', askSoon)
}

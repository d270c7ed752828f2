/** The steps of a sign-in, each a request and its answer, without codes, tokens and verifiers. */
import { code, details, element } from './dom.ts'
import { asList, asObject, asText, clip, isObject, type Json, parse, pretty } from './json.ts'

export interface SignInStep {
  readonly label: string
  /** Such as `GET https://login.example/.well-known/openid-configuration`, and a body. */
  readonly request: string
  readonly status?: number | undefined
  readonly answer?: string | undefined
}

const KEPT = 'mayfly-sign-in-steps'
const MAX_STEPS = 30
const MAX_TEXT = 10_000
const MASK = '•••'
const SECRET =
  /^(?:code|state|nonce|code_verifier|code_challenge|password|assertion|client_assertion|.{0,100}token|.{0,100}secret)$/i

export class SignInSteps {
  readonly #place: HTMLElement
  #steps: SignInStep[] = []

  constructor(place: HTMLElement) {
    this.#place = place
  }

  readonly add = (step: SignInStep): void => {
    if (this.#steps.length >= MAX_STEPS) return
    this.#steps.push(step)
    this.#place.append(rowOf(step))
  }

  /** Forgets the steps of an earlier sign-in. */
  clear(): void {
    this.#steps = []
    this.#place.replaceChildren()
  }

  /** Keeps the steps for this tab while the user is at the authorization server. */
  keep(): void {
    if (this.#steps.length > 0) sessionStorage.setItem(KEPT, JSON.stringify(this.#steps))
  }

  /** Shows what was kept, and removes it from the storage. */
  restore(): void {
    const kept = asList(parse(sessionStorage.getItem(KEPT) ?? '')).map(asObject)
    sessionStorage.removeItem(KEPT)
    for (const { label, request, status, answer } of kept)
      this.add({
        label: String(label),
        request: String(request),
        status: typeof status === 'number' ? status : undefined,
        answer: asText(answer),
      })
  }
}

function rowOf({ label, request, status, answer }: SignInStep): HTMLElement {
  const isBad = status !== undefined && status >= 400
  const node = details(
    '',
    code(request, 'The request'),
    ...(answer === undefined ? [] : [code(answer, 'The answer')]),
  )
  const mark =
    status === undefined ? undefined : element('span', { class: isBad ? 'tag bad' : 'tag' }, String(status))
  node.querySelector('summary')!.append(clip(label, 200), ' ', mark ?? '')
  return element('li', {}, node)
}

/** A request as text. Fields of a form and of a query are masked by name. */
export function requestText(method: string, url: string, body?: string): string {
  const at = URL.canParse(url) ? new URL(url) : undefined
  if (at === undefined) return `${method} ${clip(url, 500)}`
  const query = at.search === '' ? '' : `\n  ?${maskedForm(at.search.slice(1), '\n  &')}`
  const sent = body === undefined ? '' : `\n\n${maskedText(body)}`
  return clip(`${method} ${at.origin}${at.pathname}${query}${sent}`, MAX_TEXT)
}

/** The body of a message: JSON and forms with their secrets masked by name; other text only if it cannot be an answer with a token. */
export function maskedText(text: string, status = 400): string {
  const value = parse(text)
  if (typeof value === 'object' && value !== null) return clip(pretty(masked(value, 0)), MAX_TEXT)
  if (/^[\w.~%+-]{1,100}=/.test(text)) return clip(maskedForm(text, '\n&'), MAX_TEXT)
  if (text === '') return ''
  return status >= 400 ? clip(text, 500) : `${text.length} characters that are not JSON`
}

function masked(value: unknown, depth: number): unknown {
  if (depth > 10) return '…'
  if (Array.isArray(value)) return asList(value).map((item) => masked(item, depth + 1))
  if (!isObject(value)) return value
  const members = Object.entries(value).map(([name, member]) => [
    name,
    SECRET.test(name) && member !== null ? MASK : masked(member, depth + 1),
  ])
  return Object.fromEntries(members) as Json
}

function maskedForm(text: string, between: string): string {
  return [...new URLSearchParams(text)]
    .slice(0, 100)
    .map(([name, value]) => `${name}=${SECRET.test(name) ? MASK : value}`)
    .join(between)
}

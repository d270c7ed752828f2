/** Shows a server's answer: a readable form first, the whole JSON below. */
import { isA } from '../../../src/definition/error-text.ts'
import { explain } from './client.ts'
import { copyButton } from './copy-button.ts'
import { button, code, details, element, outsideLink } from './dom.ts'
import { outcomeOf, RpcError } from './exchange.ts'
import { asList, asObject, asText, clip, isObject, type Json, reasonOf, wholeJson } from './json.ts'
import { jsonCode, textCode } from './json-view.ts'
import { durationText, sizeText } from './measures.ts'

/** Formats that cannot hold a script. */
const PICTURE = /^image\/(?:png|jpeg|gif|webp|avif)$/
const SOUND = /^audio\/(?:wav|x-wav|wave|mpeg|mp3|mp4|x-m4a|aac|ogg|flac|webm)$/
const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}$/
const MAX_BLOCKS = 100

export interface Shown {
  /** Milliseconds of the whole call. */
  readonly ms: number
  /** Bytes of the message that has the result. */
  readonly bytes?: number | undefined
  /** For screen readers. */
  readonly say: (text: string) => void
  /** Reads a resource that a result refers to. Omitted: links cannot be followed. */
  readonly read?: ((uri: string) => Promise<Json>) | undefined
  /** Calls again after a failure. */
  readonly again?: (() => void) | undefined
  /** What the call reported while it ran. */
  readonly reported?: HTMLElement | undefined
}

export function showResult(place: HTMLElement, result: Json, shown: Shown): void {
  const hasFailed = outcomeOf({ result }) === 'failed'
  const { ms, bytes, say, again, reported } = shown
  const facts = [hasFailed && 'isError', durationText(ms), bytes !== undefined && sizeText(bytes)]
  place.replaceChildren(
    heading(
      hasFailed ? 'The tool failed' : 'Result',
      facts.filter(Boolean).join(' · '),
      hasFailed && again !== undefined ? button('Call again', again) : undefined,
      copyButton(hasFailed ? 'Copy error' : 'Copy', () => mainText(result), say),
    ),
    ...degraded(result),
    ...asList(result.content)
      .slice(0, MAX_BLOCKS)
      .map((given) => block(given, shown)),
    ...asList(result.contents)
      .slice(0, MAX_BLOCKS)
      .map((given) => block(given, shown)),
    ...asList(result.messages)
      .slice(0, MAX_BLOCKS)
      .map((given) => message(given, shown)),
    ...(result.structuredContent === undefined
      ? []
      : [element('h4', {}, 'structuredContent'), jsonCode(result.structuredContent, 'Structured content')]),
    ...(reported === undefined ? [] : [reported]),
    details('The whole result as JSON', jsonCode(result, 'The whole result')),
  )
  place.classList.toggle('failed', hasFailed)
  say(hasFailed ? `The tool failed: ${clip(mainText(result), 200)}` : `Result after ${durationText(ms)}`)
}

export function showCancelled(place: HTMLElement, { ms, say, again, reported }: Shown): void {
  place.replaceChildren(
    heading('Cancelled', durationText(ms), again && button('Call again', again)),
    ...(reported === undefined ? [] : [reported]),
  )
  say('Cancelled')
}

export function showProblem(place: HTMLElement, error: unknown, shown: Shown): void {
  const { ms, say, again, reported } = shown
  const reason = explain(error)
  place.replaceChildren(
    heading(
      'The call failed',
      durationText(ms),
      again && button('Call again', again),
      copyButton('Copy error', () => reason, say),
    ),
    code(reason, 'The reason'),
    ...visits(error),
    ...(reported === undefined ? [] : [reported]),
  )
  place.classList.add('failed')
  say(`The call failed: ${clip(reasonOf(error), 200)}`)
}

function heading(title: string, facts: string, ...buttons: (HTMLElement | undefined)[]): HTMLElement {
  return element(
    'div',
    { class: 'line' },
    element('h3', {}, title),
    element('span', { class: 'soft mono' }, facts),
    element('span', { class: 'grow' }),
    ...buttons,
  )
}

/** What somebody who copies a result wants: its data, or else its text, or else all of it. */
function mainText(result: Json): string {
  const { structuredContent, content, contents } = result
  const texts = [...asList(content), ...asList(contents)].map((given) => asText(asObject(given).text))
  const isError = result.isError === true
  if (structuredContent !== undefined && !isError) return wholeJson(structuredContent) ?? ''
  if (texts.length > 0 && texts.every((text) => text !== undefined)) return texts.join('\n')
  return wholeJson(result) ?? ''
}

/** 2025-11-25, "URL Elicitation Required Error". */
function visits(error: unknown): HTMLElement[] {
  if (!isA(error, RpcError) || error.code !== -32042) return []
  const pages = asList(asObject(error.data).elicitations).slice(0, 20).map(asObject)
  const links = pages.map(({ url, message }) =>
    element('p', {}, asText(message) ?? '', ' ', outsideLink(asText(url) ?? '')),
  )
  return [...links, element('p', {}, 'Open the page, then call again.')]
}

/** What this client cannot do, as reported by Mayfly. */
function degraded(result: Json): HTMLElement[] {
  const { feature, reason, remedy } = asObject(asObject(result._meta)['mayfly/degraded'])
  if (asText(feature) === undefined) return []
  const text = [reason, remedy].map(asText).filter(Boolean).join(' ')
  return [element('p', { class: 'notice' }, element('strong', {}, `Degraded: ${String(feature)}. `), text)]
}

function message(given: unknown, shown: Shown): HTMLElement {
  const { role, content } = asObject(given)
  return element(
    'div',
    { class: 'message' },
    element('h4', {}, asText(role) ?? 'message'),
    block(content, shown),
  )
}

function block(given: unknown, shown: Shown): HTMLElement {
  const outer = asObject(given)
  const { type, text, mimeType, uri, data, blob, name } = isObject(outer.resource) ? outer.resource : outer
  if (type === 'resource_link') return link(outer, shown)
  const at = asText(uri) === undefined ? undefined : element('p', {}, element('code', {}, String(uri)))
  const bytes = asText(data) ?? asText(blob)
  const format = String(mimeType)
  if (bytes !== undefined && (PICTURE.test(format) || SOUND.test(format)) && BASE64.test(bytes)) {
    const src = `data:${format};base64,${bytes}`
    const label = asText(name)
    const media = PICTURE.test(format)
      ? element('img', { src, alt: label ?? 'The picture' })
      : element('audio', { src, controls: '', 'aria-label': label ?? 'The sound' })
    const size = sizeText(Math.floor((bytes.length * 3) / 4))
    return element('div', {}, at, media, element('p', { class: 'soft' }, `${format} · ${size}`))
  }
  if (asText(text) !== undefined) return element('div', {}, at, textCode(String(text), 'Text'))
  return element('div', {}, at, jsonCode(given, 'Content'))
}

/** A resource that the result only names, and that is shown below once the user follows it. */
function link({ uri, name, title, description }: Json, shown: Shown): HTMLElement {
  const address = asText(uri) ?? ''
  const label = asText(title) ?? asText(name)
  const read = shown.read
  const below = element('div', { class: 'linked' })
  const follow = async (): Promise<void> => {
    const started = performance.now()
    const own = (): Shown => ({ ms: performance.now() - started, say: shown.say, read })
    below.replaceChildren(element('p', { class: 'soft' }, 'Reading …'))
    try {
      const result = await read!(address)
      showResult(below, result, own())
    } catch (error) {
      showProblem(below, error, own())
    }
  }
  return element(
    'div',
    {},
    element(
      'p',
      { class: 'line' },
      label === undefined ? undefined : element('strong', {}, clip(label, 200)),
      outsideLink(address),
      read === undefined || address === ''
        ? undefined
        : button('Read', () => void follow(), { 'aria-label': `Read ${clip(address, 200)}` }),
    ),
    asText(description) === undefined
      ? undefined
      : element('p', { class: 'soft' }, clip(String(description), 500)),
    below,
  )
}

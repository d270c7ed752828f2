/** Shows a server's answer: a readable form first, the whole JSON below. */
import { isA } from '../../../src/definition/error-text.ts'
import { explain } from './client.ts'
import { copyButton } from './copy-button.ts'
import { button, code, details, element, nextId, outsideLink } from './dom.ts'
import { NoMessage, outcomeOf, RpcError, sourceOf } from './exchange.ts'
import { asList, asObject, asText, clip, indented, isObject, type Json, reasonOf, wholeJson } from './json.ts'
import { jsonCode, sourceCode, textCode } from './json-view.ts'
import { durationText, sizeText } from './measures.ts'
import { checkOutput } from './output-check.ts'
import { isDown, troubleOf, troubleText } from './trouble.ts'

/** Formats that cannot hold a script. */
const PICTURE = /^image\/(?:png|jpeg|gif|webp|avif)$/
const SOUND = /^audio\/(?:wav|x-wav|wave|mpeg|mp3|mp4|x-m4a|aac|ogg|flac|webm)$/
const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}$/
const MAX_BLOCKS = 100
/** A number that JavaScript may not hold. */
const LONG_NUMBER = /\d{16}/

/** How results are shown, which the user has chosen for all of them. */
let isRaw = false

export interface Shown {
  /** Milliseconds of the whole call. */
  readonly ms: number
  /** Bytes of the message that has the result. */
  readonly bytes?: number | undefined
  /** The MCP endpoint, as other clients use it. */
  readonly endpoint: string
  /** What the tool promises of its result. */
  readonly outputSchema?: unknown
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
  const check = checkOutput(shown.outputSchema, result)
  const facts = [
    hasFailed && 'isError',
    durationText(ms),
    bytes !== undefined && sizeText(bytes),
    check?.fault === undefined && check?.word,
  ]
  const view = element('div', {}, ...readable(result, shown))
  const source = hasJson(result) ? sourceOf(result) : undefined
  const raw = source === undefined ? undefined : code(source, 'The result as it was sent')
  const top = heading(
    hasFailed ? 'The tool failed' : 'Result',
    facts.filter(Boolean).join(' · '),
    check?.fault === undefined ? undefined : element('span', { class: 'tag bad' }, check.word),
    element('span', { class: 'grow' }),
    hasFailed && again !== undefined ? button('Call again', again) : undefined,
    raw && formats(view, raw),
    copyButton(
      hasFailed ? 'Copy error' : 'Copy',
      () => (raw === undefined || raw.hidden ? mainText(result) : source!),
      say,
    ),
  )
  if (check?.note !== undefined) top.title = check.note
  place.replaceChildren(
    top,
    ...(check?.fault === undefined ? [] : [element('p', { class: 'bad' }, clip(check.fault, 500))]),
    view,
    ...(raw === undefined ? [] : [raw]),
    ...(reported === undefined ? [] : [reported]),
  )
  place.classList.toggle('failed', hasFailed)
  const said = check === undefined ? '' : `, ${check.word}`
  say(
    hasFailed ? `The tool failed: ${clip(mainText(result), 200)}` : `Result after ${durationText(ms)}${said}`,
  )
}

/** Each part in the form that people read it in, and all of it as JSON. */
function readable(result: Json, shown: Shown): HTMLElement[] {
  const { content, contents, messages, structuredContent } = result
  const structured = sourceOf(result, 'structuredContent')
  const isTwice = repeats(content, structuredContent, structured)
  const label = isTwice ? ', also sent as text' : ''
  return [
    ...degraded(result),
    ...(isTwice ? [] : asList(content).slice(0, MAX_BLOCKS))
      .concat(asList(contents).slice(0, MAX_BLOCKS))
      .map((given) => block(given, shown)),
    ...asList(messages)
      .slice(0, MAX_BLOCKS)
      .map((given) => message(given, shown)),
    ...(structuredContent === undefined
      ? []
      : [
          element('h4', {}, 'structuredContent', element('small', {}, label)),
          sourceCode(structured, structuredContent, 'Structured content'),
        ]),
    details('The whole result as JSON', sourceCode(sourceOf(result), result, 'The whole result')),
  ]
}

/** Whether the content is only the JSON of `structuredContent` as text, for clients that do not read that. */
function repeats(content: unknown, structured: unknown, source: string | undefined): boolean {
  const [first, ...others] = asList(content)
  const { type, text } = asObject(first)
  if (structured === undefined || others.length > 0 || type !== 'text' || typeof text !== 'string')
    return false
  const json = indented(text)
  return json !== undefined && json === indented(source ?? '')
}

function hasJson({ structuredContent, content, contents }: Json): boolean {
  const texts = [...asList(content), ...asList(contents)].map((given) => asText(asObject(given).text) ?? '')
  return structuredContent !== undefined || texts.some((text) => indented(text) !== undefined)
}

/** Chooses between two views of a result. */
function formats(pretty: HTMLElement, raw: HTMLElement): HTMLElement {
  const show = (wanted: boolean): void => {
    isRaw = wanted
    pretty.hidden = isRaw
    raw.hidden = !isRaw
  }
  const name = nextId()
  const choice = (label: string, wanted: boolean): HTMLElement => {
    const input = element('input', { type: 'radio', name })
    input.checked = wanted === isRaw
    input.addEventListener('change', () => show(wanted))
    return element('label', {}, input, label)
  }
  show(isRaw)
  const legend = element('legend', { class: 'away' }, 'Show the result')
  return element('fieldset', { class: 'seg' }, legend, choice('Pretty', false), choice('Raw', true))
}

export function showCancelled(place: HTMLElement, { ms, say, again, reported }: Shown): void {
  place.replaceChildren(
    heading(
      'Cancelled',
      durationText(ms),
      element('span', { class: 'grow' }),
      again && button('Call again', again),
    ),
    ...(reported === undefined ? [] : [reported]),
  )
  say('Cancelled')
}

export function showProblem(place: HTMLElement, error: unknown, shown: Shown): void {
  const { ms, say, again, reported, endpoint } = shown
  const hasTrouble = isDown(error) || isA(error, NoMessage)
  const trouble = hasTrouble ? troubleOf(error, endpoint) : undefined
  const { title, reason } = trouble ?? { title: 'The call failed', reason: explain(error) }
  place.replaceChildren(
    heading(
      title,
      durationText(ms),
      element('span', { class: 'grow' }),
      again && button('Call again', again),
      copyButton('Copy error', () => reason, say),
    ),
    ...(trouble === undefined ? [code(reason, 'The reason'), ...visits(error)] : troubleText(trouble)),
    ...(reported === undefined ? [] : [reported]),
  )
  place.classList.add('failed')
  say(`${title}: ${clip(reasonOf(error), 200)}`)
}

function heading(title: string, facts: string, ...others: (HTMLElement | undefined)[]): HTMLElement {
  return element(
    'div',
    { class: 'line' },
    element('h3', {}, title),
    element('span', { class: 'soft mono' }, facts),
    ...others,
  )
}

/** What somebody who copies a result wants: its data, or else its text, or else all of it. */
function mainText(result: Json): string {
  const { structuredContent, content, contents } = result
  const texts = [...asList(content), ...asList(contents)].map((given) => asText(asObject(given).text))
  const isError = result.isError === true
  if (structuredContent !== undefined && !isError) {
    const source = sourceOf(result, 'structuredContent')
    return (source !== undefined && LONG_NUMBER.test(source) ? source : wholeJson(structuredContent)) ?? ''
  }
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
    const { say, endpoint } = shown
    const own = (): Shown => ({ ms: performance.now() - started, say, endpoint, read })
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

/** Shows a server's answer: a readable form first, the whole JSON below. */
import { isA } from '../../../src/definition/error-text.ts'
import { explain } from './client.ts'
import { code, details, element, outsideLink } from './dom.ts'
import { RpcError } from './exchange.ts'
import { asList, asObject, asText, isObject, type Json, pretty } from './json.ts'

/** Formats that cannot hold a script. */
const PICTURE = /^image\/(?:png|jpeg|gif|webp|avif)$/
const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}$/
const MAX_BLOCKS = 100

export function showResult(place: HTMLElement, result: Json): void {
  const isError = result.isError === true
  place.replaceChildren(
    element('h3', {}, isError ? 'The tool failed' : 'Result'),
    ...degraded(result),
    ...asList(result.content).slice(0, MAX_BLOCKS).map(block),
    ...asList(result.contents).slice(0, MAX_BLOCKS).map(block),
    ...asList(result.messages).slice(0, MAX_BLOCKS).map(message),
    ...(result.structuredContent === undefined
      ? []
      : [
          element('h4', {}, 'structuredContent'),
          code(pretty(result.structuredContent), 'Structured content'),
        ]),
    details('All of it', code(pretty(result), 'The whole result')),
  )
  place.classList.toggle('failed', isError)
}

export function showProblem(place: HTMLElement, error: unknown): void {
  place.replaceChildren(element('h3', {}, 'No result'), code(explain(error), 'The reason'), ...visits(error))
  place.classList.add('failed')
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

function message(given: unknown): HTMLElement {
  const { role, content } = asObject(given)
  return element('div', { class: 'message' }, element('h4', {}, asText(role) ?? 'message'), block(content))
}

function block(given: unknown): HTMLElement {
  const outer = asObject(given)
  const { type, text, mimeType, uri, data, blob, name } = isObject(outer.resource) ? outer.resource : outer
  const at = asText(uri) === undefined ? undefined : element('p', {}, element('code', {}, String(uri)))
  const picture = asText(data) ?? asText(blob)
  if (picture !== undefined && PICTURE.test(String(mimeType)) && BASE64.test(picture)) {
    const image = element('img', {
      src: `data:${String(mimeType)};base64,${picture}`,
      alt: asText(name) ?? 'The picture',
    })
    return element('div', {}, at, image)
  }
  if (asText(text) !== undefined) return element('div', {}, at, code(String(text), 'Text'))
  if (type === 'resource_link')
    return element('p', {}, asText(name) ?? '', ' ', outsideLink(asText(uri) ?? ''))
  return element('div', {}, at, code(pretty(given), 'Content'))
}

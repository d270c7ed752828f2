/** What the server offers, as a list of buttons with a filter. */
import { isA } from '../../../src/definition/error-text.ts'
import type { Client } from './client.ts'
import { button, element, nextId } from './dom.ts'
import { RpcError } from './exchange.ts'
import { asObject, clip, isObject, type Json } from './json.ts'
import { type Kind, titleOf } from './panels.ts'

const LISTS = [
  { kind: 'tool', heading: 'Tools', method: 'tools/list', member: 'tools', capability: 'tools' },
  {
    kind: 'resource',
    heading: 'Resources',
    method: 'resources/list',
    member: 'resources',
    capability: 'resources',
  },
  {
    kind: 'template',
    heading: 'Resource templates',
    method: 'resources/templates/list',
    member: 'resourceTemplates',
    capability: 'resources',
  },
  { kind: 'prompt', heading: 'Prompts', method: 'prompts/list', member: 'prompts', capability: 'prompts' },
] as const

export interface Offer {
  readonly kind: Kind
  readonly item: Json
}

/** All lists of the server's capabilities. Rejects if one fails, unless its method is unknown. */
export async function readOffers(client: Client, described: Json, signal: AbortSignal): Promise<Offer[]> {
  const capabilities = asObject(described.capabilities)
  const lists = LISTS.filter(({ capability }) => isObject(capabilities[capability]))
  const read = lists.map(async ({ kind, method, member }) => {
    try {
      const items = await client.list(method, member, signal)
      return items.map((item) => ({ kind, item }))
    } catch (error) {
      if (isA(error, RpcError) && error.code === -32601) return []
      throw error
    }
  })
  return (await Promise.all(read)).flat()
}

/** Shows the offers; `onPick` is called for the one that the user chooses. Returns a function that picks the first. */
export function showCatalogue(
  place: HTMLElement,
  offers: readonly Offer[],
  onPick: (offer: Offer) => void,
): { readonly pick: (name: string | undefined) => void } {
  const filter = element('input', { type: 'search', id: nextId(), autocomplete: 'off' })
  const buttons = new Map<HTMLButtonElement, Offer>()
  const pick = (chosen: HTMLButtonElement): void => {
    for (const node of buttons.keys()) node.removeAttribute('aria-current')
    chosen.setAttribute('aria-current', 'true')
    onPick(buttons.get(chosen)!)
  }
  const groups = LISTS.flatMap(({ kind, heading }) => {
    const own = offers.filter((offer) => offer.kind === kind)
    if (own.length === 0) return []
    const rows = own.map((offer) => {
      const node: HTMLButtonElement = button(clip(titleOf(kind, offer.item), 300), () => pick(node))
      buttons.set(node, offer)
      return element('li', {}, node)
    })
    return [
      element('section', {}, element('h2', {}, `${heading} (${own.length})`), element('ul', {}, ...rows)),
    ]
  })
  filter.addEventListener('input', () => {
    const wanted = filter.value.toLowerCase()
    for (const node of buttons.keys())
      node.parentElement!.hidden = !node.textContent.toLowerCase().includes(wanted)
  })
  const search = element('div', { class: 'field' }, element('label', { for: filter.id }, 'Filter'), filter)
  place.replaceChildren(...(offers.length > 8 ? [search] : []), ...groups)
  if (groups.length === 0) place.append(element('p', {}, 'The server offers nothing to this client.'))
  return {
    pick: (name) => {
      const nodes = [...buttons.keys()]
      const same = nodes.find((node) => node.textContent === name)
      const chosen = same ?? nodes[0]
      if (chosen !== undefined) pick(chosen)
    },
  }
}

/** Creates elements. Text from a server only becomes text nodes; attribute names always come from this page. */
import { clip } from './json.ts'

export type Child = Node | string | undefined

type Attributes = { readonly [name: string]: string | undefined }

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const node = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) node.setAttribute(name, value)
  node.append(...children.filter((child) => child !== undefined).map(toNode))
  return node
}

function toNode(child: Node | string): Node {
  return typeof child === 'string' ? document.createTextNode(clip(child)) : child
}

export function button(label: string, onClick: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const node = element('button', { type: 'button', ...attributes }, label)
  node.addEventListener('click', onClick)
  return node
}

/** Copies `text` when `node` is clicked, and says so in its label for two seconds. */
export function onCopy(
  node: HTMLButtonElement,
  text: () => string,
  say: (text: string) => void = () => {},
): void {
  const label = node.textContent
  let timer: ReturnType<typeof setTimeout> | undefined
  const show = (said: string): void => {
    say(said)
    node.textContent = said
    clearTimeout(timer)
    timer = setTimeout(() => {
      node.textContent = label
    }, 2000)
  }
  node.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text())
      show('Copied')
    } catch {
      // The browser refuses, or there is no text.
      show('Not copied')
    }
  })
}

export function details(summary: string, ...children: readonly Child[]): HTMLDetailsElement {
  return element('details', {}, element('summary', {}, summary), ...children)
}

/** Text that scrolls sideways can be scrolled with the keyboard. */
export function code(text: string, label: string): HTMLPreElement {
  return element('pre', { tabindex: '0', role: 'group', 'aria-label': label }, text)
}

/** Lines of a source file with a caret below a place: not wrapped. */
export function frame(text: string, label: string): HTMLPreElement {
  const node = code(text, label)
  node.classList.add('frame')
  return node
}

let ids = 0
export function nextId(): string {
  return `m${++ids}`
}

/** An element of the page's own markup. */
export function part<Type extends HTMLElement = HTMLElement>(id: string): Type {
  const node = document.getElementById(id)
  if (node === null) throw new Error(`the page has no #${id}`)
  return node as Type
}

/** For a page that was opened without its token. */
export function openAgain(): HTMLElement[] {
  return [
    element('h2', {}, 'Open the URL shown in the terminal'),
    element('p', {}, 'This page works only with the token in that URL, so that no other page can use it.'),
  ]
}

/** Whether a URL from a server is safe to open: https, or http on this machine, without a misleading host. */
export function mayVisit(text: string): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isOnThisMachine(url))
}

export function isOnThisMachine({ hostname }: URL): boolean {
  return /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}

/** A URL from a server as a browser opens it, with the ASCII form of its host: `https://xn--pple-43d.com/`. Other text is unchanged. */
export function asOpened(text: string): string {
  return URL.canParse(text) ? new URL(text).href : text
}

/** A link that opens in another tab without a referrer or opener; plain text for other URLs. */
export function outsideLink(text: string): HTMLElement {
  const url = asOpened(text)
  if (!mayVisit(url)) return element('code', {}, url)
  return element('a', { href: url, target: '_blank', rel: 'noopener noreferrer' }, url)
}

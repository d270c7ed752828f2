/** The keys of the page: `/` filters, Ctrl+Enter calls or answers, Esc leaves. Below 45rem, its three tabs. */

export interface KeyHooks {
  readonly filter: () => void
  readonly call: () => void
  readonly leave: () => void
}

export function listenToKeys({ filter, call, leave }: KeyHooks): void {
  addEventListener('keydown', (event) => {
    const { key, ctrlKey, metaKey, altKey, target, defaultPrevented, isComposing } = event
    if (defaultPrevented || isComposing) return
    const isTyping = target instanceof Element && target.matches('input,textarea,select')
    if (key === 'Enter' && (ctrlKey || metaKey)) {
      event.preventDefault()
      call()
    } else if (key === 'Escape') {
      event.preventDefault()
      leave()
    } else if (key === '/' && !ctrlKey && !metaKey && !altKey && !isTyping) {
      event.preventDefault()
      filter()
    }
  })
}

export type Tab = 'rail' | 'work' | 'wire'

/** In a wide window all three are shown. */
export function goTo(tab: Tab): void {
  document.querySelector('main')!.dataset.tab = tab
  for (const node of tabButtons()) node.setAttribute('aria-current', String(node.dataset.go === tab))
}

export function listenToTabs(): void {
  for (const node of tabButtons()) node.addEventListener('click', () => goTo(node.dataset.go as Tab))
}

function tabButtons(): NodeListOf<HTMLButtonElement> {
  return document.querySelectorAll<HTMLButtonElement>('#tabs button')
}

/** Moves the focus among `nodes` by the arrow keys, Home and End; only one of them is reached by Tab. */
export function moveByArrows(event: KeyboardEvent, nodes: readonly HTMLElement[]): void {
  const at = nodes.indexOf(document.activeElement as HTMLElement)
  const to = {
    ArrowDown: at + 1,
    ArrowRight: at + 1,
    ArrowUp: at - 1,
    ArrowLeft: at - 1,
    Home: 0,
    End: nodes.length - 1,
  }[event.key]
  const node = to === undefined ? undefined : nodes[to]
  if (node === undefined) return
  event.preventDefault()
  node.focus()
}

/** Makes `chosen` the one of `nodes` that Tab reaches. */
export function rove(nodes: Iterable<HTMLElement>, chosen: HTMLElement | undefined): void {
  for (const node of nodes) node.tabIndex = node === chosen ? 0 : -1
}

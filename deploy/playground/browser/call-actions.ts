/** The buttons of a call in its run bar: copy it in several forms, or save it. */
import { type Draft, toCurl, toJson, toTypeScript } from './call-text.ts'
import { copyButton } from './copy-button.ts'
import { button, element } from './dom.ts'

export interface CallActions {
  /** The request that the form would send. Throws if the form is invalid. */
  readonly draft: () => Draft
  readonly save: () => void
  /** For screen readers. */
  readonly say: (text: string) => void
}

export function createCallActions({ draft, save, say }: CallActions): HTMLElement[] {
  const forms = [
    copyButton('curl', () => toCurl(draft()), say),
    copyButton('TypeScript (MCPClient)', () => toTypeScript(draft()) ?? '', say),
    copyButton('JSON', () => toJson(draft()), say),
  ]
  const note = 'Instead of a token, it has a variable.'
  return [
    element(
      'details',
      { class: 'menu', name: 'menu' },
      element('summary', {}, 'Copy as'),
      element('div', { class: 'panel' }, ...forms, element('p', { class: 'hint' }, note)),
    ),
    button('Save', save),
  ]
}

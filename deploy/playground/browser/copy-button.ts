/** A button that copies a text. */
import { button, onCopy } from './dom.ts'

/** @param toText may throw: then nothing is copied, as of a form that is not valid yet. */
export function copyButton(
  label: string,
  toText: () => string,
  say: (text: string) => void,
  attributes: { readonly [name: string]: string } = {},
): HTMLButtonElement {
  const node = button(label, () => {}, attributes)
  onCopy(node, toText, say)
  return node
}

/** Cuts text that has no better place to end. */

/** Into parts of at most `size`: after a line if that leaves half of it, otherwise after a blank, otherwise between two characters. */
export function cut(text: string, size: number): string[] {
  const parts: string[] = []
  let from = 0
  while (text.length - from > size) {
    const part = text.slice(from, from + size)
    const at = [part.lastIndexOf('\n'), part.lastIndexOf(' ')].find((found) => found >= size / 2)
    const isPair = /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(from + size - 1, from + size + 1))
    const end = from + (at === undefined ? size - (isPair ? 1 : 0) : at + 1)
    parts.push(text.slice(from, end))
    from = end
  }
  parts.push(text.slice(from))
  return parts
}

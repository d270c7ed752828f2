/** Parts of a page that a script writes, between two comments. */

/**
 * `page` with `text` between `<!-- name:begin -->` and `<!-- name:end -->`.
 *
 * @throws Error where one of them is missing.
 */
export function withMarked(page: string, name: string, text: string): string {
  const [first, last] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`]
  const [begin, end] = [page.indexOf(first), page.indexOf(last)]
  if (begin < 0 || end < begin) throw new Error(`The page needs the lines "${first}" and "${last}".`)
  return `${page.slice(0, begin + first.length)}\n\n${text}\n\n${page.slice(end)}`
}

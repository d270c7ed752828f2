/**
 * What a URI template matches, said in the plainest way: every end of every value is tried, the longest first. Takes exponential
 * time, so for short URIs alone.
 */

interface Operator {
  readonly prefix: string
  readonly separator: string
  readonly value: RegExp
  readonly isNamed?: true
}

const SIMPLE: Operator = { prefix: '', separator: ',', value: /[^/?#&,=;]/ }
const OPERATORS: { readonly [operator: string]: Operator } = {
  '+': { prefix: '', separator: ',', value: /[^?#]/ },
  '#': { prefix: '#', separator: ',', value: /./ },
  '.': { prefix: '.', separator: '.', value: /[^/?#&,=;.]/ },
  '/': { prefix: '/', separator: '/', value: /[^/?#&,=;]/ },
  ';': { prefix: ';', separator: ';', value: /[^/?#&,=;]/, isNamed: true },
  '?': { prefix: '?', separator: '&', value: /[^&#]/, isNamed: true },
  '&': { prefix: '&', separator: '&', value: /[^&#]/, isNamed: true },
}

type Part =
  | { readonly literal: string }
  | { readonly variable: string; readonly operator: Operator; readonly isFirst: boolean }

export type Variables = { readonly [name: string]: string }

/** The variables of `uri`, percent-decoded; undefined where the template does not match it. */
export function matchSlowly(template: string, uri: string): Variables | undefined {
  const found = matchFrom(partsOf(template), uri, false)
  if (found === undefined) return undefined
  try {
    return Object.fromEntries(Object.entries(found).map(([name, value]) => [name, decodeURIComponent(value)]))
  } catch {
    return undefined
  }
}

function partsOf(template: string): Part[] {
  return template.split(/(\{[^{}]*\})/).flatMap((text): Part[] => {
    if (text === '') return []
    if (!text.startsWith('{')) return [{ literal: text }]
    const operator = OPERATORS[text[1]!] ?? SIMPLE
    const names = text.slice(operator === SIMPLE ? 1 : 2, -1).split(',')
    return names.map((name, index) => ({
      variable: name.trim().replace(/(\*|:\d+)$/, ''),
      operator,
      isFirst: index === 0,
    }))
  })
}

/** @param hasNamed whether a named variable of the expression that `parts` continues has matched. */
function matchFrom([part, ...rest]: readonly Part[], uri: string, hasNamed: boolean): Variables | undefined {
  if (part === undefined) return uri === '' ? {} : undefined
  if ('literal' in part) {
    return uri.startsWith(part.literal) ? matchFrom(rest, uri.slice(part.literal.length), false) : undefined
  }
  const { variable, operator, isFirst } = part
  if (operator.isNamed) return matchNamed(part, rest, uri, hasNamed)
  const lead = isFirst ? operator.prefix : operator.separator
  if (!uri.startsWith(lead)) return undefined
  return tryEnds(uri.slice(lead.length), operator, 1, variable, (left) => matchFrom(rest, left, false))
}

/** A named variable is left out where it is undefined, and `name` alone is an empty one. */
function matchNamed(
  { variable, operator, isFirst }: Exclude<Part, { literal: string }>,
  rest: readonly Part[],
  uri: string,
  hasNamed: boolean,
): Variables | undefined {
  const lead = (hasNamed && !isFirst ? operator.separator : operator.prefix) + variable
  const after = uri.startsWith(lead) ? uri.slice(lead.length) : undefined
  const found =
    after === undefined
      ? undefined
      : after.startsWith('=')
        ? tryEnds(after.slice(1), operator, 0, variable, (left) => matchFrom(rest, left, true))
        : tryEnds('', operator, 0, variable, () => matchFrom(rest, after, true))
  return found ?? matchFrom(rest, uri, hasNamed && !isFirst)
}

function tryEnds(
  uri: string,
  { value }: Operator,
  least: number,
  variable: string,
  matchRest: (left: string) => Variables | undefined,
): Variables | undefined {
  let end = 0
  while (end < uri.length && value.test(uri[end]!)) end++
  for (; end >= least; end--) {
    const found = matchRest(uri.slice(end))
    if (found !== undefined) return { [variable]: uri.slice(0, end), ...found }
  }
  return undefined
}

/**
 * RFC 6570 URI templates: which URIs one matches, with which variables. Levels 1 to 3 and the `*` and `:n` modifiers
 * are read. A value reaches as far as the rest of the template allows.
 */

export interface UriTemplate {
  readonly template: string
  readonly variables: readonly string[]
  /** The variables of `uri`, percent-decoded, or undefined where it does not match. */
  match(uri: string): Record<string, string> | undefined
}

/** Longer URIs match nothing: matching takes time with the square of the length. */
const MAX_URI_LENGTH = 2048

interface Operator {
  readonly prefix: string
  readonly separator: string
  /** One character of a value. */
  readonly value: RegExp
  /** `?name=value`, and absent where it is undefined. */
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

/** A literal, or a variable with the text before it. */
interface Part {
  readonly lead: string
  /** The text before it where a variable of the same expression came first. */
  readonly laterLead: string
  readonly variable?: string
  readonly operator?: Operator
}

/**
 * Parses a template once.
 *
 * @throws TypeError for an unclosed or empty expression, or a variable named twice.
 */
export function compileUriTemplate(template: string): UriTemplate {
  const parts: Part[] = []
  const addLiteral = (lead: string): void => {
    if (/[{}]/.test(lead)) throw new TypeError(`URI template ${template} has a brace without its partner.`)
    if (lead !== '') parts.push({ lead, laterLead: lead })
  }
  let position = 0
  for (const expression of template.matchAll(/\{([^{}]*)\}/g)) {
    addLiteral(template.slice(position, expression.index))
    parts.push(...expressionParts(expression[1]!, template))
    position = expression.index + expression[0].length
  }
  addLiteral(template.slice(position))
  const variables = parts.flatMap(({ variable }) => variable ?? [])
  if (new Set(variables).size !== variables.length) {
    throw new TypeError(`URI template ${template} names a variable twice.`)
  }
  return {
    template,
    variables,
    match(uri) {
      const found = uri.length > MAX_URI_LENGTH ? undefined : matchParts(parts, uri)
      return found && decodeVariables(variables, found)
    },
  }
}

function expressionParts(expression: string, template: string): Part[] {
  const operator = OPERATORS[expression[0] ?? ''] ?? SIMPLE
  const { prefix, separator, isNamed } = operator
  const list = operator === SIMPLE ? expression : expression.slice(1)
  return list.split(',').map((item, index) => {
    const variable = item.trim().replace(/(\*|:\d+)$/, '')
    if (!/^[\w.%-]+$/.test(variable)) {
      throw new TypeError(`URI template ${template} has an expression that is not RFC 6570: {${expression}}.`)
    }
    const name = isNamed ? variable : ''
    const lead = (index === 0 || isNamed ? prefix : separator) + name
    return { lead, laterLead: index === 0 ? lead : separator + name, variable, operator }
  })
}

/**
 * The longest value for each variable from the left, as a regular expression would find them; but what failed once is
 * not tried again, so no URI makes it take exponential or cubic time.
 */
function matchParts(parts: readonly Part[], uri: string): Map<string, string> | undefined {
  const values = new Map<string, string>()
  const { length } = uri
  const failed = new Uint8Array(parts.length * 2 * (length + 1))

  /** @param isLater whether a named variable of the expression that `index` is in has matched. */
  const matches = (index: number, offset: number, isLater: boolean): boolean => {
    if (index === parts.length) return offset === length
    const state = (index * 2 + Number(isLater)) * (length + 1) + offset
    if (failed[state] === 1) return false
    const { lead, laterLead, variable, operator } = parts[index]!
    const isNamed = operator?.isNamed === true
    const text = isLater ? laterLead : lead
    if (uri.startsWith(text, offset)) {
      const afterLead = offset + text.length
      const start = isNamed && uri[afterLead] === '=' ? afterLead + 1 : afterLead
      let end = start
      // A name without "=" has no value, and must not be the beginning of a longer name.
      if (operator !== undefined && (!isNamed || start > afterLead)) {
        while (end < length && operator.value.test(uri[end]!)) end++
      }
      const least = operator === undefined || isNamed ? start : start + 1
      for (; end >= least; end--) {
        if (!matches(index + 1, end, isNamed)) continue
        if (variable !== undefined) values.set(variable, uri.slice(start, end))
        return true
      }
    }
    // RFC 6570 leaves out undefined variables.
    if (isNamed && matches(index + 1, offset, isLater && lead !== laterLead)) return true
    failed[state] = 1
    return false
  }

  return matches(0, 0, false) ? values : undefined
}

function decodeVariables(
  variables: readonly string[],
  found: ReadonlyMap<string, string>,
): Record<string, string> | undefined {
  const values: Record<string, string> = Object.create(null)
  for (const name of variables) {
    const value = found.get(name)
    if (value === undefined) continue
    try {
      values[name] = decodeURIComponent(value)
    } catch {
      return undefined // a broken percent-encoding is no URI
    }
  }
  return values
}

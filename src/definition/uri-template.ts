/**
 * RFC 6570 URI templates: which URIs one matches, with which variables. Levels 1 to 3 and the `*` and `:n` modifiers
 * are read; matching never backtracks over more than one path segment for a simple expression.
 */

export interface UriTemplate {
  readonly template: string
  readonly variables: readonly string[]
  /** The variables of `uri`, percent-decoded, or undefined where it does not match. */
  match(uri: string): Record<string, string> | undefined
}

/** Longer URIs match nothing: an attacker's megabyte never meets a regular expression. */
const MAX_URI_LENGTH = 4096

interface Operator {
  readonly prefix: string
  readonly separator: string
  readonly value: string
  readonly isNamed: boolean
}

const SIMPLE: Operator = { prefix: '', separator: ',', value: '[^/?#&,=;]+', isNamed: false }
const OPERATORS: { readonly [operator: string]: Operator } = {
  '+': { prefix: '', separator: ',', value: '[^?#]+', isNamed: false },
  '#': { prefix: '#', separator: ',', value: '.+', isNamed: false },
  '.': { prefix: '.', separator: '.', value: '[^/?#&,=;.]+', isNamed: false },
  '/': { prefix: '/', separator: '/', value: '[^/?#&,=;]+', isNamed: false },
  ';': { prefix: ';', separator: ';', value: '[^/?#&,=;]*', isNamed: true },
  '?': { prefix: '?', separator: '&', value: '[^&#]*', isNamed: true },
  '&': { prefix: '&', separator: '&', value: '[^&#]*', isNamed: true },
}

/**
 * Parses a template once.
 *
 * @throws TypeError for an unclosed or empty expression, or a variable named twice.
 */
export function compileUriTemplate(template: string): UriTemplate {
  const variables: string[] = []
  let pattern = ''
  let position = 0
  for (const expression of template.matchAll(/\{([^{}]*)\}/g)) {
    pattern += escapeLiteral(template.slice(position, expression.index), template)
    pattern += expressionPattern(expression[1]!, template, variables)
    position = expression.index + expression[0].length
  }
  pattern += escapeLiteral(template.slice(position), template)
  if (new Set(variables).size !== variables.length) {
    throw new TypeError(`URI template ${template} names a variable twice.`)
  }
  const expression = new RegExp(`^${pattern}$`)
  return {
    template,
    variables,
    match(uri) {
      if (uri.length > MAX_URI_LENGTH) return undefined
      const found = expression.exec(uri)
      return found === null ? undefined : decodeVariables(variables, found)
    },
  }
}

function expressionPattern(expression: string, template: string, variables: string[]): string {
  const operator = OPERATORS[expression[0] ?? ''] ?? SIMPLE
  const list = operator === SIMPLE ? expression : expression.slice(1)
  const names = list.split(',').map((name) => name.trim().replace(/(\*|:\d+)$/, ''))
  if (names.some((name) => !/^[\w.%-]+$/.test(name))) {
    throw new TypeError(`URI template ${template} has an expression that is not RFC 6570: {${expression}}.`)
  }
  variables.push(...names)
  const prefix = escapeRegExp(operator.prefix)
  const separator = escapeRegExp(operator.separator)
  if (!operator.isNamed) {
    return prefix + names.map(() => `(${operator.value})`).join(separator)
  }
  // Query parameters may be absent: RFC 6570 leaves out undefined variables.
  return names
    .map(
      (name, index) => `(?:${index === 0 ? prefix : separator}${escapeRegExp(name)}=?(${operator.value}))?`,
    )
    .join('')
}

function decodeVariables(
  variables: readonly string[],
  found: RegExpExecArray,
): Record<string, string> | undefined {
  const values: Record<string, string> = Object.create(null)
  for (const [index, name] of variables.entries()) {
    const value = found[index + 1]
    if (value === undefined) continue
    try {
      values[name] = decodeURIComponent(value)
    } catch {
      return undefined // a broken percent-encoding is no URI
    }
  }
  return values
}

function escapeLiteral(literal: string, template: string): string {
  if (/[{}]/.test(literal)) throw new TypeError(`URI template ${template} has a brace without its partner.`)
  return escapeRegExp(literal)
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
}

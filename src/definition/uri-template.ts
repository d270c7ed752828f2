/**
 * RFC 6570 URI templates: which URIs a template matches, and with which variables. Supports levels 1 to 3 and the `*` and `:n`
 * modifiers. A value is as long as the rest of the template allows.
 */
import { EXPRESSION, templateVariables, variableOf } from './template-variables.ts'

export interface UriTemplate {
  readonly template: string
  readonly variables: readonly string[]
  /** The variables of `uri`, percent-decoded; undefined if it does not match. */
  match(uri: string): Record<string, string> | undefined
  /** A URI that matches, with a mark before each value. */
  withMarks(uri: string, mark: string): string
}

/** Maximum characters; longer URIs match nothing. */
const MAX_URI_LENGTH = 2048

interface Operator {
  readonly prefix: string
  readonly separator: string
  /** The characters that end a value. */
  readonly stops: string
  /** Written as `?name=value`, and omitted if undefined. */
  readonly isNamed?: true
}

const SIMPLE: Operator = { prefix: '', separator: ',', stops: '/?#&,=;' }
const OPERATORS: { readonly [operator: string]: Operator } = {
  '+': { prefix: '', separator: ',', stops: '?#' },
  '#': { prefix: '#', separator: ',', stops: '\n\r\u2028\u2029' },
  '.': { prefix: '.', separator: '.', stops: '/?#&,=;.' },
  '/': { prefix: '/', separator: '/', stops: '/?#&,=;' },
  ';': { prefix: ';', separator: ';', stops: '/?#&,=;', isNamed: true },
  '?': { prefix: '?', separator: '&', stops: '&#', isNamed: true },
  '&': { prefix: '&', separator: '&', stops: '&#', isNamed: true },
}

const compiled = new WeakMap<object, UriTemplate>()

/** That of a resource, parsed at its first use. */
export function templateOf(config: { readonly uriTemplate: string }): UriTemplate {
  const known = compiled.get(config)
  if (known !== undefined) return known
  const made = compileUriTemplate(config.uriTemplate)
  compiled.set(config, made)
  return made
}

/** As a table, since each character of a URI is looked up. */
function toStops(characters: string): Uint8Array {
  const codes = Array.from(characters, (character) => character.charCodeAt(0))
  const stops = new Uint8Array(Math.max(0, ...codes) + 1)
  for (const code of codes) stops[code] = 1
  return stops
}

/** A literal, or a variable with the text before it. */
interface Part {
  readonly lead: string
  /** The text before the variable if another one of the same expression precedes it. */
  readonly laterLead: string
  readonly variable?: string
  readonly operator?: Operator
}

/** A part, as matched against a URI. `next` and `without` are indexes of the steps that may follow, which come earlier; 0 is the end. */
interface Step {
  readonly text: string
  readonly variable: string | undefined
  readonly operator: Operator | undefined
  /** By character code: 1 for those that end a value. Others may not be in it. */
  readonly stops: Uint8Array
  readonly next: number
  /** The step that follows if the variable is undefined: RFC 6570 omits named ones. */
  readonly without: number | undefined
}

/**
 * Parses a template once.
 *
 * @throws TypeError for an unclosed or empty expression, or a variable named twice.
 */
export function compileUriTemplate(template: string): UriTemplate {
  const variables = templateVariables(template)
  const parts: Part[] = []
  const addLiteral = (lead: string): void => {
    if (lead !== '') parts.push({ lead, laterLead: lead })
  }
  let position = 0
  for (const expression of template.matchAll(EXPRESSION)) {
    addLiteral(template.slice(position, expression.index))
    parts.push(...expressionParts(expression[1]!))
    position = expression.index + expression[0].length
  }
  addLiteral(template.slice(position))
  const steps = toSteps(parts)
  return {
    template,
    variables,
    match(uri) {
      const values = uri.length > MAX_URI_LENGTH ? undefined : matchSteps(steps, uri)
      return values && decoded(values, uri)
    },
    withMarks(uri, mark) {
      const values = uri.length > MAX_URI_LENGTH ? undefined : matchSteps(steps, uri)
      const starts = (values ?? []).map(({ start }) => start)
      return [0, ...starts].map((start, at) => uri.slice(start, starts[at])).join(mark)
    },
  }
}

function expressionParts(expression: string): Part[] {
  const operator = OPERATORS[expression[0] ?? ''] ?? SIMPLE
  const { prefix, separator, isNamed } = operator
  const list = operator === SIMPLE ? expression : expression.slice(1)
  return list.split(',').map((item, index) => {
    const variable = variableOf(item)
    const name = isNamed ? variable : ''
    const lead = (index === 0 || isNamed ? prefix : separator) + name
    return { lead, laterLead: index === 0 ? lead : separator + name, variable, operator }
  })
}

/** From the last part to the first; two steps for a part with a text that depends on the parts before it. */
function toSteps(parts: readonly Part[]): readonly Step[] {
  const steps: Step[] = []
  let first = 0
  let later = 0
  for (const { lead, laterLead, variable, operator } of [...parts].reverse()) {
    const isNamed = operator?.isNamed === true
    const next = isNamed ? later : first
    const stops = toStops(operator?.stops ?? '')
    const add = (text: string, without: number): number =>
      steps.push({ text, variable, operator, stops, next, without: isNamed ? without : undefined })
    if (lead !== laterLead) later = add(laterLead, later)
    first = add(lead, first)
    if (lead === laterLead) later = first
  }
  return steps
}

/** By offset in the URI: 1 + the end of a step that begins there, or 0. An omitted step ends where it begins. */
type Ends = Uint16Array

/** A value as it is written in a URI. */
interface Value {
  readonly variable: string
  readonly start: number
  readonly end: number
}

/**
 * Finds the longest value for each variable from the left, as a regular expression would. First computes, from the last step to the
 * first, where each may end, so there is no backtracking: the time is linear in the length of the URI.
 */
function matchSteps(steps: readonly Step[], uri: string): readonly Value[] | undefined {
  if (!hasLiterals(steps, uri)) return undefined
  const ends: Ends[] = [new Uint16Array(uri.length + 1).fill(1, uri.length)]
  for (const step of steps) ends.push(endsOf(step, ends, uri))
  if (ends.at(-1)![0] === 0) return undefined
  const values: Value[] = []
  let offset = 0
  for (let at = steps.length; at > 0; ) {
    const step = steps[at - 1]!
    const end = ends[at]![offset]! - 1
    if (step.variable !== undefined && end > offset)
      values.push({ variable: step.variable, start: valueStart(step, offset, uri), end })
    at = end > offset ? step.next : step.without!
    offset = end
  }
  return values
}

/** Whether a URI has all literals of a template in their order: most templates are told apart by them, in much less time. */
function hasLiterals(steps: readonly Step[], uri: string): boolean {
  let from = 0
  for (let at = steps.length - 1; at >= 0; at--) {
    const { text, operator } = steps[at]!
    if (operator !== undefined) continue
    const found = at === steps.length - 1 ? (uri.startsWith(text) ? 0 : -1) : uri.indexOf(text, from)
    if (found === -1) return false
    from = found + text.length
  }
  const end = steps[0]
  return end?.operator !== undefined || uri.endsWith(end?.text ?? '')
}

function decoded(values: readonly Value[], uri: string): Record<string, string> | undefined {
  const variables: Record<string, string> = Object.create(null)
  try {
    for (const { variable, start, end } of values)
      variables[variable] = decodeURIComponent(uri.slice(start, end))
  } catch {
    return undefined // invalid percent-encoding
  }
  return variables
}

function endsOf(step: Step, ends: readonly Ends[], uri: string): Ends {
  const { text, operator, stops, next, without } = step
  const following = ends[next]!
  const own = new Uint16Array(uri.length + 1)
  if (operator === undefined) {
    for (let at = uri.indexOf(text); at !== -1; at = uri.indexOf(text, at + 1)) {
      const end = at + text.length
      if (following[end]! > 0) own[at] = end + 1
    }
    return own
  }
  const { isNamed } = operator
  const skipped = without === undefined ? undefined : ends[without]!
  const begin = text.charCodeAt(0)
  /** 1 + the farthest end of a value that begins at an offset, which may be empty. */
  const farthest = new Uint16Array(uri.length + 2)
  for (let offset = uri.length; offset >= 0; offset--) {
    const code = uri.charCodeAt(offset)
    const further = stops[code] === 1 ? 0 : farthest[offset + 1]!
    farthest[offset] = further > 0 || following[offset] === 0 ? further : offset + 1
    if (text === '' || (code === begin && uri.startsWith(text, offset))) {
      const start = valueStart(step, offset, uri)
      // A name without "=" has no value. It must not be the beginning of a longer name.
      const isBare = isNamed && start === offset + text.length
      const end = isBare ? (following[start]! > 0 ? start + 1 : 0) : farthest[start]!
      own[offset] = end === start + 1 && !isNamed ? 0 : end
    }
    if (own[offset] === 0 && skipped !== undefined && skipped[offset]! > 0) own[offset] = offset + 1
  }
  return own
}

/** The offset of the value in a step that begins at `offset`. */
function valueStart({ text, operator }: Step, offset: number, uri: string): number {
  const start = offset + text.length
  return operator?.isNamed && uri[start] === '=' ? start + 1 : start
}

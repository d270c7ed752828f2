/**
 * Whether policies allow a request, by the logic of the IAM policy simulator: an explicit denial wins, then any statement that allows.
 * Knows the elements and conditions that Mayfly's policies use, and throws at others.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
 */

export interface Policy {
  readonly Statement: readonly Statement[]
}

interface Statement {
  readonly Effect: 'Allow' | 'Deny'
  readonly Action: string | readonly string[]
  readonly Resource: string | readonly string[]
  readonly Condition?: { readonly [operator: string]: { readonly [key: string]: string | readonly string[] } }
}

export interface Request {
  readonly action: string
  readonly resource: string
  /** Values of condition keys. */
  readonly context?: { readonly [key: string]: string }
}

const ELEMENTS = ['Effect', 'Action', 'Resource', 'Condition', 'Sid']

export function isAllowed(policies: readonly Policy[], request: Request): boolean {
  const applying = policies
    .flatMap(({ Statement }) => Statement)
    .filter((statement) => applies(statement, request))
  return (
    applying.some(({ Effect }) => Effect === 'Allow') && applying.every(({ Effect }) => Effect === 'Allow')
  )
}

function applies(statement: Statement, { action, resource, context = {} }: Request): boolean {
  for (const element of Object.keys(statement))
    if (!ELEMENTS.includes(element)) throw new Error(`${element}: not known here`)
  return (
    // Names of actions are compared without regard to case, those of resources are not.
    list(statement.Action).some((pattern) => matches(pattern.toLowerCase(), action.toLowerCase())) &&
    list(statement.Resource).some((pattern) => matches(pattern, resource)) &&
    Object.entries(statement.Condition ?? {}).every(([operator, keys]) =>
      Object.entries(keys).every(([key, values]) => holds(operator, list(values), context[key])),
    )
  )
}

/** A key that the request does not have fulfils no condition. */
function holds(operator: string, values: readonly string[], actual: string | undefined): boolean {
  const compare = COMPARISONS[operator]
  if (compare === undefined) throw new Error(`${operator}: not known here`)
  return actual !== undefined && values.some((value) => compare(value, actual))
}

const COMPARISONS: { readonly [operator: string]: (value: string, actual: string) => boolean } = {
  StringEquals: (value, actual) => value === actual,
  StringLike: matches,
  // These two are the same: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html
  ArnEquals: matches,
  ArnLike: matches,
}

/** `*` is any text, `?` one character. A `*` also spans `/` and `:`. */
function matches(pattern: string, text: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*/g, '.*')
    .replace(/\?/g, '.')
  return new RegExp(`^${source}$`, 's').test(text)
}

const list = (value: string | readonly string[]): readonly string[] =>
  typeof value === 'string' ? [value] : value

/** URI templates against URIs: `[template, uri]`. */
import { isDeepStrictEqual } from 'node:util'
import { compileUriTemplate, type UriTemplate } from '../../../src/definition/uri-template.ts'
import { mutateText } from '../mutate.ts'
import { promise, type Target } from '../target.ts'

/** More expressions make matching slow, but clients cannot send templates. */
const MAX_EXPRESSIONS = 6

/** One character of a value, by operator; those whose variables have names are left to the checks that hold for all. */
const CLASSES: { readonly [operator: string]: readonly [prefix: string, separator: string, value: string] } =
  {
    '': ['', ',', '[^/?#&,=;]'],
    '+': ['', ',', '[^?#]'],
    '#': ['#', ',', '.'],
    '.': ['.', '.', '[^/?#&,=;.]'],
    '/': ['/', '/', '[^/?#&,=;]'],
  }

/** The template as the regular expression that the documentation describes. Undefined if it has operators with names. */
function toRegExp(template: string): RegExp | undefined {
  if (/\{[;?&]/.test(template)) return undefined
  const source = template.split(/(\{[^{}]*\})/).map((part) => {
    const expression = /^\{([+#./]?)(.*)\}$/s.exec(part)
    if (expression === null) return literal(part)
    const [prefix, separator, value] = CLASSES[expression[1]!]!
    const count = expression[2]!.split(',').length
    return Array.from(
      { length: count },
      (_, index) => `${literal(index === 0 ? prefix : separator)}(${value}+)`,
    ).join('')
  })
  return new RegExp(`^${source.join('')}$`)
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&').replaceAll('\n', '\\n')
}

function compile(template: string): UriTemplate | undefined {
  try {
    return compileUriTemplate(template)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

function decoded(value: string): string | undefined {
  try {
    return decodeURIComponent(value)
  } catch {
    return undefined
  }
}

function run([template, uri]: readonly string[]): string {
  if (template!.split('{').length > MAX_EXPRESSIONS + 1 || template!.split(',').length > MAX_EXPRESSIONS)
    return 'too long'
  const compiled = compile(template!)
  if (compiled === undefined) return 'no template'
  const found = compiled.match(uri!)
  if (found !== undefined) {
    promise(Object.getPrototypeOf(found) === null, 'the variables inherit')
    for (const name of Object.keys(found))
      promise(compiled.variables.includes(name), `${name} is no variable`)
  }
  const operators = new Set(template!.match(/\{[+#./;?&]?/g))
  const outcome = `${[...operators].sort().slice(0, 2)} ${found === undefined}`
  // A regular expression takes exponential time where ours must not.
  const pattern = uri!.length > 40 ? undefined : toRegExp(template!)
  if (pattern === undefined) return outcome
  const values = pattern.exec(uri!)?.slice(1).map(decoded)
  const expected = values?.includes(undefined) === false ? values : undefined
  const actual = found && compiled.variables.map((name) => found[name])
  promise(
    isDeepStrictEqual(actual, expected),
    `matched as ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`,
  )
  return outcome
}

const TEMPLATES = [
  ...[
    'users://{id}',
    'files://{+path}',
    'a{b}c{d}',
    'x{#y,z}',
    'x{.y}{.z}',
    '{/a,b*}',
    'm{;x,y}',
    'q{?text,limit:3}',
  ],
  ...['s{?a}{&b,c}', '{+a}/{b}', '{a}{b}{c}{d}', 'a%20{b}', '{}', '{a', 'a}', '{a,a}', '{__proto__}', '{!a}'],
]
const URIS = [
  ...[
    'users://1',
    'files://a/b%2Fc',
    'abcd',
    'x#1,2',
    'x.a.b',
    '/1/2',
    'm;x=1;y',
    'q?text=a&limit=2',
    's?a=1&c=2',
  ],
  ...[
    'users://%ff',
    'users://',
    'a'.repeat(2000),
    '%'.repeat(300),
    'a,'.repeat(600),
    'q?text',
    'q?textile=1',
    '',
  ],
]

export const uriTemplate: Target = {
  name: 'uri-template',
  seeds: [
    ...TEMPLATES.flatMap((template) => [URIS[0]!, URIS[2]!].map((uri) => [template, uri])),
    ...URIS.map((uri, index) => [TEMPLATES[index % TEMPLATES.length]!, uri]),
  ],
  generate: (random) => [
    random.pick(TEMPLATES) + random.pick(['', random.pick(TEMPLATES)]),
    random.pick(URIS),
  ],
  mutate: ([template, uri], [otherTemplate, otherUri], random) =>
    random.chance(0.5)
      ? [mutateText(template!, otherTemplate!, random).slice(0, 200), uri!]
      : [template!, mutateText(uri!, otherUri!, random)],
  run,
}

/** URI templates (RFC 6570): what is expanded matches again, and no URI takes long to refuse. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileUriTemplate } from '../../src/definition/uri-template.ts'
import { MCPServer } from '../../src/index.ts'
import { type Answer, answerOf, modernRequest } from './_client.ts'
import { check } from './_seeded.ts'
import { matchSlowly } from './_template-oracle.ts'

type Values = { readonly [variable: string]: string | undefined }

interface Expansion {
  readonly template: string
  readonly uri: string
  readonly values: Values
}

async function read(uriTemplate: string, uri: string): Promise<Answer> {
  const server = new MCPServer({
    id: 'templates',
    name: 'Templates',
    version: '1.0.0',
    log: false,
    resources: [{ uriTemplate, read: ({ variables }) => JSON.stringify(variables) }],
  })
  return answerOf(await server.fetch(modernRequest('resources/read', { params: { uri } })))
}

function variablesIn({ result }: Answer): unknown {
  return JSON.parse((result!.contents as { text: string }[])[0]!.text)
}

/** What RFC 6570 makes of a reserved character that `encodeURIComponent` leaves alone. */
const encode = (value: string): string =>
  encodeURIComponent(value).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16)}`)

const word = fc.stringMatching(/^[a-z0-9_-]{1,6}$/)
const text = fc
  .oneof(
    fc.string({ minLength: 1, maxLength: 12 }),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }),
  )
  .filter((value) => Buffer.from(value, 'utf8').toString('utf8') === value)

/** `/literal` and `/{variable}`, some of them as `{/variable}`. */
const segment = fc.oneof(
  word.map((literal) => ({ literal })),
  fc.record({ value: text, isPathStyle: fc.boolean() }),
)

/** What comes last: nothing, a path, a query of which some variables are undefined, or a fragment. */
const tail = fc.oneof(
  fc.constant({ template: '', uri: '', values: {} as Values }),
  fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => ({
    template: '/{+path}',
    uri: `/${words.join('/')}`,
    values: { path: words.join('/') } as Values,
  })),
  fc
    .record({
      q: fc.option(text, { nil: undefined }),
      qq: fc.option(text, { nil: undefined }),
      r: fc.option(text, { nil: undefined }),
    })
    .map((values: Values) => {
      const defined = Object.entries(values).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      )
      const query = defined.map(([name, value]) => `${name}=${encode(value)}`).join('&')
      return { template: '{?q,qq,r}', uri: query === '' ? '' : `?${query}`, values }
    }),
  word.map((fragment) => ({
    template: '{#part}',
    uri: `#${fragment}`,
    values: { part: fragment } as Values,
  })),
)

const expansion = fc
  .tuple(fc.array(segment, { minLength: 1, maxLength: 5 }), tail)
  .map(([segments, last]): Expansion => {
    let template = 'test:/'
    let uri = 'test:/'
    const values: Record<string, string | undefined> = {}
    for (const [index, part] of segments.entries()) {
      if ('literal' in part) {
        template += `/${part.literal}`
        uri += `/${part.literal}`
        continue
      }
      const name = `v${index}`
      template += part.isPathStyle ? `{/${name}}` : `/{${name}}`
      uri += `/${encode(part.value)}`
      values[name] = part.value
    }
    return { template: template + last.template, uri: uri + last.uri, values: { ...values, ...last.values } }
  })

const LETTERS = ['a', 'b', 'c', '%61', 'a', 'b', 'ab', '_', 'a.b', 'b.a', '-', 'ba']
const SYMBOLS = ['/', '.', ',', '?', '&', '=', '#', ';', '%', '\n']
const short = fc.string({ unit: fc.constantFrom(...LETTERS, ...SYMBOLS), maxLength: 3 })
const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'ab', 'c'), { minLength: 1, maxLength: 3 })

/** How an expression of each operator begins, goes on, and whether its variables are named. */
const STYLES = {
  '': ['', ',', false],
  '+': ['', ',', false],
  '#': ['#', ',', false],
  '.': ['.', '.', false],
  '/': ['/', '/', false],
  ';': [';', ';', true],
  '?': ['?', '&', true],
  '&': ['&', '&', true],
} as const

/** An expression and a literal, and what a URI may have there; of few characters, so that much is ambiguous. */
const piece = fc.record({
  operator: fc.constantFrom(...(Object.keys(STYLES) as (keyof typeof STYLES)[])),
  variables: names,
  values: fc.array(fc.option(short, { nil: undefined, freq: 6 }), { minLength: 3, maxLength: 3 }),
  literal: fc.constantFrom('', '', 'a', 'b', '/', '.', ',', '?', '&', '=', '#', 'ab'),
})

/** A template of every operator in any order, and a URI that it often matches. No variable is named twice. */
const anyCase = fc
  .tuple(fc.array(piece, { minLength: 1, maxLength: 3 }), short, fc.constantFrom(true, false, false))
  .map(([pieces, more, isChanged]) => {
    let template = ''
    let uri = ''
    for (const [index, { operator, variables, values, literal }] of pieces.entries()) {
      const [prefix, separator, isNamed] = STYLES[operator]
      const own = variables.map((name) => name + '_'.repeat(index))
      const given = own.flatMap((name, at) => {
        const value = values[at]
        if (value === undefined) return []
        return isNamed ? `${name}${value === '' ? '' : `=${value}`}` : value
      })
      template += `{${operator}${own.join(',')}}${literal}`
      uri += (given.length === 0 ? '' : prefix + given.join(separator)) + literal
    }
    return { template, uri: isChanged ? uri.slice(1) + more : uri }
  })

const ambiguous = fc.constantFrom(
  'x://{a}.{b}.{c}.{d}',
  'x://{a}{b}{c}{d}{e}',
  'x://{+a}/{+b}/{+c}/{+d}',
  'x://{a}-{b}_{c}-{d}!',
  'x://{+a}{?b,c,d}{&e,f}{#g}',
)
const filler = fc.constantFrom('.', 'a', '/', '-_', '.a', '?b=', '&e=', 'b=&', '%2e')
const ending = fc.constantFrom('', '/', '?', '#', ' ')

/** How often a URI is looked at: work, where time would depend on the machine. */
function countReads(uri: string, match: (uri: string) => unknown): number {
  let reads = 0
  const watched = new Proxy(new String(uri), {
    get(target, key) {
      reads++
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  match(watched as unknown as string)
  return reads
}

describe('a URI template', () => {
  test('any template and any short URI → the same variables as the plain definition', async () => {
    const matched = { yes: 0, no: 0 }
    await check(
      fc.property(anyCase, ({ template, uri }) => {
        const expected = matchSlowly(template, uri)
        const found = compileUriTemplate(template).match(uri)
        expect(found && { ...found }).toEqual(expected)
        matched[expected === undefined ? 'no' : 'yes']++
      }),
      20_000,
    )
    // Else it would compare refusals alone.
    expect(Math.min(matched.yes, matched.no)).toBeGreaterThan(2000)
  })

  test('matches what it expands to → with the same values', async () => {
    await check(
      fc.asyncProperty(expansion, async ({ template, uri, values }) => {
        const defined = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
        fc.pre(Object.keys(values).length > 0)
        expect(variablesIn(await read(template, uri))).toEqual(defined)
      }),
      500,
    )
  })

  test('two variables in one segment → the first takes as much as it can', async () => {
    const letters = fc.stringMatching(/^[a-z.]{1,8}$/)
    await check(
      fc.asyncProperty(letters, fc.stringMatching(/^[a-z]{1,8}$/), async (name, extension) => {
        const answer = await read('file://{name}.{extension}', `file://${name}.${extension}`)
        expect(variablesIn(answer)).toEqual({ name, extension })
      }),
      100,
    )
  })

  test('any URI → its variables, or -32602 with the URI', async () => {
    await check(
      fc.asyncProperty(expansion, fc.oneof(fc.webUrl(), fc.string(), text), async ({ template }, uri) => {
        const { status, error, result } = await read(template, uri)
        expect(status).toBe(200)
        if (result === undefined) expect(error).toMatchObject({ code: -32602, data: { uri } })
      }),
      300,
    )
  })

  test('ambiguous, and a long URI that almost matches → refused', async () => {
    await check(
      fc.asyncProperty(ambiguous, filler, ending, async (template, part, end) => {
        const uri = `x://${part.repeat(Math.floor(2000 / part.length))}${end}`
        // A matcher that backtracks needs minutes, longer than the limit of a test.
        expect((await read(template, uri)).status).toBe(200)
      }),
      40,
    )
  })

  test('twice the URI → twice the work, however ambiguous the template', async () => {
    await check(
      fc.property(ambiguous, filler, ending, (template, part, end) => {
        const { match } = compileUriTemplate(template)
        const work = (length: number): number =>
          countReads(`x://${part.repeat(length / part.length)}${end}`, match)
        // A matcher that tries each end of a value reads four times as much, one that backtracks far more.
        expect(work(1920)).toBeLessThan(2.2 * work(960) + 100)
        expect(work(1920)).toBeLessThan(1920 * 40)
      }),
      100,
    )
  })

  test('a URI of another scheme, or a longer one than 2048 characters → refused after a few characters', () => {
    const { match } = compileUriTemplate('users://{+a}/{b}')
    expect(countReads(`files://${'a/'.repeat(1000)}`, match)).toBeLessThan(20)
    expect(countReads(`users://${'a/'.repeat(1021)}`, match)).toBeLessThan(20)
    expect(match(`users://${'a/'.repeat(1020)}`)).toBeUndefined()
    expect(match(`users://${'a/'.repeat(1019)}bb`)).toEqual({ a: 'a/'.repeat(1018).concat('a'), b: 'bb' })
  })
})

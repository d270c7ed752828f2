/** `mayfly check` judges whatever a server answers: no crash, a fix for each finding, and nothing that steers a terminal. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { renderJson, renderTable } from '../../deploy/check/report.ts'
import { runProbes } from '../../deploy/check/run.ts'
import { type Breakage, broken } from './_check-servers.ts'
import { ESCAPES } from './_hostile-servers.ts'
import { STEERING } from './_terminal.ts'

type Change = readonly [where: number, value: unknown]

const hostileValue = fc.oneof(
  fc.constantFrom<unknown>(null, [], {}, '', 0, -1, 1e308, true, ESCAPES, [null], [[]], {
    toString: 1,
    valueOf: 1,
  }),
  fc.constantFrom<unknown>(
    '__proto__',
    { ['__proto__']: { a: 1 } },
    { constructor: { prototype: null } },
    'x'.repeat(3000),
  ),
  fc.string({ unit: 'binary' }),
  fc.jsonValue({ maxDepth: 3 }),
)

function placesIn(value: unknown): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [[]]
  const inner = Object.entries(value).flatMap(([name, each]) =>
    placesIn(each).map((place) => [name, ...place] as const),
  )
  return [[], ...inner]
}

function replaced(value: unknown, [name, ...rest]: readonly string[], other: unknown): unknown {
  if (name === undefined) return other
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>
  copy[name] = replaced(copy[name], rest, other)
  return copy
}

/** Each JSON answer with a value somewhere in it, a status, and headers, that come from the property. */
function changed(
  changes: readonly Change[],
  statuses: readonly number[],
  headers: readonly string[],
): Breakage {
  let turn = 0
  return async (_request, next) => {
    const answer = await next()
    turn += 1
    const [where, value] = changes[turn % changes.length]!
    const status = statuses[turn % statuses.length]!
    const header = headers[turn % headers.length]!
    const out = new Headers(answer.headers)
    for (const name of ['www-authenticate', 'allow', 'location', 'mcp-session-id'])
      if (turn % 3 === 0) out.set(name, header)
    out.delete('content-length')
    const isEmpty = [204, 205, 304].includes(status)
    const text = await answer.text()
    const body = answer.headers.get('content-type') === 'application/json' ? change(text, where, value) : text
    return new Response(isEmpty ? null : body, { status, headers: out })
  }
}

function change(text: string, where: number, value: unknown): string {
  const message: unknown = JSON.parse(text)
  const places = placesIn(message)
  return JSON.stringify(replaced(message, places[where % places.length]!, value))
}

test('any value in any place of any answer is judged', async () => {
  const change: fc.Arbitrary<Change> = fc.tuple(fc.nat(), hostileValue)
  const status = fc.constantFrom(200, 200, 200, 200, 202, 204, 302, 400, 401, 403, 404, 500, 503)
  const header = fc.stringMatching(/^[\x21-\x7e\x80-\xff]{1,30}$/)
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { minLength: 1, maxLength: 8 }),
      fc.array(status, { minLength: 1, maxLength: 8 }),
      fc.array(header, { minLength: 1, maxLength: 3 }),
      async (changes, statuses, headers) => {
        await using server = await broken(changed(changes, statuses, headers))
        const { url } = server
        const options = { url, bearer: undefined, headers: {}, origin: undefined }
        const report = await runProbes({ ...options, timeoutMs: 500, deadlineMs: 5000 })
        const printed = renderTable(report, url.href, false) + renderJson(report, url.href)

        expect(printed).not.toMatch(STEERING)
        expect(printed).not.toContain('could not be judged')
        for (const result of report.results)
          if (result.verdict === 'wrong' || result.verdict === 'degrades')
            expect(result).toMatchObject({
              id: expect.stringMatching(/^[a-z]+\./),
              fix: expect.stringMatching(/^\S.{10,}/),
            })
      },
    ),
    { numRuns: 60, endOnFailure: true },
  )
})

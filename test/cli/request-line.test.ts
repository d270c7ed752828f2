/** The log of a local server, as `mayfly dev` shows it: in pieces of any size. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ServerError } from '../../deploy/contract/target.ts'
import { createRequestLog } from '../../deploy/run/request-line.ts'
import { stylesFor } from '../../deploy/terminal/styles.ts'

const entry = (more: object = {}): string =>
  `${JSON.stringify({
    level: 'info',
    time: new Date(2026, 7, 1, 22, 58, 34).toISOString(),
    requestId: 'r1',
    httpMethod: 'POST',
    path: '/mcp',
    status: 200,
    durationMs: 1,
    ...more,
  })}\n`

const LIST = entry({ method: 'tools/list', client: 'cursor/1' })
const PROBE = entry({ method: 'server/discover', client: 'mayfly-dev/1' })
const plain = stylesFor(false)

const failure = (more: object = {}): string =>
  `${JSON.stringify({
    level: 'error',
    time: new Date(2026, 7, 1, 22, 58, 34).toISOString(),
    tool: 'buy',
    requestId: 'r1',
    message: 'no money',
    ...more,
  })}\n`
/** As the runtime writes it: this file, a library, and Mayfly itself. */
const STACK = `RangeError: no money
    at pay (${process.cwd()}/test/cli/request-line.test.ts:3:1)
    at async query (file://${process.cwd()}/node_modules/pg/lib/client.js:7:3)
    at run (file://${process.cwd()}/src/request/tools.ts:90:33)
    at process.processTicksAndRejections (node:internal/process/task_queues:104:5)`
const SHOWN = `22:58:34 error buy: no money (test/cli/request-line.test.ts:3:1)
  3 | import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
    | ^
    at query (node_modules/pg/lib/client.js:7:3)
`

function filtered(text: string, isTerminal = true): string {
  const filter = createRequestLog({ styles: isTerminal ? plain : undefined }).filter()
  return filter(text) + filter(undefined)
}

test.each([
  [LIST, '22:58:34 200 tools/list 1 ms\n'],
  [entry({ method: 'tools/call', target: 'buy', durationMs: 2412 }), '22:58:34 200 tools/call buy 2.4 s\n'],
  [
    entry({ status: 400, method: 'tools/call', target: 'x', code: -32602 }),
    '22:58:34 400 tools/call x error -32602 1 ms\n',
  ],
  [entry({ httpMethod: 'PUT', status: 405 }), '22:58:34 405 PUT /mcp 1 ms\n'],
  [PROBE, ''],
  [entry({ clientRequestId: 'mayfly-dev', status: 401 }), ''],
  [failure({ stack: STACK }), SHOWN],
  [
    `\u001b[31m✘ \u001b[41;31m[ERROR]\u001b[0m \u001b[1m${failure({ stack: STACK }).trimEnd()}\u001b[0m\n`,
    SHOWN,
  ],
  [
    failure({ cause: 'connect ECONNREFUSED ::1:5432' }),
    '22:58:34 error buy: no money: connect ECONNREFUSED ::1:5432\n',
  ],
  [failure({ tool: undefined, telemetry: true }), '22:58:34 error telemetry: no money\n'],
  [
    failure({ message: 'a\n    at x (/etc/passwd:1:1)', stack: 'Error: a\n    at x (/etc/passwd:1:1)' }),
    '22:58:34 error buy: a\\u000a    at x (/etc/passwd:1:1)\n',
  ],
  ['{"level":"error", and no JSON\n', '{"level":"error", and no JSON\n'],
  ['{"level":"error","msg":"of another logger"}\n', '{"level":"error","msg":"of another logger"}\n'],
  [
    '\u001b[31m✘ \u001b[41;31m[ERROR]\u001b[0m \u001b[1mno bundle\u001b[0m\n',
    '\u001b[31m✘ \u001b[41;31m[ERROR]\u001b[0m \u001b[1mno bundle\u001b[0m\n',
  ],
  ['a line of the server\n', 'a line of the server\n'],
  ['{"level":"info","msg":"of another logger"}\n', '{"level":"info","msg":"of another logger"}\n'],
  ['{"level":"info", and no JSON\n', '{"level":"info", and no JSON\n'],
  ['no line feed', 'no line feed'],
  ['{"level":"info","unfinished', '{"level":"info","unfinished'],
])('%j on a terminal → %j', (line, shown) => {
  expect(filtered(line)).toBe(shown)
})

test('elsewhere it stays JSON, without our own', () => {
  expect(filtered(`${LIST}${PROBE}a\n`, false)).toBe(`${LIST}a\n`)
  expect(filtered(failure({ stack: STACK }), false)).toBe(failure({ stack: STACK }))
})

test('errors are told with their requests, and with places as a person reads them', () => {
  const told: ServerError[] = []
  const filter = createRequestLog({ onServerError: (error) => told.push(error) }).filter()
  filter(LIST + failure({ stack: STACK }).slice(0, 20))
  filter(failure({ stack: STACK }).slice(20))
  expect(told).toMatchObject([
    { requestId: 'r1', what: 'buy', message: 'no money', place: 'test/cli/request-line.test.ts:3:1' },
  ])
  expect(told[0]!.calls).toEqual([
    'pay (test/cli/request-line.test.ts:3:1)',
    'query (node_modules/pg/lib/client.js:7:3)',
  ])
})

test('a runtime that reads no source maps: the place is the original one', () => {
  const folder = mkdtempSync(join(process.cwd(), 'node_modules/.mayfly-test-'))
  try {
    const built = join(folder, 'worker.js')
    // The second line of the bundle is the third of this file.
    const source = relative(folder, fileURLToPath(import.meta.url))
    writeFileSync(
      `${built}.map`,
      JSON.stringify({ version: 3, sources: [source], names: [], mappings: ';AAEA' }),
    )
    const stack = `RangeError: no money\n    at pay (file://${built}:2:1)`
    expect(filtered(failure({ stack }))).toMatch(
      /no money \(test\/cli\/request-line\.test\.ts:3:1\)\n {2}3 \| import/,
    )
    writeFileSync(`${built}.map`, 'no map, and later than the other')
    expect(filtered(failure({ stack }))).toMatch(
      /no money\n {4}at pay \(node_modules\/\.mayfly-test-\w+\/worker\.js:2:1\)\n/,
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a name that a client sent cannot steer the terminal', () => {
  expect(filtered(entry({ method: 'tools/call', target: '\u001b[2J\n\u202e' }))).toBe(
    '22:58:34 200 tools/call \\u001b[2J\\u000a\\u202e 1 ms\n',
  )
})

test('a prompt without a line feed is shown at once', () => {
  const filter = createRequestLog({ styles: plain }).filter()
  expect(filter('Continue? ')).toBe('Continue? ')
  expect(filter(LIST)).toBe(LIST)
  expect(filter(LIST)).toBe('22:58:34 200 tools/list 1 ms\n')
})

test('in pieces of any size, the same is shown', () => {
  const whole = `${PROBE}a\n${failure({ stack: STACK })}${LIST}{\n{"level":"info","msg":1}\n${PROBE}${LIST}b`
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 1 }), (sizes) => {
      const filter = createRequestLog({ styles: plain }).filter()
      let shown = ''
      let at = 0
      for (let next = 0; at < whole.length; next++) {
        const size = sizes[next % sizes.length]!
        shown += filter(whole.slice(at, at + size))
        at += size
      }
      expect(shown + filter(undefined)).toBe(filtered(whole))
    }),
  )
})

test('the platform\u2019s own line about a request is shown only if the server did not log it', () => {
  const log = createRequestLog({ styles: plain, echo: /^\[tool\] ([A-Z]+) (\S+) (\d+)\n/ })
  const [stdout, stderr] = [log.filter(), log.filter()]
  expect(stdout(PROBE + LIST)).toBe('22:58:34 200 tools/list 1 ms\n')
  expect(stderr('[tool] POST /mcp 200\n[tool] POST /mcp 200\n[tool] POST /mcp 200\n')).toBe(
    '[tool] POST /mcp 200\n',
  )
  expect(stdout(entry({ httpMethod: 'GET', path: '/' }))).toBe('22:58:34 200 GET / 1 ms\n')
  expect(stderr('[tool] GET /hello 200\n[tool] GET /?landing 200\n')).toBe('[tool] GET /hello 200\n')
})

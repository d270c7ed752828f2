/** The log of a local server, as `mayfly dev` shows it: in pieces of any size. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
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
  const whole = `${PROBE}a\n${LIST}{\n{"level":"info","msg":1}\n${PROBE}${LIST}b`
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

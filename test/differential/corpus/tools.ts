/** `tools/list` and `tools/call`. */
import { inBothEras, KEY, legacy, modern } from './_entry.ts'

const call = (id: string, name: unknown, args?: unknown) =>
  inBothEras(id, 'tools/call', { name, ...(args !== undefined && { arguments: args }) })

const REPORT = { name: 'report', arguments: { steps: 1 } }

export const toolsCorpus = [
  ...inBothEras('tools/list', 'tools/list'),
  ...inBothEras('tools/list with unknown params', 'tools/list', { filter: 'x' }),
  ...inBothEras('tools/list with a cursor nobody gave out', 'tools/list', { cursor: 'p7' }),
  ...inBothEras('tools/list with an empty cursor', 'tools/list', { cursor: '' }),
  ...inBothEras('tools/list with a numeric cursor', 'tools/list', { cursor: 1 }),
  ...inBothEras('tools/list with a null cursor', 'tools/list', { cursor: null }),
  legacy('tools/list in 2025-03-26', 'tools/list', {}, { version: '2025-03-26' }),
  legacy('tools/list in 2025-06-18', 'tools/list', {}, { version: '2025-06-18' }),
  legacy('tools/list without params', 'tools/list'),

  ...call('call echo', 'echo', { text: 'hi' }),
  ...call('call echo in other scripts', 'echo', { text: 'ünï ☃ 🎈 \u0000 \u2028' }),
  ...call('call echo with the empty string', 'echo', { text: '' }),
  ...call('call echo with 100 kB', 'echo', { text: 'x'.repeat(100_000) }),
  ...call('call echo with an argument too many', 'echo', { text: 'hi', more: 1 }),
  ...call('call echo without arguments', 'echo'),
  ...call('call echo with empty arguments', 'echo', {}),
  ...call('call echo with a number', 'echo', { text: 5 }),
  ...call('call echo with null', 'echo', { text: null }),
  ...call('call echo with arguments as an array', 'echo', ['hi']),
  ...call('call echo with arguments as a string', 'echo', 'hi'),
  ...call('call echo with null arguments', 'echo', null),
  ...call('call add', 'add', { a: 1, b: 2 }),
  ...call('call add with large numbers', 'add', { a: 1e308, b: 1e308 }),
  ...call('call add with strings', 'add', { a: '1', b: '2' }),
  ...call('call plain', 'plain', {}),
  ...call('call plain without arguments', 'plain'),
  ...call('call plain with stray arguments', 'plain', { any: 'thing' }),
  ...call('call booking', 'booking', {
    guest: { name: 'Ada', age: 36 },
    nights: 2,
    kind: 'double',
    tags: ['a'],
  }),
  ...call('call booking with defaults', 'booking', { guest: { name: 'Ada' } }),
  ...call('call booking with a wrong nested type', 'booking', { guest: { name: 5 } }),
  ...call('call booking out of range', 'booking', { guest: { name: 'Ada' }, nights: 99 }),
  ...call('call booking with an unknown kind', 'booking', { guest: { name: 'Ada' }, kind: 'suite' }),
  ...call('call booking with a fraction', 'booking', { guest: { name: 'Ada' }, nights: 1.5 }),
  ...call('call booking with everything wrong', 'booking', { guest: 1, nights: 'x', kind: 2, tags: {} }),
  ...call('call media', 'media'),
  ...call('call relay', 'relay'),
  ...call('call empty', 'empty'),
  ...call('call refuse', 'refuse'),
  ...call('call throw', 'throw'),
  ...call('call reject', 'reject'),
  ...call('call wrong-output', 'wrong-output'),
  ...call('call no-output', 'no-output'),

  ...call('call an unknown tool', 'nope', {}),
  ...call('call the tool constructor', 'constructor', {}),
  ...call('call the tool __proto__', '__proto__', {}),
  ...call('call the tool toString', 'toString', {}),
  ...call('call the empty name', '', {}),
  ...call('call a name in other scripts', 'wörk ☃', {}),
  ...call('call a name of 5000 letters', 'n'.repeat(5000), {}),
  ...call('call a numeric name', 5, {}),
  ...call('call a null name', null, {}),
  ...inBothEras('call no name', 'tools/call', {}),
  ...call('call a name that cannot become text', { toString: 1 }, { _continue: { token: 'x', answers: {} } }),
  legacy('call without params', 'tools/call'),
  legacy('call with a task', 'tools/call', { name: 'plain', task: { ttl: 1000 } }),

  ...['', 'garbage', 5, null, {}].map((requestState) =>
    modern(`call with request state ${JSON.stringify(requestState)}`, 'tools/call', {
      name: 'plain',
      requestState,
    }),
  ),
  ...[{}, { q1: { action: 'accept', content: {} } }, { q1: 'yes' }, [], 'yes', null].map((inputResponses) =>
    modern(`call with input responses ${JSON.stringify(inputResponses)}`, 'tools/call', {
      name: 'plain',
      inputResponses,
    }),
  ),
  legacy('call with request state in the legacy era', 'tools/call', {
    name: 'plain',
    requestState: 'garbage',
  }),

  modern('report without asking', 'tools/call', REPORT),
  modern('report with a progress token', 'tools/call', REPORT, { meta: { progressToken: 'p' } }),
  modern('report with a progress token of zero', 'tools/call', REPORT, { meta: { progressToken: 0 } }),
  modern(
    'report three times with a progress token',
    'tools/call',
    { name: 'report', arguments: { steps: 3 } },
    {
      meta: { progressToken: 7 },
    },
  ),
  modern('report with log level debug', 'tools/call', REPORT, { meta: { [KEY.logLevel]: 'debug' } }),
  modern('report with log level warning', 'tools/call', REPORT, { meta: { [KEY.logLevel]: 'warning' } }),
  modern('report with log level emergency', 'tools/call', REPORT, { meta: { [KEY.logLevel]: 'emergency' } }),
  modern('report with both', 'tools/call', REPORT, { meta: { [KEY.logLevel]: 'debug', progressToken: 1 } }),
  modern(
    'report with wrong arguments and a progress token',
    'tools/call',
    { name: 'report', arguments: { steps: 9 } },
    {
      meta: { progressToken: 1 },
    },
  ),
  legacy('report without asking in the legacy era', 'tools/call', REPORT),
  legacy('report with a progress token in the legacy era', 'tools/call', REPORT, {
    meta: { progressToken: 'p' },
  }),
  legacy('report to a client that takes JSON alone', 'tools/call', REPORT, {
    meta: { progressToken: 'p' },
    headers: { accept: 'application/json' },
  }),
  modern('report to a modern client that takes JSON alone', 'tools/call', REPORT, {
    meta: { progressToken: 'p' },
    headers: { accept: 'application/json' },
  }),
]

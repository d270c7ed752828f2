/** `Mcp-Name` and `Mcp-Param-*` against what they mirror: `[header, value]`. */
import { compileParamHeaders } from '../../../src/definition/param-header.ts'
import { ErrorCode, ProtocolError } from '../../../src/definition/protocol-error.ts'
import { checkParamHeaders, checkStandardHeaders } from '../../../src/protocol/headers.ts'
import { mutateBytes, mutateText } from '../mutate.ts'
import { promise, type Target } from '../target.ts'

const DECLARED = compileParamHeaders(
  {
    type: 'object',
    properties: {
      text: { type: 'string', 'x-mcp-header': 'Text' },
      count: { type: 'integer', 'x-mcp-header': 'Count' },
    },
  },
  'fuzz',
)

/** The value of a header by the specification, from Node's own decoder. Undefined: malformed. */
function reference(header: string): string | undefined {
  if (!/^[\t\x20-\x7e]*$/.test(header)) return undefined
  const encoded = /^=\?base64\?(.*)\?=$/s.exec(header)?.[1]
  if (encoded === undefined) return header.length === 10 && header === '=?base64?=' ? '' : header
  const bytes = Buffer.from(encoded, 'base64')
  // Node decodes invalid Base64, too: text that is longer than its bytes need is not Base64.
  const isBase64 =
    /^[A-Za-z0-9+/]*={0,2}$/.test(encoded) && encoded.length === Math.ceil(bytes.length / 3) * 4
  const text = bytes.toString('utf8')
  return isBase64 && Buffer.from(text, 'utf8').equals(bytes) ? text : undefined
}

function encode(value: string): string {
  return `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`
}

/** Whether the check accepts it. @throws Finding for any exception other than the refusal. */
function passes(check: () => void): boolean {
  try {
    check()
    return true
  } catch (error) {
    promise(
      error instanceof ProtocolError && error.code === ErrorCode.headerMismatch,
      `a check throws ${error}`,
    )
    promise(error.status === 400, `a mismatch has status ${error.status}`)
    return false
  }
}

function run([header, value]: readonly string[]): string {
  const headers = new Headers()
  try {
    headers.set('mcp-method', 'tools/call')
    headers.set('mcp-name', header!)
  } catch {
    return 'no header value (RFC 9110 §5.5)'
  }
  const sent = headers.get('mcp-name')!
  const named = (name: string) =>
    passes(() => checkStandardHeaders(headers, 'tools/call', { name }, 'needed'))
  const param = (name: 'text' | 'count', args: unknown) =>
    passes(() => checkParamHeaders(new Headers({ [`mcp-param-${name}`]: sent }), DECLARED, args))
  const decoded = reference(sent)
  promise(
    named(value!) === (decoded === value),
    `Mcp-Name ${JSON.stringify(sent)} is not read by the specification`,
  )
  promise(
    param('text', { text: value }) === (decoded === value),
    'Mcp-Param-* is not read by the specification',
  )
  if (decoded !== undefined)
    promise(named(decoded) && param('text', { text: decoded }), 'the value is not its own')
  const count = Number(decoded)
  if (Number.isSafeInteger(count) && /^-?\d+$/.test(decoded ?? ''))
    promise(param('count', { count }), 'a number is not its own')
  param('count', { count: value })
  promise(!param('text', {}), 'a header without its argument passes')
  const isWellFormed = Buffer.from(value!, 'utf8').toString('utf8') === value
  headers.set('mcp-name', encode(value!))
  promise(named(value!) === isWellFormed, 'a value does not survive being encoded')
  return `${sent.startsWith('=?')} ${decoded === undefined} ${decoded === value} ${isWellFormed}`
}

export const header: Target = {
  name: 'header',
  seeds: [
    ['echo', 'echo'],
    [encode('echo'), 'echo'],
    [encode('\u{1f388} \0'), '\u{1f388} \0'],
    ['=?base64?=', ''],
    ['=?base64??=', ''],
    ['=?base64?QR==?=', 'A'],
    ['=?base64?/w==?=', '\ufffd'],
    ['12', '12'],
    ['1.0', '1'],
  ],
  generate: (random) => {
    const value = mutateText('echo', 'users://1', random)
    return [random.chance(0.5) ? encode(value) : value, value]
  },
  mutate: ([sent, value], [otherSent, otherValue], random) => {
    if (random.chance(0.5)) return [mutateBytes(sent!, otherSent!, random), value!]
    const changed = mutateText(value!, otherValue!, random)
    return [random.chance(0.5) ? encode(changed) : sent!, changed]
  },
  run,
}

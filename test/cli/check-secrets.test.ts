/** `mayfly check` prints nothing of what was passed on the command line, in whatever form the server sends it back. */
import { describe, expect, test } from 'vitest'
import { renderJson, renderTable } from '../../deploy/check/report.ts'
import { runProbes } from '../../deploy/check/run.ts'
import { runCheck } from './_check-command.ts'
import { broken, withHeaders, withJson } from './_check-servers.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const eachByte = (text: string, write: (hex: string) => string): string =>
  [...Buffer.from(text)].map((byte) => write(byte.toString(16).padStart(2, '0'))).join('')
const fromUrl = (text: string): string =>
  text.replaceAll(/(%[\da-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString())
const decodedPart = (value: string): string =>
  value
    .split(/[ .]/)
    .map((part) => Buffer.from(part, 'base64').toString())
    .join(' ')

/** How a server may write what it was sent. */
const WRITTEN: { readonly [name: string]: (value: string) => string } = {
  'as it is': (value) => value,
  'without its scheme': (value) => value.replace(/^\w+ /, ''),
  'in capitals': (value) => value.toUpperCase(),
  'decoded from Base64': decodedPart,
  'decoded from hexadecimal': (value) => Buffer.from(value, 'hex').toString(),
  'its password alone': (value) => decodedPart(value).split(':').at(-1)!,
  'in Base64': base64,
  'in Base64 for URLs': (value) => Buffer.from(value).toString('base64url'),
  'in Base64 after one more character': (value) => base64(`x${value}`),
  'in Base64 after two more characters': (value) => base64(`xy${value}`),
  'in Base64 of Base64': (value) => base64(base64(value)),
  'in hexadecimal': (value) => Buffer.from(value).toString('hex'),
  'URL-encoded': encodeURIComponent,
  'URL-encoded twice': (value) => encodeURIComponent(encodeURIComponent(value)),
  'URL-encoded, every byte': (value) => eachByte(value, (hex) => `%${hex}`),
  'decoded, then URL-encoded, every byte': (value) => eachByte(decodedPart(value), (hex) => `%${hex}`),
  'in JSON': (value) => JSON.stringify({ headers: { value } }),
  'in JSON in JSON': (value) => JSON.stringify(JSON.stringify({ value })),
  'in JSON, every character escaped': (value) => eachByte(value, (hex) => `\\u00${hex}`),
  'in HTML, every character an entity': (value) => eachByte(value, (hex) => `&#x${hex};`),
  'with invisible characters in between': (value) => [...value].join('\u200b'),
  'with variation selectors in between': (value) => [...value].join('\ufe0f'),
  'with blank letters in between': (value) => [...value].join('\u3164'),
  'with a stroke on each character': (value) => [...value].join('\u0336'),
}

const jwt = [{ alg: 'none' }, { sub: 'alice-of-accounts', email: 'alice@shop.example' }]
  .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  .join('.')

const HEADERS: { readonly [name: string]: { name: string; value: string; secrets: RegExp } } = {
  'Basic credentials': {
    name: 'authorization',
    value: `Basic ${base64('al:hunter22')}`,
    secrets: /hunter22|YWw6aHVudGVy|616c3a68756e74|%68%75%6e|68756e74/i,
  },
  'a JWT': {
    name: 'authorization',
    value: `Bearer ${jwt}.c2lnbmF0dXJlLW9mLWl0`,
    secrets: /alice|signature-of-it|c2lnbmF0dXJl|YWxpY2U|616c696365|eyJhbGciOiJub25l/i,
  },
  'a key with spaces, slashes and quotes': {
    name: 'x-key',
    value: 'correct horse/battery+"staple"',
    secrets: /correct|staple|Y29ycmVjd|636f7272|c3RhcGxl/i,
  },
  'a cookie': {
    name: 'cookie',
    value: 'a=1; session=cookie-of-mine',
    secrets: /cookie-of-mine|Y29va2llLW9m|636f6f6b69652d/i,
  },
  'a key in hexadecimal': {
    name: 'x-key',
    value: Buffer.from('key-of-the-shop').toString('hex'),
    secrets: /key-of-the-shop|6b65792d|a2V5LW9m|NmI2NTc5/i,
  },
  'four characters': { name: 'x-key', value: 'k3y!', secrets: /k3y|azN5|6b337921/i },
}

describe.for(Object.keys(HEADERS))('%s, sent back', (kind) => {
  const { name, value, secrets } = HEADERS[kind]!

  test.for(Object.keys(WRITTEN))('%s', async (how) => {
    const said = WRITTEN[how]!(value)
    await using server = await broken(async (_request, next) => {
      const answer = await withJson(await next(), (message) => {
        if (message.error) return { ...message, error: { code: -32099, message: `refused: ${said}` } }
        const tools = [{ name: said, description: said, inputSchema: {} }]
        const _meta = { 'io.modelcontextprotocol/serverInfo': { name: said, version: said } }
        return {
          ...message,
          result: { ...message.result, _meta, ...(message.result?.tools !== undefined && { tools }) },
        }
      })
      const safe = /^[\x20-\xff]*$/.test(said) ? said : 'x'
      return withHeaders(answer, { allow: safe, 'access-control-allow-origin': safe })
    })
    const { url } = server
    const report = await runProbes({
      url,
      bearer: undefined,
      headers: { [name]: value },
      timeoutMs: 5000,
      origin: undefined,
    })
    const printed = renderTable(report, url.href, false) + renderJson(report, url.href)

    expect(printed).toContain('-32099')
    expect(printed.replaceAll(/[\p{Cf}\p{M}\u3164\s]/gu, '')).not.toMatch(secrets)
    expect(fromUrl(printed)).not.toMatch(secrets)
  })
})

test('a header of Basic credentials, decoded in the message of an error, is in no output of the command', async () => {
  await using server = await broken(async (request, next) => {
    const [, encoded = ''] = (request.headers.get('authorization') ?? '').split(' ')
    const message = `${Buffer.from(encoded, 'base64').toString()} may not do this`
    return withJson(await next(), (answer) => ({
      ...answer,
      error: answer.error && { code: -32099, message },
    }))
  })
  const header = `Authorization: Basic ${base64('admin-of-shop:hunter22')}`
  for (const more of [[], ['--json']]) {
    const { stdout, stderr } = await runCheck([server.url.href, '--header', header, ...more])

    expect(stdout).toContain('[secret] may not do this')
    expect(stdout + stderr).not.toMatch(/hunter22|admin-of-shop/)
  }
})

test('half of a long token, where a quotation ends, is not shown either', async () => {
  const token = 'abcdefgh'.repeat(240)
  await using server = await broken(async (_request, next) =>
    withJson(await next(), (answer) => ({
      ...answer,
      error: answer.error && { code: -32099, message: token + token.slice(0, 300) },
    })),
  )
  const { url } = server
  const report = await runProbes({ url, bearer: token, headers: {}, timeoutMs: 5000, origin: undefined })

  expect(renderJson(report, url.href)).not.toContain('abcdefgh')
})

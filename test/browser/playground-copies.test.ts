/** What the playground copies and saves: it runs, as it is, and has no secret. */
import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { type Draft, toCurl, toJson, toTypeScript } from '../../deploy/playground/browser/call-text.ts'
import { type Exchange, outcomeOf } from '../../deploy/playground/browser/exchange.ts'
import { indented } from '../../deploy/playground/browser/json.ts'
import { durationText, sizeText } from '../../deploy/playground/browser/measures.ts'
import { maskedText, requestText } from '../../deploy/playground/browser/sign-in-steps.ts'
import { toHar } from '../../deploy/playground/browser/wire-file.ts'
import { PAYLOADS } from './_hostile-mcp.ts'

const HOSTILE = [
  ...PAYLOADS,
  `'; touch /tmp/mayfly-hacked; '`,
  '$(touch /tmp/mayfly-hacked)`touch /tmp/mayfly-hacked`',
  '\\\' "$HOME" !! \n \r \t \u0000 \u001b[201~ \u0085 \u202e \u2028 \ud800',
  '-o/tmp/mayfly-hacked',
  '@/etc/passwd',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it must stay text
  '`${process.exit()}`',
  '__proto__',
]

function draftOf(name: string, args: unknown, headers: Record<string, string> = {}): Draft {
  return {
    url: 'http://127.0.0.1:8787/mcp',
    headers: { 'content-type': 'application/json', ...headers },
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta: { a: 1 } } },
  }
}

/** The arguments that a shell gives to curl. */
function curlArguments(text: string, env: Record<string, string> = {}): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${text}`
  const printed = execFileSync('sh', ['-c', script], { env: { PATH: process.env.PATH!, ...env } })
  return printed.toString().split('\0').slice(0, -1)
}

/** What a copied program does with its client. */
async function runProgram(text: string, env: Record<string, string> = {}): Promise<unknown[]> {
  const done: unknown[] = []
  class MCPClient {
    resources = { read: (...args: unknown[]) => done.push(['resources.read', ...args]) }
    prompts = { get: (...args: unknown[]) => done.push(['prompts.get', ...args]) }
    constructor(config: unknown) {
      done.push(config)
    }
    callTool(...args: unknown[]): void {
      done.push(['callTool', ...args])
    }
    disconnect(): void {}
  }
  const [first, ...rest] = text.split('\n')
  expect(first).toBe('import { MCPClient } from "mayfly-mcp/client"')
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor
  const run = new AsyncFunction('MCPClient', 'process', 'console', rest.join('\n')) as (
    ...args: unknown[]
  ) => Promise<void>
  await run(MCPClient, { env }, { dir: () => {} })
  return done
}

describe('a call as a command', () => {
  test.for(HOSTILE)('%j is an argument of curl, and nothing else', (text) => {
    const draft = draftOf(text, { [text]: text }, { 'mcp-param-empty': '' })
    const given = curlArguments(toCurl(draft))
    expect(given.slice(0, 2)).toEqual(['-sSNg', draft.url])
    expect(given).toContain('mcp-param-empty;')
    expect(given.at(-2)).toBe('--data-raw')
    expect(JSON.parse(given.at(-1)!)).toEqual(draft.body)
    // Nothing that a terminal could obey when it is pasted.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    expect(toCurl(draft)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  })

  test('the token, the session and values of the query are variables', () => {
    const draft = draftOf('a', {}, { authorization: 'Bearer •••', 'mcp-session-id': 'the-session' })
    const text = toCurl({ ...draft, url: 'https://shop.example/mcp?api-key=the-key&x=[1]' })
    expect(text).not.toMatch(/the-session|the-key|•/)
    const given = curlArguments(text, {
      MCP_TOKEN: 'a token',
      MCP_SESSION_ID: 's$1',
      MCP_API_KEY: 'k&',
      MCP_X: 'v',
    })
    expect(given[1]).toBe('https://shop.example/mcp?api-key=k&&x=v')
    expect(given).toContain('authorization: Bearer a token')
    expect(given).toContain('mcp-session-id: s$1')
  })
})

describe('a call as a program', () => {
  test.for(HOSTILE)('%j is a value, and nothing else', async (text) => {
    const args = Object.fromEntries([[text, text]])
    const draft = draftOf(text, args)
    const [config, call] = await runProgram(toTypeScript(draft)!)
    expect(config).toEqual({ servers: { server: { url: draft.url } } })
    expect(JSON.stringify(call)).toBe(JSON.stringify(['callTool', 'server', text, args]))
  })

  test('resources and prompts have their functions, other methods none; the token is a variable', async () => {
    const draft = draftOf('a', {}, { authorization: 'Bearer •••' })
    const url = 'https://shop.example/mcp?key=the-key'
    const program = toTypeScript({
      ...draft,
      url,
      body: { method: 'resources/read', params: { uri: 'a://b' } },
    })!
    expect(program).not.toMatch(/the-key|•/)
    const [config, call] = await runProgram(program, { MCP_TOKEN: 't', MCP_KEY: 'k' })
    const { server } = (config as { servers: { server: { url: string; token: () => string } } }).servers
    expect([server.url, server.token()]).toEqual(['https://shop.example/mcp?key=k', 't'])
    expect(call).toEqual(['resources.read', 'server', 'a://b'])
    expect(toTypeScript({ ...draft, body: { method: 'tools/list' } })).toBeUndefined()
  })
})

test('a call as JSON has the method and its parameters', () => {
  expect(JSON.parse(toJson(draftOf('a', { b: 1 })))).toEqual({
    method: 'tools/call',
    params: { name: 'a', arguments: { b: 1 } },
  })
})

test.for([
  [{ id: 1, result: { content: [] } }, undefined],
  [{ id: 1, result: { isError: true } }, 'failed'],
  [{ id: 1, error: { code: -32602, message: 'no' } }, 'failed'],
  [{ id: 1, result: { resultType: 'input_required' } }, 'asks'],
  // 2025-11-25: a request of the server, on the stream of the call.
  [{ id: 'q', method: 'elicitation/create', params: {} }, 'asks'],
  [{ id: 1, result: { resultType: 'task', taskId: 't', status: 'working' } }, 'task'],
  [{ id: 1, result: { taskId: 't', status: 'failed' } }, 'failed'],
] as const)('%j reads %s', ([message, outcome]) => {
  expect(outcomeOf(message)).toBe(outcome)
})

describe('JSON in a text', () => {
  test('has indentation, and all digits of its numbers', () => {
    expect(indented(' {"a":12345678901234567890,"b":[],"c":[1.50,"x, {\\"y\\": [",true],"a":{}}')).toBe(
      `{
  "a": 12345678901234567890,
  "b": [],
  "c": [
    1.50,
    "x, {\\"y\\": [",
    true
  ],
  "a": {}
}`,
    )
  })

  test.for(['', 'text', '12', '"text"', '{', '[1,]', `{"a":"${'x'.repeat(200_000)}"}`])(
    '%.20s is not',
    (text) => {
      expect(indented(text)).toBeUndefined()
    },
  )

  test('is cut where it becomes too long', () => {
    const deep = indented(`${'['.repeat(5000)}${']'.repeat(5000)}`)!
    expect(deep.length).toBeLessThanOrEqual(50_000)
    expect(deep).toMatch(/the rest is not shown$/)
  })
})

test('a saved wire is an archive without tokens, sessions and keys', () => {
  const token = 'eyJ.a-token_of.some-length'
  const exchange: Exchange = {
    label: 'tools/call a',
    method: 'POST',
    url: '/__mayfly/mcp',
    requestHeaders: { authorization: 'Bearer •••', 'mcp-session-id': 'the-session', accept: '*/*' },
    requestBody: { method: 'tools/call' },
    startedAt: 5,
    status: 200,
    responseHeaders: [
      ['content-type', 'text/event-stream'],
      ['mcp-session-id', 'the-session'],
    ],
    headersMs: 3,
    totalMs: 10,
    events: [{ atMs: 4, data: `{"you sent":"${token}"}` }],
    bytes: 40,
  }
  const text = toHar([exchange], 'https://shop.example/mcp?key=the-key', [token, 'e'])
  expect(text).not.toMatch(/the-session|the-key|eyJ/)
  const { log } = JSON.parse(text)
  expect(log.version).toBe('1.2')
  const [{ request, response, time, timings, startedDateTime }] = log.entries
  expect(request).toMatchObject({ method: 'POST', url: 'https://shop.example/mcp' })
  expect(response.content).toEqual({
    size: 40,
    mimeType: 'text/event-stream',
    text: 'data: {"you sent":"•••"}',
  })
  expect([time, timings]).toEqual([10, { send: 0, wait: 3, receive: 7 }])
  expect(new Date(startedDateTime).toISOString()).toBe(startedDateTime)
})

describe('a step of a sign-in', () => {
  test('has no code, token, verifier, state or secret', () => {
    const answer = {
      access_token: 'S',
      refresh_token: 'S',
      id_token: 'S',
      token_type: 'Bearer',
      scope: 'shop',
    }
    expect(JSON.parse(maskedText(JSON.stringify(answer), 200))).toEqual({
      access_token: '•••',
      refresh_token: '•••',
      id_token: '•••',
      token_type: 'Bearer',
      scope: 'shop',
    })
    const nested = { client_id: 'c', client_secret: 'S', more: [{ registration_access_token: 'S' }] }
    expect(maskedText(JSON.stringify(nested))).not.toContain('"S"')
    expect(maskedText('access_token=S&token_type=bearer', 200)).toBe('access_token=•••\n&token_type=bearer')
    expect(maskedText('S', 200)).toBe('1 characters that are not JSON')
    expect(maskedText('Bad gateway', 502)).toBe('Bad gateway')
    const form = 'grant_type=authorization_code&code=S&code_verifier=S&client_id=c'
    expect(requestText('POST', 'https://as.example/token', form)).toBe(
      'POST https://as.example/token\n\ngrant_type=authorization_code\n&code=•••\n&code_verifier=•••\n&client_id=c',
    )
    const back = requestText('GET', 'http://127.0.0.1/?code=S&state=S&iss=https%3A%2F%2Fas.example')
    expect(back).toBe('GET http://127.0.0.1/\n  ?code=•••\n  &state=•••\n  &iss=https://as.example')
  })
})

test('times and sizes are short', () => {
  expect([0, 28.4, 999.6, 3149, 59_999, 125_000].map(durationText)).toEqual([
    '0 ms',
    '28 ms',
    '1000 ms',
    '3.1 s',
    '60.0 s',
    '2 min 5 s',
  ])
  expect([0, 46, 1249, 3_400_000].map(sizeText)).toEqual(['0 B', '46 B', '1.2 KB', '3.4 MB'])
})

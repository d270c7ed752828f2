/** A secret in any option of a client's server is in no error: not in its message, members, causes and stack, nor in what is printed. */
import { inspect } from 'node:util'
import fc from 'fast-check'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createStdioTransport, type StdioTransportOptions } from '../../adapters/stdio-client.ts'
import {
  createMemoryOAuthStorage,
  createOAuthProvider,
  MCPClient,
  type OAuthStorage,
  type ServerConfig,
} from '../../src/client.ts'
import { memberOf } from '../../src/definition/error-text.ts'
import { wantingToken } from '../hostile/server/authorization.ts'
import { type Exchange, startHostile } from '../hostile/server/server.ts'
import { check } from './_seeded.ts'

const REDIRECT_URL = 'http://127.0.0.1:9/callback'

/** What people put around a secret by mistake, and what has to be escaped. */
const secret = fc
  .tuple(
    fc.stringMatching(/^[a-zA-Z0-9]{8}$/),
    fc.constantFrom('', '\n', '\r\n', '\0', ' ', '"', '%', 'ü', '😀', '\\'),
  )
  .map(([word, odd]) => ({ marker: `S3cr3t${word}`, value: `S3cr3t${word}${odd}S3cr3t${word}` }))

/** Everything that somebody could read of what `run` throws, reports and prints. */
async function readable(run: (onError: (error: unknown) => void) => unknown): Promise<string> {
  const found: unknown[] = []
  const spies = (['log', 'warn', 'error', 'info', 'debug'] as const).map((name) =>
    vi.spyOn(console, name).mockImplementation((...printed: unknown[]) => void found.push(...printed)),
  )
  try {
    await run((error) => found.push(error))
  } catch (error) {
    found.push(error)
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
  const seen = new Set<unknown>()
  const texts: string[] = []
  const read = (one: unknown): void => {
    if (seen.has(one)) return
    seen.add(one)
    // What the server answered, for whoever called its tool.
    if (memberOf(one, 'code') === 'TOOL_FAILED') Object.defineProperty(one, 'result', { value: undefined })
    texts.push(inspect(one, { depth: 20, showHidden: true, maxStringLength: null }))
    if (!(one instanceof Error)) return
    texts.push(one.message, String(one.stack), JSON.stringify(one))
    read(one.cause)
  }
  found.forEach(read)
  return texts.join('\n')
}

const linesWith = (text: string, marker: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.includes(marker))
    .slice(0, 5)

/** Uses each way in which a client meets its server. */
async function use(server: ServerConfig, onError: (error: unknown) => void): Promise<void> {
  const client = new MCPClient({
    id: crypto.randomUUID(),
    timeoutMs: 5000,
    servers: { evil: server },
    onError,
  })
  try {
    const tools = await client.listTools()
    await client.callTool('evil', 'hello', {}).catch(onError)
    await tools.evil_hello?.execute({}).catch(onError)
    await client.resources.read('evil', 'a://b').catch(onError)
    onError(client.errors.evil)
  } finally {
    await client.disconnect()
  }
}

/** Places of a server over HTTP. `raw` is for what must be written into a URL. */
const HTTP: {
  readonly [place: string]: (value: string) => Partial<ServerConfig> & { query?: string; user?: string }
} = {
  token: (value) => ({ token: value }),
  'the function token': (value) => ({ token: () => value }),
  'an authProvider of one’s own': (value) => ({ authProvider: { token: async () => value } }),
  'a header': (value) => ({ headers: { 'x-key': value } }),
  'a header with a scheme': (value) => ({ headers: { Authorization: `Basic ${value}` } }),
  'a header of requestInit': (value) => ({ requestInit: { headers: { 'x-key': value } } }),
  'the query': (value) => ({ query: `?key=${encodeURIComponent(value)}` }),
  'an unescaped query': (value) => ({ query: `?key=${value}&a=b` }),
  'the user': (value) => ({ user: `${encodeURIComponent(value)}@` }),
  'the password': (value) => ({ user: `user:${encodeURIComponent(value)}@` }),
}

/** Servers that quote what they were sent, each in another place; and a platform that does. */
type Quoting = (url: string) => Promise<Partial<ServerConfig> & { origin: string }>
const quoting = (answer: Parameters<typeof startHostile>[0]) => async () => {
  const { origin, ...server } = await startHostile(answer)
  onTestFinished(() => server[Symbol.asyncDispose]())
  return { origin }
}
const quote = ({ path, headers, body }: { path: string; headers: object; body: string }): string =>
  `${path} ${decodeURIComponent(path.replaceAll('%', '%25'))} ${JSON.stringify(headers)} ${body}`
const QUOTING: { readonly [where: string]: Quoting } = {
  'nobody listens': async () => ({ origin: 'http://127.0.0.1:9' }),
  'a page with status 500': quoting((exchange) => {
    exchange.response.writeHead(500).end(quote(exchange))
    return true
  }),
  'a page with status 401': quoting((exchange) => {
    exchange.response.writeHead(401).end(quote(exchange))
    return true
  }),
  'an error of the call': quoting((exchange) => {
    const { message, json } = exchange
    if (message?.method !== 'tools/call' && message?.method !== 'resources/read') return false
    const error = { code: -32602, message: quote(exchange), data: { of: [quote(exchange)] } }
    json({ jsonrpc: '2.0', id: message.id, error })
    return true
  }),
  'a failed tool': quoting((exchange) => {
    if (exchange.message?.method !== 'tools/call') return false
    exchange.result({ content: [{ type: 'text', text: quote(exchange) }], isError: true })
    return true
  }),
  'a fetch of one’s own': async () => ({
    origin: 'http://127.0.0.1:9',
    fetch: async (url: string | URL, init: RequestInit = {}) => {
      const headers = [...new Headers(init.headers)]
      const inner = Object.freeze(new Error(`${url} ${headers}`))
      const members = { request: new Request(url, init), options: { url, headers }, url: new URL(url) }
      throw Object.assign(new TypeError(`${url} ${JSON.stringify(headers)}`, { cause: inner }), members)
    },
  }),
}

it.each(Object.keys(HTTP).flatMap((place) => Object.keys(QUOTING).map((where) => [place, where] as const)))(
  'a secret in %s, quoted by: %s',
  async (place, where) => {
    const { origin, ...more } = await QUOTING[where]!('')
    await check(
      fc.asyncProperty(secret, async ({ marker, value }) => {
        const { query = '', user = '', ...options } = HTTP[place]!(value)
        const url = `${origin.replace('//', `//${user}`)}/mcp${query}`
        const config = { url, ...options, ...more } as ServerConfig

        const text = await readable((onError) => use(config, onError))

        expect(linesWith(text, marker)).toEqual([])
        expect(text).not.toBe('')
      }),
      where === 'nobody listens' ? 10 : 4,
    )
  },
)

/** An authorization server's answers with a token, as they should not be. `sent` is what the client sent. */
const ISSUED: {
  readonly [kind: string]: (value: string, sent: string) => readonly [status: number, body: string]
} = {
  'a form': (value) => [200, `access_token=${value}&token_type=bearer`],
  'a form with status 400': (value) => [400, `access_token=${value}`],
  'a text': (value) => [200, value],
  'JSON that is cut': (value) => [200, `{"access_token":${JSON.stringify(value)}`],
  'no token type': (value) => [200, JSON.stringify({ access_token: value, refresh_token: value })],
  'a wrong type': (value) => [
    200,
    JSON.stringify({ access_token: [value], token_type: value, expires_in: value }),
  ],
  'an error that is an object': (value) => [400, JSON.stringify({ error: { value }, access_token: value })],
  'a token and an error': (value) => [
    200,
    JSON.stringify({ error: 'bad', error_description: value, access_token: value }),
  ],
  'a token that no header can have': (value) => [
    200,
    JSON.stringify({ access_token: `${value}\n${value}`, token_type: 'Bearer', refresh_token: value }),
  ],
  'what was sent': (_value, sent) => [
    400,
    JSON.stringify({ error: sent, error_description: decodeURIComponent(sent) }),
  ],
  'a page with what was sent': (_value, sent) => [500, `<p>${sent}</p> ${decodeURIComponent(sent)}`],
}

it.each(Object.keys(ISSUED))('an authorization server that answers with %s', async (kind) => {
  await check(
    fc.asyncProperty(secret, async ({ marker, value }) => {
      const answer = (exchange: Exchange): void => {
        const [status, body] = ISSUED[kind]!(value, exchange.body.replaceAll('+', ' '))
        exchange.response.writeHead(status, { 'content-type': 'application/json' }).end(body)
      }
      const server = await wantingToken({ refresh: answer, token: answer })
      onTestFinished(() => server[Symbol.asyncDispose]())
      const text = await readable(async (onError) => {
        const redirects: URL[] = []
        const authProvider = createOAuthProvider({
          storage: createMemoryOAuthStorage(),
          redirectUrl: REDIRECT_URL,
          onRedirect: (url) => redirects.push(url),
          clientInformation: { client_id: 'own', client_secret: value, issuer: server.origin },
        })
        await use({ url: server.url, authProvider }, onError)
        const client = new MCPClient({ servers: { evil: { url: server.url, authProvider } }, onError })
        const state = redirects[0]!.searchParams.get('state')!
        await client.finishAuth('evil', new URLSearchParams({ state, code: value })).catch(onError)
        await client.listTools()
        await client.disconnect()
      })

      expect(linesWith(text, marker)).toEqual([])
      expect(text).toContain('UNAUTHORIZED')
    }),
    4,
  )
})

/** Storages with a secret, and what goes wrong with it. */
const STORAGES: { readonly [kind: string]: (value: string, origin: string) => OAuthStorage } = {
  'tokens that no header can have': (value, issuer) =>
    storing(
      (key) =>
        key.endsWith(':tokens') && {
          access_token: `${value}\n`,
          token_type: 'Bearer',
          refresh_token: value,
          issuer,
        },
    ),
  'tokens that are refused': (value, issuer) =>
    storing(
      (key) =>
        key.endsWith(':tokens') && {
          access_token: value,
          token_type: 'Bearer',
          refresh_token: value,
          issuer,
        },
    ),
  'no JSON': (value) => ({ get: () => value, set: () => {}, delete: () => true }),
  'JSON of another kind': (value) => ({
    get: () => JSON.stringify([value]),
    set: () => {},
    delete: () => true,
  }),
  'a client that is refused': (value, issuer) =>
    storing((key) => key.endsWith(':client') && { client_id: 'own', client_secret: value, issuer }),
  'an error that quotes the tokens': (value, issuer) => ({
    get: async (key) =>
      key.endsWith(':tokens') ? JSON.stringify({ access_token: value, token_type: 'Bearer', issuer }) : null,
    set: async (key, kept) => {
      throw Object.assign(new Error(`ERR SET ${key} ${kept} ${value}`), {
        command: { args: [key, kept, value] },
      })
    },
    delete: async () => {
      throw Object.assign(new Error(`ERR ${value}`), { value })
    },
  }),
}

function storing(find: (key: string) => object | false): OAuthStorage {
  const changed = new Map<string, string>()
  return {
    get: (key) => changed.get(key) ?? (find(key) ? JSON.stringify(find(key)) : undefined),
    set: (key, value) => changed.set(key, value),
    delete: (key) => changed.delete(key),
  }
}

it.each(Object.keys(STORAGES))('a storage with %s', async (kind) => {
  await check(
    fc.asyncProperty(secret, async ({ marker, value }) => {
      const answer = ({ response, body, headers }: Exchange): void => {
        const text = `${body} ${decodeURIComponent(body.replaceAll('+', ' '))} ${JSON.stringify(headers)}`
        response.writeHead(400).end(JSON.stringify({ error: 'invalid_grant', error_description: text }))
      }
      const server = await wantingToken({ refresh: answer, token: answer })
      onTestFinished(() => server[Symbol.asyncDispose]())
      const text = await readable(async (onError) => {
        const storage = STORAGES[kind]!(value, `${server.origin}`)
        const authProvider = createOAuthProvider({ storage, redirectUrl: REDIRECT_URL, onRedirect: () => {} })
        await use({ url: server.url, authProvider }, onError)
      })

      expect(linesWith(text, marker)).toEqual([])
      expect(text).toContain('MCPClientError')
    }),
    4,
  )
})

/** A process that answers each request with its arguments and variables. */
const QUOTING_PROCESS = `
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line)
    if (id === undefined) return
    const text = JSON.stringify([process.argv, process.env]) + process.argv.join(' ') + Object.values(process.env).join(' ')
    const reply = method === 'initialize'
      ? { result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'a', version: '1' } } }
      : { error: { code: -32602, message: text, data: { text } } }
    console.log(JSON.stringify({ jsonrpc: '2.0', id, ...reply }))
  })
`
const STARTED = { command: process.execPath, args: ['-e', QUOTING_PROCESS, '--'] }

const PROCESSES: { readonly [place: string]: (value: string) => StdioTransportOptions } = {
  'an argument': (value) => ({ ...STARTED, args: [...STARTED.args, '--key', value] }),
  'an argument with its name': (value) => ({ ...STARTED, args: [...STARTED.args, `--key=${value}`] }),
  'an argument that is a header': (value) => ({
    ...STARTED,
    args: [...STARTED.args, `Authorization: Bearer ${value}`],
  }),
  'the password of a URL': (value) => ({
    ...STARTED,
    args: [...STARTED.args, `--db=postgres://user:${encodeURIComponent(value)}@host/db`],
  }),
  'a variable': (value) => ({ ...STARTED, env: { KEY: value } }),
  'an argument of a command that does not exist': (value) => ({ command: 'no-such-command', args: [value] }),
  'a variable of a command that does not exist': (value) => ({
    command: 'no-such-command',
    env: { KEY: value },
  }),
  'the command, with its arguments': (value) => ({ command: `no-such-command --key ${value}` }),
  'the command, with its variables': (value) => ({ command: `KEY=${value} no-such-command` }),
  'a folder that does not exist': (value) => ({
    command: process.execPath,
    args: [value],
    cwd: '/no/such/folder',
  }),
}

it.each(
  Object.keys(PROCESSES).flatMap((place) => [[place, 'command'] as const, [place, 'transport'] as const]),
)('a secret in %s of a process (%s)', async (place, way) => {
  await check(
    fc.asyncProperty(secret, async ({ marker, value }) => {
      const options = PROCESSES[place]!(value)
      const isQuoted = options.command === process.execPath && options.cwd === undefined
      // A transport of one's own has options that the client does not know.
      if (isQuoted && way === 'transport' && !value.includes('\0')) return
      const config = way === 'command' ? options : { transport: async () => createStdioTransport(options) }

      const text = await readable((onError) => use(config, onError))

      expect(linesWith(text, marker)).toEqual([])
      expect(text).toContain('MCPClientError')
    }),
    2,
  )
})

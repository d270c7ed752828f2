/** `connect`: the official client, connected to a server in the same process. */
import type { Client, ClientCapabilities } from '@modelcontextprotocol/client'
import { toCaller } from '../auth/host-caller.ts'
import type { AuthInfo, Era } from '../definition/context.ts'
import { type Names, refuseUnknown } from '../definition/unknown-option.ts'
import type { Caller } from '../request/access.ts'
import { type FetchServer, type RequestPlatform, requireServer, serveRequest } from '../request/platform.ts'
import { type Answers, createAnswering, type Question, TestingError } from './answers.ts'
import { watchRepeatedWork } from './repeated-work.ts'

export interface ConnectOptions {
  /** The client's era: `modern` is 2026-07-28, `legacy` 2025-11-25. Default `modern`. */
  era?: Era
  /** The client's capabilities. Default: both kinds of elicitation if there are `answers`, otherwise none. */
  capabilities?: ClientCapabilities
  /** The answers to the server's questions. Without them, no question is answered. */
  answers?: Answers
  /**
   * A token, sent as `Authorization: Bearer`, which the server verifies as usual; or the caller itself, as a verifier would return it. The
   * verifier is then not called, but scopes and `expiresAt` are checked. Default: an anonymous caller.
   */
  auth?: string | AuthInfo
  /** The platform's bindings or variables, `ctx.env`, including `MAYFLY_SECRET`. Default: none. */
  env?: unknown
  /** The URL that the client uses. Nothing listens there. Default `http://localhost/mcp`. */
  url?: string
  /** Additional headers for each request, such as those of a proxy. Default: none. */
  headers?: { readonly [name: string]: string }
}

/** The official client. `close()` is called by `await using`. */
export type ConnectedClient = Client & AsyncDisposable

const OPTIONS: Names<ConnectOptions> = {
  era: { modern: 1, legacy: 1 },
  capabilities: 'object',
  answers: 1,
  auth: 1,
  env: 1,
  url: 'string',
  headers: 'object',
}

const NO_CALLER = `"auth" of connect must be a token, or a caller as returned by a verifier: { token: 't', clientId: 'ada', scopes: [] }.`

/** Ignoring a misspelt `auth` would let tests of scopes pass without a caller. */
function checkOptions(options: ConnectOptions): void {
  refuseUnknown('connect', options, OPTIONS)
  const { auth, headers = {} } = options
  if (auth !== undefined && typeof auth !== 'string' && (typeof auth !== 'object' || auth === null))
    throw new TypeError(NO_CALLER)
  if (typeof auth === 'string' && Object.keys(headers).some((name) => name.toLowerCase() === 'authorization'))
    throw new TypeError('connect got both a token and a header "Authorization": remove one of them.')
}

const VERSIONS = { modern: '2026-07-28', legacy: '2025-11-25' } as const

/** Milliseconds that `close` waits: for the end of the session, and for the server's `waitUntil` work. */
const CLOSE_MS = 5000

/**
 * Connects the client of `@modelcontextprotocol/client` to `server` over `fetch`: the whole protocol, without a port or a process.
 *
 * ```ts
 * await using client = await connect(server, { answers: accept({ confirm: true }) })
 * await client.callTool({ name: 'refund', arguments: { orderId: '7' } })
 * ```
 *
 * `close()`, or `await using`, ends everything that is open, including the session, and waits up to 5 seconds for work that tools passed to
 * `ctx.waitUntil`.
 *
 * @param server An `MCPServer`, the result of `fromSdk`, or an app with a `fetch`, such as a Hono app.
 * @throws TypeError for an unknown option, or an invalid value.
 * @throws TestingError `NO_CLIENT` if the package is not installed, and the official client's error if the server refuses it.
 */
export async function connect(server: FetchServer, options: ConnectOptions = {}): Promise<ConnectedClient> {
  requireServer('connect', server)
  checkOptions(options)
  watchRepeatedWork()
  const answer = options.answers === undefined ? undefined : createAnswering(options.answers)
  const { era = 'modern', auth, env, url = 'http://localhost/mcp' } = options
  const sdk = await loadClient()
  const running = new Set<Promise<unknown>>()
  const caller = typeof auth === 'object' ? await readCaller(auth) : undefined
  const platform: RequestPlatform = {
    env: env ?? {},
    waitUntil: (work) => {
      const tracked = work.catch(() => {}).finally(() => running.delete(tracked))
      running.add(tracked)
    },
    ...(caller !== undefined && { caller, callerReplacesAuth: true }),
  }
  const headers = { ...options.headers, ...(typeof auth === 'string' && { authorization: `Bearer ${auth}` }) }
  const transport = new sdk.StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers },
    fetch: async (to, init) => serveRequest(server, new Request(to, init), platform),
  })
  const client = new sdk.Client(
    { name: 'mayfly-testing', version: '1.0.0' },
    {
      capabilities:
        options.capabilities ?? (answer === undefined ? {} : { elicitation: { form: {}, url: {} } }),
      versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: VERSIONS.modern } },
    },
  )
  if (answer !== undefined)
    client.setRequestHandler('elicitation/create', ({ params }) => answer(params as Question))
  const close = client.close.bind(client)
  const closeAll = async (): Promise<void> => {
    // A session outlives its client. The client reports its error to `onerror`.
    await inTime(transport.terminateSession().catch(() => {}))
    await close()
    await inTime(settled(running))
  }
  const connected = Object.assign(client, { close: closeAll, [Symbol.asyncDispose]: closeAll })
  try {
    await client.connect(transport)
    return connected
  } catch (error) {
    await closeAll()
    throw error
  }
}

async function readCaller(auth: AuthInfo): Promise<Caller | undefined> {
  try {
    const { realm, ...said } = auth
    if (realm !== undefined && typeof realm !== 'string') throw new TypeError(NO_CALLER)
    const caller = await toCaller(said)
    return caller?.auth && realm !== undefined ? { ...caller, auth: { ...caller.auth, realm } } : caller
  } catch {
    // Its error mentions a function that checks tokens, which does not exist here.
    throw new TypeError(NO_CALLER)
  }
}

/** In a loop, since work may start more work. */
async function settled(running: ReadonlySet<Promise<unknown>>): Promise<void> {
  while (running.size > 0) await Promise.all(running)
}

async function inTime(work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSE_MS)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}

async function loadClient(): Promise<typeof import('@modelcontextprotocol/client')> {
  // In a `try`, so that bundlers treat a package that is not installed as optional.
  try {
    return await import('@modelcontextprotocol/client')
  } catch (cause) {
    throw new TestingError(
      'NO_CLIENT',
      'connect needs @modelcontextprotocol/client: npm install --save-dev @modelcontextprotocol/client',
      { cause },
    )
  }
}

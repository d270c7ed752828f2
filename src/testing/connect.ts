/** `connect`: the official client, connected to a server in the same process. */
import type { Client, ClientCapabilities } from '@modelcontextprotocol/client'
import { toCaller } from '../auth/host-caller.ts'
import type { AuthInfo, Era } from '../definition/context.ts'
import { unknownOption } from '../definition/unknown-option.ts'
import type { Caller } from '../request/access.ts'
import { type FetchServer, type RequestPlatform, serveRequest } from '../request/platform.ts'
import { type Answers, createAnswering, type Question, TestingError } from './answers.ts'

export interface ConnectOptions {
  /** The era that the client speaks: `modern` is 2026-07-28, `legacy` 2025-11-25. Default `modern`. */
  era?: Era
  /** What the client declares that it can do. Default: elicitation of both kinds if there are `answers`, else nothing. */
  capabilities?: ClientCapabilities
  /** The answers to the server's questions. Without them, no question is answered. */
  answers?: Answers
  /**
   * A token, sent as `Authorization: Bearer`, which the server checks as it checks any; or the caller itself, as a verifier would return
   * it. The verifier is then not called; the scopes of the server and of its tools hold, and `expiresAt`. Default: an anonymous caller.
   */
  auth?: string | AuthInfo
  /** The bindings or variables of the platform, `ctx.env`: also where `MAYFLY_SECRET` is. Default: none. */
  env?: unknown
  /** The URL that the client believes to connect to. Nothing listens there. Default `http://localhost/mcp`. */
  url?: string
  /** More headers for each request, such as those that a proxy adds. Default: none. */
  headers?: { readonly [name: string]: string }
}

/** The official client. `close()` is called by `await using`. */
export type ConnectedClient = Client & AsyncDisposable

const OPTIONS: { readonly [option in keyof ConnectOptions]-?: true } = {
  era: true,
  capabilities: true,
  answers: true,
  auth: true,
  env: true,
  url: true,
  headers: true,
}

const NO_CALLER = `"auth" of connect is a token, or a caller as a verifier returns it: { token: 't', clientId: 'ada', scopes: [] }.`

/** With a misspelt `auth` ignored, tests of scopes would pass without a caller. */
function checkOptions(options: ConnectOptions): void {
  const unknown = unknownOption(options, OPTIONS)
  if (unknown !== undefined) throw new TypeError(`connect has no option "${unknown}".`)
  const { era, auth, headers = {} } = options
  if (era !== undefined && era !== 'modern' && era !== 'legacy')
    throw new TypeError('"era" of connect is "modern" or "legacy".')
  if (auth !== undefined && typeof auth !== 'string' && (typeof auth !== 'object' || auth === null))
    throw new TypeError(NO_CALLER)
  if (typeof auth === 'string' && Object.keys(headers).some((name) => name.toLowerCase() === 'authorization'))
    throw new TypeError('connect was given a token and a header "Authorization": leave one of them out.')
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
 * `close()`, or `await using`, ends what is still open, also the session, and waits up to 5 seconds for work that tools have passed to
 * `ctx.waitUntil`.
 *
 * @param server an `MCPServer`, what `fromSdk` returns, or an app with a `fetch`, such as one of Hono.
 * @throws TypeError for an option that does not exist, or for a value that it does not allow.
 * @throws TestingError `NO_CLIENT` if the package is not installed, and the official client's error if the server refuses it.
 */
export async function connect(server: FetchServer, options: ConnectOptions = {}): Promise<ConnectedClient> {
  checkOptions(options)
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
    // A session outlives its client. The client reports an error of it to `onerror`.
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
    return await toCaller(auth)
  } catch {
    // Its error speaks of a function that checks tokens, and there is none.
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

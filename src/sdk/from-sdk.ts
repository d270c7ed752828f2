/**
 * `fromSdk`: serves the official SDK servers that a factory creates, a fresh one for each request.
 */
import { keepUnlessFailed } from '../definition/keep-unless-failed.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { type Names, refuseUnknown } from '../definition/unknown-option.ts'
import { refuseMisplaced } from '../http/hosting.ts'
import { tokenAuthOf } from '../http/known-callers.ts'
import { LEGACY_VERSIONS } from '../protocol/versions.ts'
import { isApp } from './app-shape.ts'
import { explainAsking } from './explain-asking.ts'
import { HOSTED_OPTIONS, type HostedConfig, type HostedServer, host } from './host.ts'
import { createListedNames, type ListedNames } from './listed-names.ts'
import { createNameCheck } from './name-check.ts'
import type { ForeignAnswer, ForeignCall, RunForeign } from './run.ts'
import { rememberSchemas } from './schema-memo.ts'
import { loadHandler, loadTransport, type SdkHandler, type Transport } from './sdk-packages.ts'
import type { SdkContext, SdkServer } from './sdk-server.ts'

export type { SdkContext, SdkServer }

/** Creates a new server for one request. */
export type SdkServerFactory = (context: SdkContext) => SdkServer | Promise<SdkServer>

/** Options of `fromSdk`. */
export interface FromSdkOptions extends HostedConfig {
  /** Options for SDK v2's `createMcpHandler`, such as `bus`. */
  handler?: { readonly [option: string]: unknown }
}

const OPTIONS: Names<FromSdkOptions> = { ...HOSTED_OPTIONS, handler: 'object' }

/**
 * Serves a server of an official SDK with Mayfly's guard, auth and adapters. The factory is called for each request. The version of
 * the SDK is detected: v1 supports only the legacy era, and modern clients get an error that says so (`-32022`); v2 supports both.
 * Features that need a session do not work, as in any stateless server.
 *
 * ```ts
 * export default fromSdk(() => createShopServer())
 * ```
 *
 * @throws TypeError for invalid options.
 */
export function fromSdk(factory: SdkServerFactory, options: FromSdkOptions = {}): HostedServer {
  if (typeof factory !== 'function') {
    throw new TypeError(
      'fromSdk takes a function that creates a server, because each request gets a new one.',
    )
  }
  // A factory has one parameter.
  if (isApp(factory) || factory.length >= 2) {
    throw new TypeError(
      'fromSdk takes a function that creates a server of an official SDK. This is a Node handler: pass it to fromNode of mayfly-mcp/from-node.',
    )
  }
  refuseMisplaced('fromSdk', options)
  refuseUnknown('fromSdk', options, OPTIONS)
  const names = createListedNames()
  return host(createRun(factory, options, names), options, names)
}

const SHARED =
  'The factory given to fromSdk returned the same server again: create a new server in it for each request.'

function createRun(factory: SdkServerFactory, options: FromSdkOptions, names: ListedNames): RunForeign {
  const { handler: handlerOptions = {}, scopes } = options
  const made = new WeakSet<SdkServer>()
  const checkNames = createNameCheck(scopes, tokenAuthOf(options))
  /** A server that was used before could answer another caller, or use the identity of its first caller. */
  const createFresh = async (context: SdkContext): Promise<SdkServer> => {
    const server = await factory(context)
    if (made.has(server)) throw new TypeError(SHARED)
    if (typeof server?.connect === 'function') {
      made.add(server)
      rememberSchemas(server)
      explainAsking(server)
      names.learnServer(server)
      checkNames(server)
    }
    return server
  }
  const calls = new WeakMap<Request, { readonly call: ForeignCall; thrown?: { readonly error: unknown } }>()
  let isKnownV2 = false
  /** SDK v2 creates the servers itself, and passes only the request of each. */
  const toHandler = keepUnlessFailed(async (): Promise<SdkHandler> => {
    const create = await loadHandler()
    return create(
      async ({ requestInfo, ...given }) => {
        const running = requestInfo && calls.get(requestInfo)
        const context = { ...given, ...(requestInfo && { requestInfo }), ...surroundings(running?.call) }
        try {
          return await createFresh(context)
        } catch (error) {
          if (running !== undefined) running.thrown = { error }
          throw error
        }
      },
      { keepAliveMs: 0, maxSubscriptions: 2 ** 31, ...handlerOptions },
    )
  }, 'SDK')

  const runV2 = async (call: ForeignCall): Promise<ForeignAnswer> => {
    const running: { readonly call: ForeignCall; thrown?: { readonly error: unknown } } = { call }
    calls.set(call.request, running)
    const server = await toHandler()
    const response = await server.fetch(call.request, {
      parsedBody: call.message,
      ...(call.auth !== undefined && { authInfo: call.auth }),
    })
    // The SDK answers the error itself, without reporting it.
    if (running.thrown !== undefined) throw running.thrown.error
    return { response, close: () => response.body?.cancel().catch(() => {}) }
  }

  return async (call) => {
    if (isKnownV2) return runV2(call)
    const server = await createFresh({
      era: call.era,
      ...(call.auth !== undefined && { authInfo: call.auth }),
      requestInfo: call.request,
      ...surroundings(call),
    })
    if (isV2(server)) {
      isKnownV2 = true
      await server.close()
      return runV2(call)
    }
    return runV1(server, call)
  }
}

async function runV1(server: SdkServer, call: ForeignCall): Promise<ForeignAnswer> {
  if (call.era === 'modern') throw unsupportedVersion(call)
  if (typeof server?.connect !== 'function') {
    throw new TypeError(
      'The factory given to fromSdk did not return an McpServer or Server of an official SDK.',
    )
  }
  const StreamableTransport = await loadTransport()
  const transport: Transport = new StreamableTransport({
    enableJsonResponse: call.isBuffered,
    keepAliveMs: 0,
  })
  await server.connect(transport as never)
  const { signal } = call.request
  const close = (): Promise<void> => server.close()
  // The client may have disconnected in the meantime.
  if (signal.aborted) await close()
  signal.throwIfAborted()
  // A buffered response is complete only when the call ends, and the transport ignores the request's signal.
  signal.addEventListener('abort', () => void close().catch(() => {}), { once: true })
  const broken = whenUnsendable(transport)
  const response = await Promise.race([
    transport.handleRequest(call.request, {
      parsedBody: call.message,
      ...(call.auth !== undefined && { authInfo: call.auth }),
    }),
    broken,
  ])
  return { response, broken, close }
}

/** Rejects if the answer cannot be converted to JSON: the SDK would not report it, and the client would keep waiting. */
function whenUnsendable(transport: Transport): Promise<never> {
  return new Promise((_resolve, reject) => {
    const { send } = transport
    transport.send = (...args) => {
      const sent = send.apply(transport, args)
      sent.catch(reject)
      return sent
    }
  })
}

/** Only servers of v2 have the negotiated version. */
function isV2(server: SdkServer): boolean {
  const { server: inner = server } = server as { server?: object }
  return (
    typeof (inner as { getNegotiatedProtocolVersion?: unknown }).getNegotiatedProtocolVersion === 'function'
  )
}

function surroundings(call: ForeignCall | undefined): Pick<SdkContext, 'env' | 'waitUntil'> {
  return { env: call?.env, waitUntil: call?.waitUntil ?? (() => {}) }
}

function unsupportedVersion({ request }: ForeignCall): ProtocolError {
  const requested = request.headers.get('mcp-protocol-version') ?? 'unknown'
  return new ProtocolError(
    ErrorCode.unsupportedProtocolVersion,
    `Unsupported protocol version: ${requested}`,
    { supported: LEGACY_VERSIONS, requested },
    { status: 400 },
  )
}

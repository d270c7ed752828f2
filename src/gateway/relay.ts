/** Passes one request on to a server behind, with the credentials of its caller: questions, progress, log messages and its end pass through. */
import type { Client, ClientCapabilities, PriorDiscovery, RequestOptions } from '@modelcontextprotocol/client'
import type { ServerConfig } from '../client/config.ts'
import { platformFetch } from '../client/guarded-fetch.ts'
import type { ServerLogEntry } from '../client/server-log-entry.ts'
import { type InputRequired, isInputRequired } from '../definition/input-required.ts'
import type { Context } from '../request/context.ts'
import type { ReportError } from '../request/options.ts'
import { FAILED, toCallEnd } from './failure.ts'
import type { GatewayHttpServer } from './options.ts'
import type { Upstream } from './upstream.ts'

export interface RelayOptions {
  readonly upstream: Upstream
  readonly prior: PriorDiscovery | undefined
  readonly reportError: ReportError
  /** Whether a legacy server may ask although its call then runs again from its start. */
  readonly mayRerun: boolean
  /** Whether the call may become a task of the server behind. */
  readonly allowsTask?: boolean
}

/** What a client says in a later round. */
interface Round {
  inputResponses?: { [key: string]: unknown }
  requestState?: string
}

type Params = Round & { _meta?: Record<string, unknown> }

/** Sends the request once. */
export type Send<Result> = (
  client: Client,
  options: RequestOptions & { allowInputRequired: true },
  params: Params,
) => Promise<Result | InputRequired>

/** Maximum milliseconds to wait for the stream of a session. */
const STREAM_TIMEOUT_MS = 2000

const PROTOCOL_KEY = /^(?:[\w-]+\.)*(?:modelcontextprotocol|mcp)(?:\.[\w-]+)*\//

/**
 * Resolves with the complete result. Questions of a modern server are asked of the caller's own client, whose later round goes on with
 * the server's state.
 *
 * @throws ProtocolError with the server's name and a code.
 */
export async function relay<Result extends object>(
  operation: string,
  context: Context,
  options: RelayOptions,
  send: Send<Result>,
): Promise<Result> {
  const { upstream, reportError } = options
  context.canReturnQuestions = true
  try {
    const credentials = await upstream.credentialsOf(context)
    const asks = { ...options, canAskLive: canAskLive(context) }
    const { server } = upstream
    // A process has one connection for all callers, so it has nobody to ask.
    const stream = 'url' in server && isLegacy(options) && mayAsk(asks) ? watchStream(server) : undefined
    const { connection, close } = upstream.connect(
      credentials,
      capabilitiesFor(context, asks),
      options.prior,
      { ...logsTo(context, upstream.name), ...stream?.config, ...(options.allowsTask && { tasks: true }) },
    )
    if (stream !== undefined) connection.onElicitation((params) => context.elicit(params as never) as never)
    // A call that waits for its user never gets to the end of this function.
    context.signal.addEventListener('abort', () => context.waitUntil(close()), { once: true })
    try {
      if (stream !== undefined) {
        await connection.request('connect', async () => {}, { signal: context.signal })
        await stream.opened
      }
      for (;;) {
        const round = roundOf(context)
        const result = await connection.request(
          operation,
          (client, given, params) =>
            send(
              client,
              { ...given, ...progressTo(context), allowInputRequired: true },
              { ...params, ...round },
            ),
          { signal: context.signal },
        )
        if (!isInputRequired(result)) return withoutProtocol(result)
        await context.askReturned(result)
      }
    } finally {
      context.waitUntil(close())
    }
  } catch (error) {
    throw toCallEnd(error, upstream, context, reportError)
  }
}

/** Whether the caller can be asked while its call runs, so that the call does not run again. */
function canAskLive(context: Context): boolean {
  const { hasSession, hasRendezvous, legacyPolicy } = context.conditions
  if (context.era === 'modern') return false
  return (hasSession || (hasRendezvous && legacyPolicy === 'rendezvous')) && canElicit(context)
}

const canElicit = (context: Context): boolean => context.can('elicitation.form').available

type Asks = Pick<RelayOptions, 'prior' | 'mayRerun'> & { readonly canAskLive: boolean }

const mayAsk = ({ canAskLive, mayRerun }: Asks): boolean => canAskLive || mayRerun

const isLegacy = ({ prior }: Pick<Asks, 'prior'>): boolean => prior?.kind === 'legacy'

/** What the server is told about its client: what the caller's own client declared, since that one answers. */
export function capabilitiesFor(context: Context, asks: Asks): ClientCapabilities {
  // The official types of capabilities allow only JSON, which these have been parsed from.
  return declaredFor(context, asks) as ClientCapabilities
}

function declaredFor(context: Context, asks: Asks): Context['clientCapabilities'] {
  const { clientCapabilities, era } = context
  const { elicitation, sampling, roots } = clientCapabilities
  if (isLegacy(asks))
    return elicitation !== undefined && mayAsk(asks) ? { elicitation: { form: {}, url: {} } } : {}
  // A legacy client that cannot be asked here gets an explanation, or is asked through its model.
  const asked = era === 'legacy' ? { form: {}, url: {} } : elicitation
  return {
    ...(asked !== undefined && { elicitation: asked }),
    ...(sampling !== undefined && { sampling }),
    ...(roots !== undefined && { roots: {} }),
  }
}

/**
 * A legacy server may ask on the session's stream, which opens after `initialize`. What it sends there before is lost, so the call waits
 * for the stream, or its refusal.
 */
function watchStream(server: GatewayHttpServer): {
  readonly config: Partial<ServerConfig>
  readonly opened: Promise<void>
} {
  const send = server.fetch ?? platformFetch
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, STREAM_TIMEOUT_MS)
    open = () => {
      clearTimeout(timer)
      resolve()
    }
  })
  const watched: typeof send = (url, init) => {
    const sent = send(url, init)
    if (init?.method === 'GET') sent.then(open, open)
    return sent
  }
  return { config: { fetch: watched }, opened }
}

function roundOf({ round }: Context): Round {
  if (round === undefined) return {}
  const { inputResponses, requestState } = round
  return { inputResponses: { ...inputResponses }, ...(requestState !== undefined && { requestState }) }
}

function progressTo(context: Context): Pick<RequestOptions, 'onprogress'> {
  if (context.parts.wire.progressToken === undefined) return {}
  return {
    onprogress: ({ progress, total, message }) =>
      context.reportProgress({
        progress,
        ...(total !== undefined && { total }),
        ...(message !== undefined && { message }),
      }),
  }
}

function logsTo(context: Context, server: string): Partial<ServerConfig> {
  const { logLevel } = context.parts.wire
  if (logLevel === undefined) return {}
  return {
    logLevel,
    log: ({ level, data, logger }: ServerLogEntry) => context.log(level, data, logger ?? server),
  }
}

/** The result without the protocol's own keys, which describe the server behind, and without the one that only this server may set. */
export function withoutProtocol<Result extends object>(result: Result): Result {
  const {
    _meta,
    resultType: _,
    ttlMs: _ttl,
    cacheScope: _scope,
    ...rest
  } = result as { [name: string]: unknown }
  const kept = Object.entries((_meta ?? {}) as object).filter(
    ([key]) => key !== FAILED && !PROTOCOL_KEY.test(key),
  )
  return { ...rest, ...(kept.length > 0 && { _meta: Object.fromEntries(kept) }) } as Result
}

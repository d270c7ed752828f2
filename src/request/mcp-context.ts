/**
 * Creates `ctx.mcp`: the context in the form of the official SDK and of other frameworks. Created on first use, so that other tools
 * do not pay for it.
 */
import type { ElicitParams } from '../definition/ask.ts'
import type { LogLevel, MastraMcp, McpContext, Progress } from '../definition/context.ts'
import { isStandardSchema } from '../definition/schema.ts'
import type { SdkMcpRequest, SdkRequestMeta, WireMessage } from '../definition/sdk-context.ts'
import type { ChangeEvent } from '../events/bus.ts'
import type { ContextWire } from './wire.ts'

/** The part of a context that is used here. */
interface Context
  extends Pick<
    McpContext,
    'signal' | 'sessionId' | 'auth' | 'request' | 'era' | 'log' | 'elicit' | 'reportProgress'
  > {
  askAsSent(method: string, params: object, options: object | undefined): Promise<unknown>
  notify(method: string, params: Record<string, unknown>): void
}

/** The answers and the state from the last round of a tool that returns its questions. */
export interface AnsweredRound {
  readonly inputResponses: { readonly [key: string]: unknown }
  readonly requestState: string | undefined
}

/** The answers and the state in the request itself. */
export function roundOf({ rounds }: ContextWire): AnsweredRound | undefined {
  return rounds && { inputResponses: rounds.responses, requestState: rounds.journal.state }
}

export function createMcpContext(
  context: Context,
  wire: ContextWire,
  round: AnsweredRound | undefined,
): MastraMcp {
  const { signal, sessionId, auth, request, era } = context
  const { _meta, envelope } = splitMeta(wire.meta, era)
  // biome-ignore lint/suspicious/noExplicitAny: see SdkSendRequest.
  const send = (message: WireMessage, ...rest: unknown[]): Promise<any> =>
    sendRequest(context, message, ...rest)
  const notify = (message: WireMessage) => sendNotification(context, wire, message)
  const mcpReq: SdkMcpRequest = {
    id: wire.rpcId,
    method: wire.method,
    ...(_meta !== undefined && { _meta }),
    ...(envelope !== undefined && { envelope }),
    ...(round !== undefined && { inputResponses: { ...round.inputResponses } }),
    // As in the SDK, the caller names the type of its own state.
    requestState: <State>() => round?.requestState as State | undefined,
    signal,
    send,
    notify,
    log: async (level, data, logger) => context.log(level, data, logger),
    elicitInput: (params, options) => send({ method: 'elicitation/create', params }, options),
    requestSampling: (params) => send({ method: 'sampling/createMessage', params }),
  }
  return {
    extra: {
      signal,
      requestId: wire.rpcId,
      ...(sessionId !== undefined && { sessionId }),
      ...(auth !== undefined && { authInfo: auth }),
      ...(_meta !== undefined && { _meta }),
      ...(request !== undefined && {
        requestInfo: { headers: Object.fromEntries(request.headers), url: new URL(request.url) },
        http: { req: request, ...(auth !== undefined && { authInfo: auth }) },
      }),
      sendNotification: notify,
      sendRequest: send,
      mcpReq,
    },
    elicitation: {
      sendRequest: (params: ElicitParams, options?: object) => context.elicit(params, options),
    },
    log: async (level, message, data) => context.log(level, { message, ...data }),
    progress: async (progress) => context.reportProgress(progress),
    ...(era === 'modern' && { protocolVersion: '2026-07-28' as const }),
  }
}

/** Envelope keys in `_meta` (MCP 2026-07-28, "Per-request protocol fields"). The SDK keeps them apart from the rest. */
const RESERVED = 'io.modelcontextprotocol/'

function splitMeta(
  meta: Record<string, unknown> | undefined,
  era: Context['era'],
): { _meta?: SdkRequestMeta; envelope?: Record<string, unknown> } {
  if (meta === undefined) return {}
  if (era === 'legacy') return { _meta: meta }
  const entries = Object.entries(meta)
  const isReserved = ([key]: [string, unknown]) => key.startsWith(RESERVED)
  return {
    _meta: Object.fromEntries(entries.filter((entry) => !isReserved(entry))),
    envelope: Object.fromEntries(entries.filter(isReserved)),
  }
}

/** Async, so that a request that cannot be sent rejects instead of throwing. */
async function sendRequest(
  context: Context,
  { method, params = {} }: WireMessage,
  resultSchema?: unknown,
  options: unknown = resultSchema,
): Promise<unknown> {
  const result = await context.askAsSent(method, params, options as object | undefined)
  if (!isStandardSchema(resultSchema)) return result
  const parsed = await resultSchema['~standard'].validate(result)
  if (parsed.issues === undefined) return parsed.value
  throw new TypeError(`The client's answer to ${method} does not match the result schema.`)
}

/** Change notifications go to all clients that listen, not to the response of this request. */
const CHANGES: { readonly [method: string]: ChangeEvent } = {
  'notifications/tools/list_changed': { type: 'toolsListChanged' },
  'notifications/prompts/list_changed': { type: 'promptsListChanged' },
  'notifications/resources/list_changed': { type: 'resourcesListChanged' },
}

async function sendNotification(
  context: Context,
  { publish }: ContextWire,
  { method, params = {} }: WireMessage,
): Promise<void> {
  const members = params as Record<string, unknown>
  if (method === 'notifications/progress') {
    context.reportProgress(params as Progress)
  } else if (method === 'notifications/message') {
    const { level, data, logger } = members
    context.log(level as LogLevel, data, logger as string | undefined)
  } else if (method === 'notifications/resources/updated') {
    await publish({ type: 'resourceUpdated', uri: String(members.uri) })
  } else if (Object.hasOwn(CHANGES, method)) {
    await publish(CHANGES[method]!)
  } else {
    context.notify(method, members)
  }
}

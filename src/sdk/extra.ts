/**
 * The second argument that the official SDK passes to callbacks, v1 and v2 combined. Created on first use, so that other tools do not
 * pay for it.
 */
import type { LogLevel, Progress } from '../definition/context.ts'
import { isStandardSchema } from '../definition/schema.ts'
import type { ChangeEvent } from '../events/bus.ts'
import type { AnsweredRound, Context } from '../request/context.ts'
import { splitMeta } from '../request/meta.ts'
import type { ContextWire } from '../request/wire.ts'
import type { SdkMcpRequest, SdkV1Extra, SdkV2Context, WireMessage } from './sdk-context.ts'

export type SdkExtra = SdkV1Extra & SdkV2Context

interface Made {
  readonly round: AnsweredRound | undefined
  readonly extra: SdkExtra
}

/** One for each context, and a new one with each round of answers. */
export function extraOf(context: Context): SdkExtra {
  const { round, memo } = context
  const made = memo.get(extraOf) as Made | undefined
  if (made !== undefined && made.round === round) return made.extra
  const extra = createExtra(context, context.parts.wire, round)
  memo.set(extraOf, { round, extra } satisfies Made)
  return extra
}

function createExtra(context: Context, wire: ContextWire, round: AnsweredRound | undefined): SdkExtra {
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

/** Methods of extensions: what they take and return, who may call them, and how they answer. */
import type { Meta } from '../definition/content.ts'
import type { Era, McpContext } from '../definition/context.ts'
import { isObject } from '../definition/is-object.ts'
import { toMembers } from '../definition/json-members.ts'
import { invalidParams, ProtocolError } from '../definition/protocol-error.ts'
import {
  type CompiledSchema,
  compileSchema,
  describeIssues,
  type InferInput,
  type InferOutput,
  type Schema,
} from '../definition/schema.ts'
import { type Names, requireOptions } from '../definition/unknown-option.ts'
import { missingCapabilityError } from '../interaction/capabilities.ts'
import { META } from '../protocol/envelope.ts'
import type { Context } from '../request/context.ts'
import type { ExtensionMethod } from '../request/extension-method.ts'
import type { HeaderCheck } from '../request/header-check.ts'
import type { MethodResult } from '../request/method-result.ts'
import type { Params } from '../request/params.ts'
import type { RequestScope } from '../request/request-server.ts'
import { createHold } from './held-call.ts'

/**
 * What the code of a method receives besides its parameters: the context of a tool, which cannot ask the client. In a stream, progress and
 * log messages are dropped.
 */
export interface MethodContext extends Omit<McpContext, 'elicit' | 'createMessage' | 'listRoots' | 'step'> {
  /** Whether the response can be streamed: both the platform and the client must support it. */
  readonly canStream: boolean
}

/** What a stream sends. */
export interface StreamedNotification {
  readonly method: string
  readonly params?: { readonly [name: string]: unknown }
}

type ParamsOf<P> = P extends Schema ? InferOutput<P> : { readonly [name: string]: unknown }
type ResultOf<R> = (R extends Schema ? InferInput<R> : object) & { readonly _meta?: Meta }

/** The options of every method. */
interface MethodOptions<P extends Schema | undefined, R extends Schema | undefined> {
  /** What a client may send, without `_meta`. Default: any object. Anything else is refused with `-32602`. */
  paramsSchema?: P
  /** What the method returns. Another result is a fault of the server: `-32603`. Default: any object. */
  resultSchema?: R
  /** The scopes that the caller's token must have, if the server has `auth`. Default: none. */
  scopes?: readonly string[]
  /** The parameter that a header `Mcp-Name` must repeat, if one is sent (MCP 2026-07-28, "Streamable HTTP"). Default: none. */
  nameHeader?: string
  /** Whether the client must have declared the extension. Default: as for the extension. */
  declaration?: 'required' | 'optional'
  /** The eras in which it is served. Default: those of the extension. */
  eras?: readonly Era[]
}

/** A method that answers once. */
export interface CallOptions<
  P extends Schema | undefined = undefined,
  R extends Schema | undefined = undefined,
> extends MethodOptions<P, R> {
  /**
   * How long clients may keep a result of 2026-07-28: `shared` by the server's `cache` if it is the same for all callers, `private` not at
   * all. Default: no hints.
   */
  cache?: 'shared' | 'private'
  /** A `ProtocolError` reaches the client as it is; every other error is reported, and the client gets `-32603`. */
  execute(params: ParamsOf<P>, context: MethodContext): ResultOf<R> | Promise<ResultOf<R>>
  stream?: undefined
}

/** A method whose response stays open. */
export interface StreamOptions<
  P extends Schema | undefined = undefined,
  R extends Schema | undefined = undefined,
> extends MethodOptions<P, R> {
  /**
   * Sends each notification that it yields on the response of its request, when the client has read the one before; then the result that it
   * returns. What it throws before the first one is an answer without a stream. `context.signal` aborts when the client has left, and when
   * the time is over: it then has half a second to return its result, or the stream ends with `-32603`.
   */
  stream(
    params: ParamsOf<P>,
    context: MethodContext,
  ): AsyncGenerator<StreamedNotification, ResultOf<R>, undefined>
  execute?: undefined
  cache?: undefined
}

/** A method of an extension, with any schemas. */
export interface Method {
  // biome-ignore lint/suspicious/noExplicitAny: parameters are contravariant, so only `any` accepts every method.
  readonly options: CallOptions<any, any> | StreamOptions<any, any>
  readonly params: CompiledSchema | undefined
  readonly result: CompiledSchema | undefined
}

type Options = CallOptions<Schema, Schema> | StreamOptions<Schema, Schema>

const OPTIONS: Names<Options> = {
  paramsSchema: 1,
  resultSchema: 1,
  scopes: 'strings',
  nameHeader: 'string',
  declaration: { required: 1, optional: 1 },
  eras: 'strings',
  cache: { shared: 1, private: 1 },
  execute: 'function',
  stream: 'function',
}

/**
 * A method of an extension.
 *
 * ```ts
 * createMethod({
 *   paramsSchema: z.object({ city: z.string() }),
 *   resultSchema: z.object({ celsius: z.number() }),
 *   execute: async ({ city }) => ({ celsius: await measure(city) }),
 * })
 * ```
 *
 * @throws TypeError for an invalid option.
 */
export function createMethod<
  const P extends Schema | undefined = undefined,
  const R extends Schema | undefined = undefined,
>(options: CallOptions<P, R> | StreamOptions<P, R>): Method {
  requireOptions('createMethod', options, OPTIONS)
  if ((options.execute === undefined) === (options.stream === undefined))
    throw new TypeError('createMethod needs either "execute" or "stream".')
  if (options.stream !== undefined && 'cache' in options && options.cache !== undefined)
    throw new TypeError('"cache" of createMethod is for methods that answer once, not for a "stream".')
  checkEras('createMethod', options.eras)
  const compile = (schema: unknown, label: string): CompiledSchema | undefined =>
    schema === undefined ? undefined : compileSchema(schema, label, 'output')
  return {
    options,
    params: compile(options.paramsSchema, '"paramsSchema" of createMethod'),
    result: compile(options.resultSchema, '"resultSchema" of createMethod'),
  }
}

/** @throws TypeError for anything but a list of eras. */
export function checkEras(where: string, eras: unknown): void {
  const isList =
    eras === undefined ||
    (Array.isArray(eras) && eras.length > 0 && eras.every((era) => era === 'modern' || era === 'legacy'))
  if (!isList) throw new TypeError(`"eras" of ${where} must be a list of "modern" and "legacy".`)
}

/** What a method shares with the others of its extension. */
export interface MethodOwner {
  readonly id: string
  readonly eras: readonly Era[]
  readonly declaration: 'required' | 'optional'
  readonly notifications: readonly string[]
  report(error: unknown): void
}

/** The method as the server runs it. */
export function toServed(
  name: string,
  { options, params, result }: Method,
  owner: MethodOwner,
): ExtensionMethod {
  const { scopes, nameHeader, cache, declaration = owner.declaration } = options

  /** The valid parameters. @throws ProtocolError for a caller, a client or parameters that are refused. */
  const admit = async (
    scope: RequestScope,
    sent: Params,
    headers: HeaderCheck | undefined,
  ): Promise<readonly [params: ParamsOf<Schema>, context: MethodContext]> => {
    const { context } = scope
    if (nameHeader !== undefined) headers?.checkName(nameHeader)
    scope.requireAccess({ kind: 'method', name, scopes })
    if (declaration === 'required') requireDeclared(owner.id, context)
    const own = Object.assign(context, { canStream: context.conditions.canStream })
    const { _meta, ...given } = sent
    if (params === undefined) return [given, own]
    const validation = await params.validate(given)
    if (!validation.ok) throw invalidParams(`Invalid params: ${describeIssues(validation.issues)}`)
    return [validation.value as ParamsOf<Schema>, own]
  }

  const toResult = async (value: unknown): Promise<MethodResult> => {
    if (!isObject(value)) throw new TypeError(`Method "${name}" returned no object.`)
    const { _meta, ...members } = value as { readonly _meta?: Meta }
    const validation = await result?.validate(members)
    if (validation?.ok === false)
      throw new TypeError(`The result of method "${name}" is invalid: ${describeIssues(validation.issues)}`)
    const valid = (validation?.value ?? members) as object
    for (const reserved of RESERVED)
      if (Object.hasOwn(valid, reserved))
        throw new TypeError(`The result of method "${name}" has "${reserved}", which is reserved for MCP.`)
    return { members: toMembers(valid), meta: _meta }
  }

  return {
    eras: options.eras ?? owner.eras,
    scopes,
    caching: cache === 'shared' ? 'list' : cache,
    run: async (scope, sent, _options, headers) => {
      const given = await admit(scope, sent, headers)
      return toResult(await options.execute!(...given))
    },
    ...(options.stream !== undefined && {
      hold: createHold(async (scope, sent, headers) => {
        const given = await admit(scope, sent, headers)
        const steps = options.stream!(...given)
        if (typeof steps?.next !== 'function' || typeof steps.return !== 'function')
          throw new TypeError(
            `"stream" of method "${name}" is not an async generator: write async function*.`,
          )
        const id = scope.context.parts.wire.rpcId
        return {
          async next() {
            const { done, value } = await steps.next()
            return done ? { result: await toResult(value) } : toNotification(value, id, name, owner)
          },
          end: () => void Promise.resolve(steps.return(undefined as never)).catch(owner.report),
        }
      }),
    }),
  }
}

/** Members that the protocol itself adds to results. */
const RESERVED = ['resultType', 'ttlMs', 'cacheScope'] as const

function toNotification(
  value: StreamedNotification,
  id: string | number,
  name: string,
  { notifications }: MethodOwner,
): { readonly method: string; readonly params: object } {
  const { method, params = {} } = value
  if (!notifications.includes(method))
    throw new TypeError(
      `Method "${name}" sent "${method}", which is not in "notifications" of its extension.`,
    )
  const { _meta } = params
  return {
    method,
    params: { ...params, _meta: { ...(isObject(_meta) ? _meta : {}), [META.subscriptionId]: id } },
  }
}

/** @throws ProtocolError `-32021`; HTTP 400 for modern clients, as the specification has it. Legacy clients only read the code of a 200. */
function requireDeclared(id: string, context: Context): void {
  if (context.clientExtension(id) !== undefined) return
  const error = missingCapabilityError({ extensions: { [id]: {} } })
  throw context.era === 'modern' ? error : new ProtocolError(error.code, error.message, error.data)
}

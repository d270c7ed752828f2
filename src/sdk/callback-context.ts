/**
 * The context as a callback of the official SDK reads it. Such callbacks test whether a member exists, so what cannot work in this request
 * is absent, and `requestId` is the id of the JSON-RPC request. Tools of `mayfly-mcp`, middleware and logs share the context and keep theirs.
 */
import type { Feature } from '../definition/context.ts'
import { inPlaceOf } from '../definition/tool.ts'
import type { Context } from '../request/context.ts'

/** The feature that a member of a context needs. */
const NEEDED: { readonly [member: string]: Feature } = {
  createMessage: 'sampling',
  listRoots: 'roots',
  reportProgress: 'progress',
}

const AS_READ: ProxyHandler<Context> = {
  has: (context, name) => name in context && !isAbsent(context, name),
  get(context, name) {
    if (name === 'requestId') return context.parts.wire.rpcId
    if (isAbsent(context, name)) return undefined
    // With itself as `this`: the class has private members.
    const value: unknown = Reflect.get(context, name, context)
    return typeof value === 'function' ? value.bind(context) : value
  },
}

function isAbsent(context: Context, name: string | symbol): boolean {
  const feature = typeof name === 'string' && Object.hasOwn(NEEDED, name) ? NEEDED[name] : undefined
  return feature !== undefined && !context.can(feature).available
}

type Callback = (...args: never[]) => unknown

/** The callback with its last argument, the context, as the SDK's callbacks read it. Anything but a function is returned unchanged. */
export function withCallbackContext<Given>(callback: Given): Given {
  if (typeof callback !== 'function') return callback
  const call = callback as unknown as (...args: unknown[]) => unknown
  const run = (...args: unknown[]): unknown =>
    call(...args.slice(0, -1), new Proxy(args.at(-1) as Context, AS_READ))
  // The same parameters and result: only what the context contains differs.
  return inPlaceOf(call, run) as Given & Callback
}

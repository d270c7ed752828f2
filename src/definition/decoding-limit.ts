/**
 * A repair of the `fetch` of Node (undici 7.29, Node 24.21): it rejects an answer with more than five content encodings, and leaves its body
 * without a listener. Whatever ends that body later, such as the server that closes the connection, is an error that ends the process.
 * Here the answer is refused before there is a body.
 */
const MAX_ENCODINGS = 5

/** Where undici keeps what sends requests: `setGlobalDispatcher` of any undici sets it, and `fetch` reads it. */
const DISPATCHER = 'undici.globalDispatcher.1'

type Headers = (status: number, headers: readonly unknown[], ...rest: unknown[]) => boolean
interface Handler {
  readonly onHeaders?: Headers
}
interface Dispatcher {
  dispatch(options: unknown, handler: Handler): boolean
}

/**
 * A member for `fetch`'s options that Node knows. Empty on other platforms.
 *
 * @param init The other options: a dispatcher of the user's, as of a proxy, still sends the request.
 */
export function decodingLimit(init?: object): { readonly dispatcher?: Dispatcher } {
  const { dispatcher } = (init ?? {}) as { readonly dispatcher?: Dispatcher }
  const given =
    dispatcher ?? (globalThis as { [key: symbol]: Dispatcher | undefined })[Symbol.for(DISPATCHER)]
  if (given === undefined) return {}
  // What `given` has besides `dispatch` is asked for by undici's tests of its kind.
  const dispatch = (options: unknown, handler: Handler) => given.dispatch(options, withLimit(handler))
  return { dispatcher: Object.create(given, { dispatch: { value: dispatch } }) as Dispatcher }
}

function withLimit(handler: Handler): Handler {
  const { onHeaders } = handler
  if (onHeaders === undefined) return handler
  const limited: Headers = function (this: Handler, status, headers, ...rest) {
    // What is thrown here ends the request.
    if (countEncodings(headers) > MAX_ENCODINGS) throw new TypeError('too many content encodings')
    return onHeaders.call(this, status, headers, ...rest)
  }
  return Object.create(handler, { onHeaders: { value: limited } }) as Handler
}

/** @param headers Names and values by turns, in bytes; the values of a repeated name may be a list. */
function countEncodings(headers: readonly unknown[]): number {
  let count = 0
  for (let at = 0; at < headers.length; at += 2) {
    if (textOf(headers[at]).toLowerCase() !== 'content-encoding') continue
    const values: unknown = headers[at + 1]
    for (const value of Array.isArray(values) ? values : [values]) count += textOf(value).split(',').length
  }
  return count
}

function textOf(value: unknown): string {
  return value instanceof Uint8Array ? new TextDecoder('latin1').decode(value) : String(value)
}

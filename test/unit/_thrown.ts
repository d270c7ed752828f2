/** What user code may throw, and a console that looks at it as that of Node does. */
import { format } from 'node:util'
import { type MockInstance, vi } from 'vitest'
import { ProtocolError } from '../../src/index.ts'

/** Silences the console, which still throws for what it cannot print. */
export function printsLikeNode(): MockInstance<typeof console.error> {
  return vi.spyOn(console, 'error').mockImplementation((...printed) => void format(...printed))
}

const throwing = (): never => {
  throw new Error('not to be looked at')
}

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {})
  revoke()
  return proxy
}

/** An object of which nothing can be read. */
function closed(target: object): object {
  const trap = { get: throwing, has: throwing, ownKeys: throwing, getOwnPropertyDescriptor: throwing }
  return new Proxy(target, { ...trap, getPrototypeOf: throwing })
}

const thenable = (then: () => unknown): object => Object.fromEntries([['then', then]])

export const VALUES: { readonly [what: string]: () => unknown } = {
  'an Error': () => new Error('said'),
  undefined: () => undefined,
  null: () => null,
  'a symbol': () => Symbol('said'),
  'a bigint': () => 1n,
  'an object without a prototype': () => Object.create(null),
  'a revoked Proxy': () => revoked({}),
  'a revoked Proxy of an Error': () => revoked(new Error('said')),
  'a revoked function': () => revoked(() => {}),
  'a closed Proxy of an Error': () => closed(new Error('said')),
  'a Proxy of a ProtocolError that cannot be read': () =>
    new Proxy(new ProtocolError(-32602, 'said'), { get: throwing }),
  'a toString that throws': () => ({ toString: throwing, [Symbol.toPrimitive]: throwing }),
  'an Error with a message that throws': () =>
    Object.defineProperties(new Error('said'), {
      message: { get: throwing },
      name: { get: throwing },
      stack: { get: throwing },
      cause: { get: throwing },
      code: { get: throwing },
    }),
  'an Error with a message that is no text': () =>
    Object.assign(new Error('said'), { message: { toString: throwing } }),
  'an Error that is its own cause': () => {
    const error = new Error('said')
    error.cause = error
    return error
  },
  'an Error with a revoked cause': () => new Error('said', { cause: revoked({}) }),
  'an Error with a closed cause': () => new Error('said', { cause: closed(new Error('said')) }),
  'a thenable': () => thenable(throwing),
  'a thenable that never settles': () => thenable(() => {}),
}

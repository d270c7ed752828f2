/** What user code may throw: values that say nothing, or that cannot be looked at; and a console that looks at it as that of Node does. */
import { format } from 'node:util'
import { afterAll, afterEach, beforeAll, type MockInstance, vi } from 'vitest'
import { textOf } from '../../src/definition/error-text.ts'
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
  'an Error with a cause that is its own cause': () => {
    const inner = new Error('inner')
    const error = new Error('said', { cause: inner })
    inner.cause = error
    return error
  },
  'an AggregateError of itself, many times': () => {
    const error = new AggregateError([], 'said')
    error.errors = Array.from({ length: 100 }, () => error)
    return error
  },
  'an Error with a message of 1 MB': () => new Error('\u001b'.repeat(2 ** 20)),
}

export type Fail = () => never

/** Throws a value of `VALUES`, or rejects with it. */
export function failing(make: () => unknown, how: 'throws' | 'rejects'): Fail {
  return (() => {
    const value = make()
    if (how === 'throws') throw value
    return Promise.reject(value)
  }) as Fail
}

/** What ended in no handler while a test ran: it would end the process. */
export function escapedErrors(): unknown[] {
  const escaped: unknown[] = []
  const note = (error: unknown): void => {
    escaped.push(textOf(error))
  }
  afterEach(() => {
    vi.restoreAllMocks()
    escaped.length = 0
  })
  beforeAll(() => {
    process.on('unhandledRejection', note)
    process.on('uncaughtException', note)
  })
  afterAll(() => {
    process.off('unhandledRejection', note)
    process.off('uncaughtException', note)
  })
  return escaped
}

/**
 * Files of one thread share their globals. A listener of Hono may put its own `Request` and `Response` there, and a spy on a fake timer
 * restores that fake one: each file gets Node's.
 */
const KEPT = Symbol.for('mayfly.test.globals')
const NAMES = [
  'Request',
  'Response',
  'Date',
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
] as const

const shared = globalThis as { [KEPT]?: Map<string, PropertyDescriptor> }
shared[KEPT] ??= new Map(
  NAMES.map((name) => {
    const { enumerable = false } = Object.getOwnPropertyDescriptor(globalThis, name)!
    return [name, { value: globalThis[name], writable: true, configurable: true, enumerable }]
  }),
)
for (const [name, descriptor] of shared[KEPT]) Object.defineProperty(globalThis, name, descriptor)

export {}

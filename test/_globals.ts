/** Files of one thread share their globals, and a listener of Hono may put its own `Request` and `Response` there: each file gets Node's. */
const KEPT = Symbol.for('mayfly.test.globals')
const NAMES = ['Request', 'Response'] as const

const shared = globalThis as { [KEPT]?: Map<string, unknown> }
shared[KEPT] ??= new Map(NAMES.map((name) => [name, globalThis[name]]))
for (const [name, value] of shared[KEPT])
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false })

export {}

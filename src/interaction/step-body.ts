/**
 * Tells whether code runs inside the function of a step. Web standards have no context that follows `await`, but every engine
 * writes the functions that wait for the running code into its stack: so the function of a step is called under a name.
 */

/** A method, since minifiers keep the names of properties. */
const NAMED = {
  async mayflyStepBody<Value>(fn: () => Value | Promise<Value>): Promise<Value> {
    return await fn()
  },
}

/** Deeper than a tool nests its functions. */
const STACK_DEPTH = 200

/** Calls the function of a step. */
export const callStep = NAMED.mayflyStepBody

/**
 * Whether the code that calls this is waited for by a step. False also where an engine does not tell: in JavaScriptCore after
 * `.then()`, everywhere in the callback of a timer or an event.
 */
export function isInsideStep(): boolean {
  const limit = Error.stackTraceLimit
  // Where it cannot be set (frozen intrinsics), what the engine shows is enough.
  Reflect.set(Error, 'stackTraceLimit', STACK_DEPTH)
  const { stack } = new Error()
  Reflect.set(Error, 'stackTraceLimit', limit)
  return String(stack).includes('mayflyStepBody')
}

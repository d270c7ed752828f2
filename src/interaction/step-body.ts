/**
 * Detects whether code runs inside the function of a step. Web standards have no context that follows `await`, but every engine lists the
 * awaiting functions in the stack, so a step's function is called through a function with a known name.
 */

/** A method, since minifiers keep property names. */
const NAMED = {
  async mayflyStepBody<Value>(fn: () => Value | Promise<Value>): Promise<Value> {
    return await fn()
  },
}

/** More stack frames than a tool is likely to nest. */
const STACK_DEPTH = 200

/** Calls the function of a step, under the known name. */
export const callStep = NAMED.mayflyStepBody

/**
 * Whether a step awaits the calling code. Also false if the engine does not show it: in JavaScriptCore after `.then()`, and everywhere in
 * the callback of a timer or an event.
 */
export function isInsideStep(): boolean {
  const limit = Error.stackTraceLimit
  // If the limit cannot be set (frozen intrinsics), the engine's default applies.
  Reflect.set(Error, 'stackTraceLimit', STACK_DEPTH)
  const { stack } = new Error()
  Reflect.set(Error, 'stackTraceLimit', limit)
  return String(stack).includes('mayflyStepBody')
}

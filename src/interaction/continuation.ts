/** `_continue`: the argument of a tool call with which a model continues it, under the legacy policy `arguments`. */

/** The argument with which a model continues a call with the policy `arguments`. */
export const CONTINUE = '_continue'

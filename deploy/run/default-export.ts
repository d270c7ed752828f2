/** What a module exports as its default, in either kind of module. */
import { isObject } from '../../src/definition/is-object.ts'

/** `exports.default` of compiled CommonJS is one level deeper when an ES module imports it. */
export function defaultOf({ default: exported }: { readonly default?: unknown }): unknown {
  return isObject(exported) && exported.__esModule === true ? exported.default : exported
}

/**
 * Secrets of optional endpoints. They come from variables, which a first deployment may not have yet: without one, its endpoint refuses
 * every request, and the rest of the server works.
 */
import { printFault } from '../definition/print-error.ts'
import { jsonAnswer } from './json-answer.ts'

/**
 * Whether the option is given, but its variable is not set or empty. An option that is absent is a fault of the code.
 *
 * @throws TypeError if it is absent.
 */
export function isUnset(owner: string, option: string, options: object): boolean {
  if (!Object.hasOwn(options, option)) throw new TypeError(`${owner} needs "${option}".`)
  const value: unknown = options[option as never]
  return value === undefined || value === ''
}

/** Creates what answers instead: 503 with the reason, which the log gets once. @param variable Its usual name, as an example. */
export function createUnsetAnswer(owner: string, option: string, variable?: string): () => Response {
  const reason = `"${option}" of ${owner} is not set: set the variable that it comes from${variable === undefined ? '' : ` (as in ${variable})`} on this deployment`
  let isPrinted = false
  return () => {
    if (!isPrinted) printFault('503', reason)
    isPrinted = true
    return jsonAnswer(503, { error: `${reason}.` })
  }
}

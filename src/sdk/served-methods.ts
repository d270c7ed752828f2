/** Which methods a foreign server is sent: MCP's own, without those of tasks, and what the operator names. */
import { isObject } from '../definition/is-object.ts'
import { type GuardedNames, OPEN } from './guarded.ts'

/** MCP's other methods, which name what they are about. */
const NAMING = new Set([
  'tools/call',
  'prompts/get',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'subscriptions/listen',
  'completion/complete',
])

/** The methods that a server may be sent besides MCP's own: named by the operator, since whose data they show is not known. */
export interface OpenMethods {
  readonly methods?: readonly string[] | undefined
  readonly scopes?: GuardedNames | undefined
}

/** Whether a server may be sent a method. Those of tasks are not among MCP's own: SDK v1 shows every caller the tasks of all. */
export function isServed(method: string, { methods = [], scopes }: OpenMethods): boolean {
  if (OPEN.has(method) || NAMING.has(method) || methods.includes(method)) return true
  return scopes?.methods !== undefined && Object.hasOwn(scopes.methods, method)
}

/** @throws TypeError for anything but a list of methods. */
export function checkMethods(methods: unknown): void {
  if (methods === undefined) return
  if (!Array.isArray(methods) || methods.some((one) => typeof one !== 'string' || one === ''))
    throw new TypeError('"methods" must be a list of methods, such as ["orders/export"].')
}

/** The result of `initialize` or `server/discover` without tasks, if their methods are not served. */
export function withoutTasks(method: string, result: unknown, open: OpenMethods): unknown {
  if (method !== 'initialize' && method !== 'server/discover') return result
  const { capabilities } = (result ?? {}) as { capabilities?: unknown }
  if (!isObject(capabilities) || isServed('tasks/get', open)) return result
  const { tasks, ...others } = capabilities
  return tasks === undefined ? result : { ...(result as object), capabilities: others }
}

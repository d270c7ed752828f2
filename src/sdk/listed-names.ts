/**
 * The names of the tools and prompts of a server of another SDK, for telemetry. Only the server's own lists count, since some servers
 * answer invented names without an error.
 */
import { isObject } from '../definition/is-object.ts'

export interface ListedNames {
  has(method: string, name: unknown): boolean
  /** Learns from an answer of the server, if it is a list. */
  learnAnswer(method: string, result: unknown): void
  /** Learns from the first `McpServer` of an SDK, so that its tools have names before a client lists them. */
  learnServer(server: object): void
}

/** Maximum number of stored names. */
const MAX_NAMES = 1000

const LISTS: { readonly [method: string]: readonly [member: string, used: string] } = {
  'tools/list': ['tools', 'tools/call'],
  'prompts/list': ['prompts', 'prompts/get'],
}

export function createListedNames(): ListedNames {
  const names = new Set<string>()
  let hasLearnt = false
  const add = (method: string, name: unknown): void => {
    if (names.size < MAX_NAMES && typeof name === 'string') names.add(`${method} ${name}`)
  }
  return {
    has: (method, name) => names.has(`${method} ${name}`),
    learnAnswer(method, result) {
      const [, used] = listOf(method) ?? []
      if (used !== undefined) for (const name of namesIn(method, result)) add(used, name)
    },
    learnServer(server) {
      if (hasLearnt) return
      hasLearnt = true
      const { _registeredTools: tools, _registeredPrompts: prompts } = server as { [member: string]: unknown }
      for (const name of Object.keys(tools ?? {})) add('tools/call', name)
      for (const name of Object.keys(prompts ?? {})) add('prompts/get', name)
    },
  }
}

/** The method that lists what `used` needs a name of. */
export function listFor(used: string): string | undefined {
  return Object.keys(LISTS).find((method) => LISTS[method]![1] === used)
}

/** The names in the answer to a list. */
export function namesIn(method: string, result: unknown): readonly unknown[] {
  const [member] = listOf(method) ?? []
  const items = member !== undefined && isObject(result) ? result[member] : undefined
  return Array.isArray(items) ? items.map((item) => item?.name) : []
}

function listOf(method: string): readonly [member: string, used: string] | undefined {
  return Object.hasOwn(LISTS, method) ? LISTS[method] : undefined
}

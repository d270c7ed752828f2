/** Which servers behind a gateway a message is about. */
import type { Definition } from '../definition/compile.ts'
import type { GatewayMessage } from '../request/gateway-support.ts'
import { findResource } from '../request/resources.ts'
import { isIncluded } from './included.ts'
import { serverIn } from './tasks.ts'
import { targetOf } from './unavailable.ts'
import type { Upstream } from './upstream.ts'

/** Whether a message needs the lists of a server: what names its server, or is this one's own, must not wait for the others. */
export function concerns(
  message: GatewayMessage,
  { name: server, prefix }: Upstream,
  own: Definition,
): boolean {
  const { name, uri } = targetOf(message)
  switch (message.method) {
    case 'ping':
    case 'logging/setLevel':
      return false
    case 'tools/call':
      return typeof name === 'string' && !own.tools.has(name) && name.startsWith(prefix)
    case 'tasks/get':
    case 'tasks/update':
    case 'tasks/cancel':
      return taskServerOf(message) === server
    case 'resources/read':
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      return typeof uri !== 'string' || !isOwn(own, uri)
    case 'prompts/get':
    case 'completion/complete':
      if (typeof uri === 'string')
        return !own.resources.templates.some(({ config }) => config.uriTemplate === uri)
      return typeof name !== 'string' || (!own.prompts.declared.has(name) && name.startsWith(prefix))
    default:
      return true
  }
}

/** Whether a declared resource of this server has the URI. Callbacks may have any, and come last. */
function isOwn({ resources }: Definition, uri: string): boolean {
  return findResource({ ...resources, callbacks: undefined }, uri) !== undefined
}

/** Whether a server that has not answered could have the URI of a message. Names have its prefix, which no other server has. */
export function mightHave(upstream: Upstream, message: GatewayMessage): boolean {
  const { uri } = targetOf(message)
  if (typeof uri !== 'string') return true
  try {
    return (['resource', 'template'] as const).some((kind) => isIncluded(upstream, { kind, name: uri }))
  } catch {
    return true
  }
}

/** The name of the server in the id of a task; undefined for another message. */
export const taskServerOf = ({
  method,
  params,
}: Pick<GatewayMessage, 'method' | 'params'>): string | undefined =>
  method.startsWith('tasks/') ? serverIn(params.taskId) : undefined

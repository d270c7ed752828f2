/**
 * Whether the client of a request supports tasks.
 */
import { missingCapabilityError } from '../interaction/capabilities.ts'
import type { Listener } from '../request/extension.ts'

/** The identifier of the tasks extension. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

type Client = Pick<Listener, 'era' | 'clientCapabilities'>

/** Whether this request may be answered with a task. */
export function isDeclared({ era, clientCapabilities }: Client): boolean {
  return era === 'modern' && clientCapabilities.extensions?.[TASKS_EXTENSION] !== undefined
}

/** The client must declare the extension. @throws ProtocolError `-32021` */
export function requireDeclared(client: Client): void {
  if (!isDeclared(client)) throw missingCapabilityError({ extensions: { [TASKS_EXTENSION]: {} } })
}

/**
 * Whether the client of a request supports tasks.
 */
import { missingCapabilityError } from '../interaction/capabilities.ts'
import { TASKS_EXTENSION } from '../interaction/matrix.ts'
import type { TaskListener } from './task-support.ts'

type Client = Pick<TaskListener, 'era' | 'clientCapabilities'>

/** Whether this request may be answered with a task. */
export function isDeclared({ era, clientCapabilities }: Client): boolean {
  return era === 'modern' && clientCapabilities.extensions?.[TASKS_EXTENSION] !== undefined
}

/** The client must declare the extension. @throws ProtocolError `-32021` */
export function requireDeclared(client: Client): void {
  if (!isDeclared(client)) throw missingCapabilityError({ extensions: { [TASKS_EXTENSION]: {} } })
}

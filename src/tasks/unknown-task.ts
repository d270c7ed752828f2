/** The error for a task that its caller may not know. */
import { invalidParams, type ProtocolError } from '../definition/protocol-error.ts'

/** The same for every reason, so that nobody learns of another caller's task. */
export function unknownTask(): ProtocolError {
  return invalidParams(
    'Unknown task: the id is wrong, or its ttlMs is over: then a task is deleted, even while it waits.',
  )
}

/** `tasks/get`, `tasks/update` or `tasks/cancel`, for tasks of this server or of one behind it. */
import { invalidParams, type ProtocolError } from '../definition/protocol-error.ts'
import type { MethodResult } from './method-result.ts'
import type { Params } from './params.ts'
import type { RequestScope } from './request-server.ts'

export interface TaskMethod {
  readonly run: (scope: RequestScope, params: Params) => MethodResult | Promise<MethodResult>
  readonly caching?: undefined
}

/** The same for every reason, so that nobody learns of another caller's task. */
export function unknownTask(): ProtocolError {
  return invalidParams(
    'Unknown task: the id is wrong, or its ttlMs is over: then a task is deleted, even while it waits.',
  )
}

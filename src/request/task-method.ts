/** `tasks/get`, `tasks/update` or `tasks/cancel`, for tasks of this server or of one behind it. */
import type { MethodResult } from './method-result.ts'
import type { Params } from './params.ts'
import type { RequestScope } from './request-server.ts'

export interface TaskMethod {
  readonly run: (scope: RequestScope, params: Params) => MethodResult | Promise<MethodResult>
  readonly caching?: undefined
}

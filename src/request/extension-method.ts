/** A method that an extension adds, as the server runs it. */
import type { Era } from '../definition/context.ts'
import type { HeaderCheck } from './header-check.ts'
import type { MethodResult } from './method-result.ts'
import type { Params } from './params.ts'
import type { RequestScope } from './request-server.ts'

export interface ExtensionMethod {
  readonly run: (
    scope: RequestScope,
    params: Params,
    options: unknown,
    headers?: HeaderCheck,
  ) => MethodResult | Promise<MethodResult>
  readonly eras: readonly Era[]
  readonly scopes?: readonly string[] | undefined
  readonly caching?: 'list' | 'private' | undefined
  /** Holds the response open in place of `run`: a `Hold` of the protocol, which this layer does not know. */
  readonly hold?: unknown
}

/**
 * What the operator configured for every request.
 */
import type { Definition } from '../definition/compile.ts'
import type { Bus } from '../events/bus.ts'
import type { RequestServer } from './request-server.ts'
import type { CacheHints } from './result.ts'

/** Reports a fault of the server, with its stack, to the operator: never to a client. */
export type ReportError = (error: unknown, facts: { readonly [name: string]: unknown }) => void

export interface RequestOptions {
  readonly definition: Definition
  readonly bus: Bus | undefined
  /** Items a page of every list. */
  readonly pageSize: number
  readonly setup: ((server: RequestServer, request: Request) => unknown) | undefined
  /** Cache hints for lists and discovery; a scope left out is decided per result. */
  readonly cache: { readonly ttlMs: number; readonly scope: CacheHints['scope'] | undefined }
  readonly reportError: ReportError
}

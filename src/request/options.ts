/**
 * What the operator configured for every request.
 */

import type { LegacyPolicy } from '../definition/ask.ts'
import type { Definition } from '../definition/compile.ts'
import type { Bus, ChangeEvent } from '../events/bus.ts'
import type { Rendezvous } from '../interaction/rendezvous.ts'
import type { Seal } from '../interaction/seal.ts'
import type { SingleUseStore } from '../interaction/state.ts'
import type { RequestServer } from './request-server.ts'
import type { CacheHints } from './result.ts'

/** Reports a fault of the server, with its stack, to the operator: never to a client. */
export type ReportError = (error: unknown, facts: { readonly [name: string]: unknown }) => void

export interface RequestOptions {
  readonly definition: Definition
  readonly bus: Bus | undefined
  /** Reports a change to the listeners: those on this bus, and the connections of this process. */
  readonly publish: (event: ChangeEvent) => Promise<void>
  /** Items a page of every list. */
  readonly pageSize: number
  readonly setup: ((server: RequestServer, request: Request) => unknown) | undefined
  /** Cache hints for lists and discovery; a scope left out is decided per result. */
  readonly cache: { readonly ttlMs: number; readonly scope: CacheHints['scope'] | undefined }
  readonly reportError: ReportError
  readonly asking: AskingOptions
}

/** How calls ask the client. */
export interface AskingOptions {
  /** The seal of this deployment, by the platform's environment; undefined where it has no secret. */
  readonly sealFor: (env: unknown) => Seal | undefined
  /** The rendezvous, by the platform's environment. */
  readonly rendezvousFor: (env: unknown) => Rendezvous | undefined
  /** Milliseconds a sealed state is good for. */
  readonly stateTtlMs: number
  readonly singleUse: SingleUseStore | undefined
  readonly legacyPolicy: LegacyPolicy
  /** Milliseconds to wait for an answer at the rendezvous. */
  readonly askTimeoutMs: number
}

/**
 * The context of one request, as tools, resources, prompts and `setup` see it.
 */
import type {
  Availability,
  ClientCapabilities,
  Feature,
  LogLevel,
  McpContext,
  Progress,
  RequestContext,
} from '../definition/context.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { availability, type Conditions } from '../interaction/matrix.ts'
import { Notifier, type SendNotification } from './notifier.ts'

/** What is known of a request from the start: the plain members of its context. */
export type ContextFacts = Pick<
  RequestContext,
  | 'requestId'
  | 'sessionId'
  | 'era'
  | 'protocolVersion'
  | 'clientInfo'
  | 'clientCapabilities'
  | 'deadline'
  | 'auth'
  | 'env'
  | 'request'
  | 'waitUntil'
>

/** How the context reaches the wire. */
export interface ContextWire {
  readonly rpcId: string | number
  readonly meta: Record<string, unknown> | undefined
  readonly progressToken: string | number | undefined
  readonly logLevel: LogLevel | undefined
  readonly hasBus: boolean
  readonly canStream: boolean
  readonly send: SendNotification
}

export interface Context extends ContextFacts {}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor assigns every fact.
export class Context implements RequestContext {
  readonly #wire: ContextWire
  #controller: AbortController | undefined
  #notifier: Notifier | undefined
  #mcp: McpContext | undefined

  constructor(facts: ContextFacts, wire: ContextWire) {
    Object.assign(this, facts)
    this.#wire = wire
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    return this.#controller.signal
  }

  get mcp(): McpContext {
    const { sessionId, auth } = this
    const { rpcId, meta } = this.#wire
    this.#mcp ??= {
      extra: {
        signal: this.signal,
        requestId: rpcId,
        ...(sessionId !== undefined && { sessionId }),
        ...(auth !== undefined && { authInfo: auth }),
        ...(meta !== undefined && { _meta: meta }),
      },
    }
    return this.#mcp
  }

  can(feature: Feature): Availability {
    return availability(feature, this.conditions)
  }

  requireClientCapabilities(required: ClientCapabilities): void {
    const missing = missingCapabilities(required, this.clientCapabilities)
    if (Object.keys(missing).length === 0) return
    throw new ProtocolError(
      ErrorCode.missingClientCapability,
      `The client did not declare what this request needs: ${Object.keys(missing).join(', ')}.`,
      { requiredCapabilities: missing },
      { status: 400 },
    )
  }

  reportProgress(progress: Progress): void {
    this.#notify.reportProgress(progress)
  }

  log(level: LogLevel, data: unknown, logger?: string): void {
    this.#notify.log(level, data, logger)
  }

  /** What the degradation matrix is asked with. */
  get conditions(): Conditions {
    return { ...this.#wire, era: this.era, clientCapabilities: this.clientCapabilities }
  }

  /** Aborts `signal`. A signal that nobody has looked at yet is aborted when somebody does. */
  abort(reason: unknown): void {
    this.#controller ??= new AbortController()
    this.#controller.abort(reason)
  }

  /** Sends the notifications held back; later ones go nowhere. */
  close(): void {
    this.#notifier?.close()
  }

  get #notify(): Notifier {
    const { send, progressToken, logLevel } = this.#wire
    this.#notifier ??= new Notifier(send, progressToken, logLevel)
    return this.#notifier
  }
}

function missingCapabilities(
  required: ClientCapabilities,
  declared: ClientCapabilities,
): Record<string, object> {
  const missing: Record<string, object> = {}
  for (const [name, value] of Object.entries(required) as [keyof ClientCapabilities, object | undefined][]) {
    if (value === undefined) continue
    const has = declared[name] as Record<string, unknown> | undefined
    const parts = Object.entries(value).filter(([part]) => has?.[part] === undefined)
    if (has === undefined) missing[name] = value
    else if (parts.length > 0) missing[name] = Object.fromEntries(parts)
  }
  return missing
}

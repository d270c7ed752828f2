/**
 * The context of one request, as tools, resources, prompts and `setup` see it.
 */
import type {
  AuthInfo,
  Availability,
  ClientCapabilities,
  Env,
  Era,
  Feature,
  Implementation,
  LogLevel,
  McpContext,
  Progress,
  RequestContext,
} from '../definition/context.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { availability, type Conditions } from '../interaction/matrix.ts'
import { Notifier, type SendNotification } from './notifier.ts'

/** Everything about one request that its context is made from. */
export interface ContextSource {
  readonly requestId: string
  readonly rpcId: string | number
  readonly sessionId: string | undefined
  readonly era: Era
  readonly protocolVersion: string
  readonly clientInfo: Implementation | undefined
  readonly clientCapabilities: ClientCapabilities
  readonly meta: Record<string, unknown> | undefined
  readonly logLevel: LogLevel | undefined
  readonly progressToken: string | number | undefined
  readonly deadline: number | undefined
  readonly auth: AuthInfo | undefined
  readonly env: unknown
  readonly request: Request | undefined
  readonly hasBus: boolean
  readonly canStream: boolean
  readonly waitUntil: (promise: Promise<unknown>) => void
  readonly send: SendNotification
}

const NO_ENV: Env = Object.freeze({})

export class Context implements RequestContext {
  readonly #source: ContextSource
  #controller: AbortController | undefined
  #notifier: Notifier | undefined
  #mcp: McpContext | undefined

  constructor(source: ContextSource) {
    this.#source = source
  }

  get requestId(): string {
    return this.#source.requestId
  }
  get era(): Era {
    return this.#source.era
  }
  get protocolVersion(): string {
    return this.#source.protocolVersion
  }
  get clientCapabilities(): ClientCapabilities {
    return this.#source.clientCapabilities
  }
  get env(): Env {
    return (this.#source.env ?? NO_ENV) as Env
  }
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    return this.#controller.signal
  }
  get sessionId(): string | undefined {
    return this.#source.sessionId
  }
  get clientInfo(): Implementation | undefined {
    return this.#source.clientInfo
  }
  get deadline(): number | undefined {
    return this.#source.deadline
  }
  get auth(): AuthInfo | undefined {
    return this.#source.auth
  }
  get request(): Request | undefined {
    return this.#source.request
  }

  get mcp(): McpContext {
    const { rpcId, sessionId, auth, meta } = this.#source
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

  waitUntil(promise: Promise<unknown>): void {
    this.#source.waitUntil(promise)
  }

  can(feature: Feature): Availability {
    return availability(feature, this.conditions)
  }

  requireClientCapabilities(required: ClientCapabilities): void {
    const missing = missingCapabilities(required, this.#source.clientCapabilities)
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
    const { era, hasBus, canStream, clientCapabilities } = this.#source
    return { era, hasBus, canStream, clientCapabilities }
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
    const { send, progressToken, logLevel } = this.#source
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
